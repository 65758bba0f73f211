//! The same guests on this emulator, QEMU and Spike, side by side: CPU time, alternating, medians, ratios.

use crate::families::cpu_time;
use crate::{Program, looped};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rvv_cli::{err, errln};
use rvv_isa::Op;
use rvvsim::elf::Image;
use rvvsim::linux::ProcessOptions;
use rvvsim::{Config, Machine, Outcome};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to compare with, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `qemu-riscv64`.
    pub qemu: Option<PathBuf>,
    /// `spike`.
    pub spike: Option<PathBuf>,
    /// `rvlinux` of libriscv, whose VLEN is that of its build.
    pub libriscv: Option<PathBuf>,
    /// Only guests whose names contain this.
    pub only: Option<String>,
    /// Where to write a chart.
    pub svg: Option<PathBuf>,
    /// A document whose tables are rewritten.
    pub markdown: Option<PathBuf>,
    /// How often each is run.
    pub rounds: usize,
    /// Count the host's instructions, too.
    pub counts: bool,
}

/// The vector guests, as `benches/guests` has them: their name, and what the table calls them.
pub const VECTOR: [(&str, &str); 9] = [
    ("memcpy_e8m8", "e8m8 copy"),
    ("saxpy_e32m4", "e32m4 saxpy (f32 multiply-add)"),
    ("integer_e32m1", "e32m1 add, multiply, xor, shift, maximum"),
    ("masked_e32m2", "e32m2 compare, masked add, merge, masked store"),
    ("reduce_e32m4", "e32m4 widening sum"),
    ("gather_e32m2", "e32m2 indexed load, gather"),
    ("divide_e32m4", "e32m4 f32 divide, square root"),
    ("matrix_e32m4", "e32m4 matrix product"),
    ("strings_e8m4", "e8m4 strlen (fault-only-first), memchr"),
];
/// Those of vector cryptography.
pub const CRYPTO: [(&str, &str); 2] =
    [("crypto_aes", "AES-256 in counter mode (Zvkned)"), ("crypto_sha256", "SHA-256 (Zvknha)")];
/// The scalar ones.
pub const SCALAR: [(&str, &str); 5] = [
    ("scalar_xorshift", "xorshift, modulo"),
    ("scalar_heapsort", "heap sort"),
    ("scalar_mixed", "lists, matrix, state machine, CRC"),
    ("scalar_records", "records, strings"),
    ("scalar_program", "a program: compressor, expander"),
];

/// Set for `benches guest` when it is to say how many instructions it retired.
const COUNT: &str = "RVVSIM_BENCHES_COUNT";

/// Where a guest is: `linux` or `htif`.
#[must_use]
pub fn guest(name: &str, environment: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guests").join(format!("{name}.{environment}"))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    Us,
    Qemu,
    Spike,
    Libriscv,
}

impl Who {
    fn name(self) -> &'static str {
        match self {
            Who::Us => "rvvsim",
            Who::Qemu => "QEMU",
            Who::Spike => "Spike",
            Who::Libriscv => "libriscv",
        }
    }
}

/// As many there are.
const ALL: usize = 4;
/// Those that this emulator is compared with.
const OTHERS: [Who; ALL - 1] = [Who::Qemu, Who::Spike, Who::Libriscv];

/// Runs a Linux guest in this process; what `benches guest FILE VLEN` does.
///
/// # Errors
/// In words.
pub fn run_guest(file: &Path, vlen: u32) -> Result<i32, String> {
    let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let image = Image::parse(&bytes).map_err(|e| e.to_string())?;
    let config = Config { vlen, ..Config::default() };
    let mut machine = Machine::user(config, &image, ProcessOptions::default()).map_err(|e| e.to_string())?;
    let outcome = machine.run(None);
    if std::env::var_os(COUNT).is_some() {
        errln!("retired : {}", machine.hart().instructions_retired());
    }
    // The process ends, and the kernel takes back all of it at once.
    std::mem::forget(machine);
    match outcome {
        Outcome::Exited(code) => Ok(code),
        other => Err(format!("{other:?}")),
    }
}

impl Options {
    fn command(&self, who: Who, name: &str, vlen: u32) -> Option<Command> {
        let mut command;
        match who {
            Who::Us => {
                command = Command::new(std::env::current_exe().ok()?);
                command.arg("guest").arg(guest(name, "linux")).arg(vlen.to_string());
            }
            Who::Qemu => {
                command = Command::new(self.qemu.as_ref()?);
                let cpu = format!("rv64,v=true,zvkned=true,zvknha=true,vlen={vlen}");
                command.arg("-cpu").arg(cpu).arg(guest(name, "linux"));
            }
            Who::Spike => {
                command = Command::new(self.spike.as_ref()?);
                let isa = format!("--isa=rv64gcv_zicclsm_zvkned_zvknha_zvl{vlen}b");
                command.arg(isa).arg(guest(name, "htif"));
            }
            Who::Libriscv => {
                command = Command::new(self.libriscv.as_ref()?);
                command.arg(guest(name, "linux"));
            }
        }
        Some(command)
    }

