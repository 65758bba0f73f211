//! A measurement that somebody has ordered, in a process of its own: so its CPU time is that process's,
//! whatever else a worker does.

use crate::programs::store::orders::Order;
use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a process may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(20);

/// Measures; what came of it, as JSON. It ends early when it is `enough`.
///
/// # Errors
/// Why nothing came of it.
pub fn measure(order: &Order, enough: &dyn Fn() -> bool) -> Result<String, String> {
    let fail = |e: std::io::Error| format!("a measurement cannot be begun: {e}");
    let folder = tempfile::tempdir().map_err(fail)?;
    let [asked, result, log] = ["order.json", "result.json", "log"].map(|name| folder.path().join(name));
    let text = serde_json::to_string(order).map_err(|e| e.to_string())?;
    std::fs::write(&asked, text).map_err(fail)?;
    let mut command = Command::new(std::env::current_exe().map_err(fail)?);
    command.arg("yardstick").arg("--order").arg(&asked).arg("--folder").arg(folder.path());
    command.arg("--json").arg(&result);
    // It ends when its input does: if this process is killed, it does not go on for nobody.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(File::create(&log).map_err(fail)?);
    let mut child = command.spawn().map_err(fail)?;
    let done = wait(&mut child, enough).map_err(fail)?;
    if done {
        return std::fs::read_to_string(&result).map_err(|e| format!("a measurement has no result: {e}"));
    }
    let said = std::fs::read(&log).unwrap_or_default();
    let said = crate::programs::testbed::compiler::printable(&said);
    Err(said.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("it ended without a word").to_string())
}

/// Waits for a process; whether all is well.
fn wait(child: &mut Child, enough: &dyn Fn() -> bool) -> std::io::Result<bool> {
    let mut patience = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if patience.is_none() && enough() {
            drop(child.stdin.take());
            patience = Some(Instant::now() + GRACE);
        }
        if patience.is_some_and(|p| Instant::now() > p) {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