    /// Runs a guest once: CPU seconds and output.
    fn once(&self, who: Who, name: &str, vlen: u32) -> Option<(f64, String)> {
        let mut child = self
            .command(who, name, vlen)?
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        // It has ended but is still there: the kernel tells what it had of a core, to the nanosecond.
        let pid = Pid::from_raw(child.id().cast_signed())?;
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).ok()?;
        let schedstat = std::fs::read_to_string(format!("/proc/{}/schedstat", child.id())).ok()?;
        let nanoseconds: f64 = schedstat.split(' ').next()?.parse().ok()?;
        let mut output = String::new();
        std::io::Read::read_to_string(child.stdout.as_mut()?, &mut output).ok()?;
        child.wait().ok()?.success().then_some((nanoseconds / 1e9, output))
    }

    fn peers(&self) -> Vec<Who> {
        let mut all = vec![Who::Us];
        all.extend(self.qemu.as_ref().map(|_| Who::Qemu));
        all.extend(self.spike.as_ref().map(|_| Who::Spike));
        all.extend(self.libriscv.as_ref().map(|_| Who::Libriscv));
        all
    }

    /// The medians of all emulators for a guest, in turn so that what else the machine does is shared.
    fn medians(&self, name: &str, vlen: u32, rounds: usize) -> [Option<f64>; ALL] {
        let mut times: [Vec<f64>; ALL] = Default::default();
        let mut outputs = Vec::new();
        for _ in 0..rounds.max(1) {
            for who in self.peers() {
                if let Some((time, output)) = self.once(who, name, vlen) {
                    times[who as usize].push(time);
                    outputs.push((who, output));
                } else {
                    errln!("{who:?} did not run {name} at VLEN {vlen}");
                }
            }
        }
        for (who, output) in &outputs {
            if *output != outputs[0].1 {
                errln!(
                    "{name} at VLEN {vlen}: {who:?} printed {output:?}, {:?} {:?}",
                    outputs[0].0,
                    outputs[0].1
                );
            }
        }
        times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times.get(times.len() / 2).copied()
        })
    }
}

/// One row of the comparison.
struct Row {
    name: String,
    vlen: u32,
    times: [Option<f64>; ALL],
}

impl Row {
    /// How many times as long another one takes.
    fn ratio(&self, who: Who) -> Option<f64> {
        Some(self.times[who as usize]? / self.times[Who::Us as usize]?)
    }
}

/// The root of the product, by Newton's method. (`ln` and `exp` would have this program load the mathematical
/// library, and so `benches guest`, which represents `rvvsim`, take longer to start than that does.)
fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let ratios: Vec<f64> = ratios.collect();
    let n = i32::try_from(ratios.len()).ok().filter(|n| *n > 0)?;
    let product: f64 = ratios.iter().product();
    let mut mean = ratios.iter().sum::<f64>() / f64::from(n);
    for _ in 0..100 {
        mean += (product / mean.powi(n - 1) - mean) / f64::from(n);
    }
    Some(mean)
}

/// The logarithm to base 2, good enough for a chart: the exponent, and halves of what is left of it.
fn log2(mut x: f64) -> f64 {
    let mut log = 0.0;
    while x >= 2.0 {
        (x, log) = (x / 2.0, log + 1.0);
    }
    while x < 1.0 {
        (x, log) = (x * 2.0, log - 1.0);
    }
    let mut half = 0.5;
    for _ in 0..20 {
        x *= x;
        if x >= 2.0 {
            (x, log) = (x / 2.0, log + half);
        }
        half /= 2.0;
    }
    log
}

fn number(value: Option<f64>, unit: &str) -> String {
    value.map_or("–".to_owned(), |v| if v < 10.0 { format!("{v:.2}{unit}") } else { format!("{v:.0}{unit}") })
}

/// The cells of a row: our time, and of each of the others, if there are any, its time and the ratio.
fn cells(options: &Options, own: String, of: impl Fn(Who) -> [String; 2]) -> String {
    let mut text = format!(" {own} |");
    for who in OTHERS {
        // QEMU and Spike always have their columns.
        if who != Who::Libriscv || options.libriscv.is_some() {
            let [time, ratio] = of(who);
            let _ = write!(text, " {time} | {ratio} |");
        }
    }
    text
}

impl Row {
    fn line(&self, options: &Options) -> String {
        let ms = |who: Who| number(self.times[who as usize].map(|t| t * 1e3), "");
        let cells = cells(options, ms(Who::Us), |who| [ms(who), number(self.ratio(who), "×")]);
        format!("| {} | {} |{cells}\n", self.name, self.vlen)
    }
}

/// Compares, and says so as it goes; the tables, in Markdown.
#[must_use]
pub fn compare(options: &Options) -> String {
    let mut rows: Vec<Row> = Vec::new();
    let head = cells(options, format!("{}, ms", Who::Us.name()), |who| {
        [format!("{}, ms", who.name()), String::new()]
    });
    let line = cells(options, "---:".into(), |_| ["---:".into(), "---:".into()]);
    let mut text = format!("| guest | VLEN |{head}\n| --- | ---: |{line}\n");
    let groups = [
        ("scalar", &SCALAR[..], 128),
        ("vector", &VECTOR[..], 128),
        ("vector", &VECTOR[..], 1024),
        ("cryptography", &CRYPTO[..], 128),
    ];
    let chosen = |name: &str| options.only.as_ref().is_none_or(|part| name.contains(part.as_str()));
    for (group, guests, vlen) in groups {
        let first = rows.len();
        for (name, title) in guests.iter().filter(|(name, _)| chosen(name)) {
            let times = options.medians(name, vlen, options.rounds);
            let row = Row { name: (*title).to_owned(), vlen, times };
            let line = row.line(options);
            err!("{line}");
            text += &line;
            rows.push(row);
        }
        let mean = |who| geometric_mean(rows[first..].iter().filter_map(|row| row.ratio(who)));
        if rows.len() > first {
            let cells = cells(options, String::new(), |who| {
                [String::new(), format!("**{}**", number(mean(who), "×"))]
            });
            let _ = writeln!(text, "| **{group}, geometric mean** | {vlen} |{cells}");
        }
    }
    if options.only.is_some() {
        return text;
    }
    let empty = options.medians("empty", 128, 4 * options.rounds);
    text += &Row { name: "an empty program, start to end".to_owned(), vlen: 128, times: empty }.line(options);
    let _ = writeln!(
        text,
        "\nPrograms of 2 000 instructions, in process: {:.0} a second on one core with a new machine for \
         each, {:.0} with \
         one that is reset.\n",
        small_programs(false),
        small_programs(true)
    );
    text += &by_vlen(options);
    if options.counts {
        text += &counts();
    }
    if let Some(path) = &options.svg
        && let Err(e) = std::fs::write(path, chart(&rows))
    {
        errln!("{}: {e}", path.display());
    }
    text
}

/// A program of two thousand instructions.
fn small_program() -> Program {
    looped(
        "small",
        250,
        6,
        |a| a.li(10, 88_172_645_463_325_252),
        |a| {
            for (op, by) in [(Op::Slli, 13), (Op::Srli, 7), (Op::Slli, 17)] {
                a.rri(op, 5, 10, by);
                a.rrr(Op::Xor, 10, 10, 5);
            }
        },
    )
}

/// Small programs a second, each with a new machine, or all with one that is reset.
fn small_programs(reset: bool) -> f64 {
    let program = small_program();
    let image = || Image::parse(&program.elf).expect("our own ELF");
    let new = || Machine::bare(Config { mem: 4 << 20, ..Config::default() }, &image()).expect("it fits");
    let mut kept = new();
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = cpu_time();
        for _ in 0..200 {
            if reset {
                kept.reset(&image()).expect("it fits");
                assert_eq!(kept.run(None), Outcome::Exited(0));
            } else {
                assert_eq!(new().run(None), Outcome::Exited(0));
            }
        }
        best = best.min((cpu_time() - start).as_secs_f64() / 200.0);
    }
    1.0 / best
}

/// How time goes with VLEN: per element on unit-stride kernels, and of scalar code.
fn by_vlen(options: &Options) -> String {
    const VLENS: [u32; 6] = [128, 256, 512, 1024, 2048, 4096];
    let us = Options { rounds: options.rounds, ..Options::default() };
    let mut text = "| guest, ms by VLEN |".to_owned();
    for vlen in VLENS {
        let _ = write!(text, " {vlen} |");
    }
    text += "\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (name, title) in &VECTOR[..3] {
        let _ = write!(text, "| {title} |");
        for vlen in VLENS {
            let [time, ..] = us.medians(name, vlen, options.rounds);
            let _ = write!(text, " {} |", number(time.map(|t| t * 1e3), ""));
        }
        text += "\n";
    }
    text += "\n| scalar guest, ms | VLEN 128 | VLEN 65536 |\n| --- | ---: | ---: |\n";
    for (name, title) in SCALAR {
        let [small, large] =
            [128, 65536].map(|vlen| number(us.medians(name, vlen, options.rounds)[0].map(|t| t * 1e3), ""));
        let _ = writeln!(text, "| {title} | {small} | {large} |");
    }
    text
}

/// Host instructions for each guest instruction, as callgrind counts them: the same on a busy machine as on
/// an idle one. (It knows AVX2, but not AVX-512.)
fn counts() -> String {
    let mut text = "\n| guest | VLEN | guest instructions | host instructions for each |\n| --- | ---: | \
                    ---: | ---: |\n"
        .to_owned();
    let rows = VECTOR.iter().flat_map(|guest| [(guest, 128), (guest, 1024)]);
    for ((name, title), vlen) in SCALAR.iter().map(|guest| (guest, 128)).chain(rows) {
        let Some((guest, host)) = count(&guest(name, "linux"), vlen) else {
            return "\nNothing was counted: that takes valgrind.\n".to_owned();
        };
        let line = format!("| {title} | {vlen} | {guest} | {:.1} |\n", host as f64 / guest as f64);
        err!("{line}");
        text += &line;
    }
    text
}

/// The instructions that a guest retires, and the host's instructions under callgrind.
fn count(file: &Path, vlen: u32) -> Option<(u64, u64)> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args([OsStr::new("guest"), file.as_os_str(), OsStr::new(&vlen.to_string())])
        .env(COUNT, "1")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let after = |word: &str| text.split(word).nth(1)?.split_whitespace().next()?.parse().ok();
    Some((after("retired : ")?, after("Collected : ")?))
}

/// How many times as fast as the others, as bars on a logarithmic scale from 1/4 to 64. Rectangles and text:
/// a plotting crate would be more to build than to save.
fn chart(rows: &[Row]) -> String {
    const LEFT: f64 = 330.0;
    const WIDTH: f64 = 480.0;
    const LINE: f64 = 30.0;
    let x = |ratio: f64| LEFT + (log2(ratio.clamp(0.25, 64.0)) + 2.0) / 8.0 * WIDTH;
    let height = LINE * (rows.len() as f64 + 2.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" \
         font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        LEFT + WIDTH + 40.0
    );
    for power in -2..=6 {
        let at = x(2_f64.powi(power));
        let (label, colour) = (
            if power < 0 { format!("1/{}", 1 << -power) } else { format!("{}×", 1 << power) },
            if power == 0 { "black" } else { "#ddd" },
        );
        let _ = writeln!(
            svg,
            "<line x1=\"{at}\" x2=\"{at}\" y1=\"24\" y2=\"{}\" stroke=\"{colour}\"/><text x=\"{at}\" \
             y=\"18\" \
             text-anchor=\"middle\">{label}</text>",
            height - LINE
        );
    }
    for (i, row) in rows.iter().enumerate() {
        let y = LINE * (i as f64 + 1.0);
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} ({})</text>",
            LEFT - 8.0,
            y + 16.0,
            row.name,
            row.vlen
        );
        for (who, colour, down) in [(Who::Qemu, "#1f77b4", 4.0), (Who::Spike, "#ff7f0e", 13.0)] {
            if let Some(ratio) = row.ratio(who) {
                let (from, to) = (x(1.0).min(x(ratio)), x(1.0).max(x(ratio)));
                let _ = writeln!(
                    svg,
                    "<rect x=\"{from:.1}\" y=\"{}\" width=\"{:.1}\" height=\"8\" fill=\"{colour}\"/>",
                    y + down,
                    to - from
                );
            }
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{}\"><tspan fill=\"#1f77b4\">■ as fast as QEMU</tspan> <tspan \
         fill=\"#ff7f0e\">■ as fast as \
         Spike</tspan> (VLEN in parentheses)</text>\n</svg>",
        height - 8.0
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_run_and_print_their_line() {
        let options = Options::default();
        for (name, _) in VECTOR.iter().chain(&SCALAR).chain(&CRYPTO) {
            assert!(guest(name, "linux").exists() && guest(name, "htif").exists(), "{name}");
        }
        assert_eq!(run_guest(&guest("empty", "linux"), 128), Ok(0));
        assert_eq!(options.peers(), [Who::Us]);
    }

    #[test]
    fn means_and_logarithms_are_near_enough() {
        let mean = geometric_mean([0.5, 3.0, 18.0, 7.0].into_iter()).unwrap();
        assert!((mean.powi(4) / (0.5 * 3.0 * 18.0 * 7.0) - 1.0).abs() < 1e-9, "{mean}");
        assert_eq!(geometric_mean(std::iter::empty()), None);
        for x in [0.25, 0.3, 1.0, 1.5, 2.0, 63.9] {
            assert!((log2(x) - f64::log2(x)).abs() < 1e-5, "{x}");
        }
    }

    #[test]
    fn a_small_program_runs_on_a_new_machine_and_on_an_old_one() {
        assert!(small_programs(false) > 0.0 && small_programs(true) > 0.0);
    }

    #[test]
    fn a_small_program_is_small() {
        assert!((1900..2100).contains(&small_program().instructions));
    }
}
