//! `--gdb`: the program under a debugger, by gdb's remote protocol.
//!
//! Breakpoints and watchpoints are lists that are looked at after each instruction, so that neither the
//! program's code nor its caches differ from a run without gdb. Going backwards is returning to a snapshot
//! and running forward again ([`history`]).

mod access;
mod arch;
mod files;
mod history;
mod monitor;
mod points;
mod resume;
mod saved;
mod target;
mod watch;

use crate::sanitize::Sanitize;
use gdbstub::common::Signal;
use gdbstub::conn::{Connection, ConnectionExt};
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{DisconnectReason, GdbStubBuilder};
use rvvsim::elf::Image;
use rvvsim::{Machine, Outcome};
use std::convert::Infallible;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use target::{Debuggee, Reason};
use watch::Watch;

/// Where gdb is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A TCP port of this host, which other hosts cannot reach; 0 is any that is free.
    Port(u16),
    /// A socket in the file system.
    Socket(PathBuf),
}

/// A port, or a path: one that has a slash in it.
pub fn parse_place(text: &str) -> Result<Place, String> {
    if text.contains('/') {
        return Ok(Place::Socket(text.into()));
    }
    text.parse().map(Place::Port).map_err(|_| {
        "a TCP port (1234; 0 for any that is free), or the path of a socket with a slash in it (./gdb)"
            .to_owned()
    })
}

/// A program, and how it is looked at.
pub struct Subject<'a> {
    pub image: &'a Image<'a>,
    pub name: &'a str,
    pub console: &'a dyn Fn() -> Box<dyn Write + Send>,
    /// `--sanitize`.
    pub sanitize: Option<&'a Sanitize>,
}

/// Waits for gdb and lets it drive the program; how that ended, and at how many places `--sanitize` found
/// something. When gdb goes without an end, the program goes on alone.
///
/// # Errors
/// In words, when nobody can connect, or a report cannot be written.
pub fn run(machine: &mut Machine, place: &Place, subject: &Subject<'_>) -> Result<(Outcome, usize), String> {
    let client = wait_for_client(place)?;
    // A vector register in hexadecimal has to fit a packet.
    let packet = (4 * machine.hart().vector().vlenb).max(1 << 15);
    let watch = subject.sanitize.map(|options| Watch::new(machine, subject.image, options));
    let mut debuggee = Debuggee::new(machine, subject.image, subject.console, watch, packet);
    let stub = GdbStubBuilder::new(client).packet_buffer_size(packet).build();
    let stub = stub.map_err(|e| format!("gdb: {e}"))?;
    let end = stub.run_blocking::<Loop<'_>>(&mut debuggee);
    debuggee.let_go();
    let killed = Outcome::Signaled { signal: SIGKILL, trap: None };
    let outcome = match end {
        Ok(DisconnectReason::Kill) => killed,
        Ok(DisconnectReason::TargetExited(_) | DisconnectReason::TargetTerminated(_)) => {
            debuggee.ended.take().unwrap_or(killed)
        }
        // Detached, or the connection was lost or made no sense: the program is not to blame.
        Ok(DisconnectReason::Disconnect) => debuggee.run_alone(),
        Err(e) => {
            super::say::note(&format!("rvvsim: gdb: {e}; the program goes on without it\n"));
            debuggee.run_alone()
        }
    };
    let found = match (&debuggee.watch, subject.sanitize) {
        (Some(watch), Some(options)) => {
            // Each was said where it was met.
            options.report(debuggee.machine, &watch.sanitizer, &watch.lines, subject.name, false)?
        }
        _ => 0,
    };
    Ok((outcome, found))
}

const SIGKILL: i32 = 9;

fn wait_for_client(place: &Place) -> Result<Client, String> {
    match place {
        Place::Port(port) => {
            let cannot = |e: io::Error| format!("--gdb {port}: {e}; 0 takes a port that is free");
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).map_err(cannot)?;
            let port = listener.local_addr().map_err(cannot)?.port();
            super::say::note(&format!("rvvsim: waiting for gdb: target remote :{port}\n"));
            let (stream, _) = listener.accept().map_err(cannot)?;
            Ok(Box::new(stream))
        }
        Place::Socket(path) => {
            let cannot = |e: io::Error| format!("--gdb {}: {e}; the path must be a new one", path.display());
            let listener = UnixListener::bind(path).map_err(cannot)?;
            super::say::note(&format!("rvvsim: waiting for gdb: target remote {}\n", path.display()));
            let accepted = listener.accept();
            remove(path);
            Ok(Box::new(accepted.map_err(cannot)?.0))
        }
    }
}

/// Nobody else is to connect; if the name cannot be removed, somebody finds nobody behind it.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

/// gdb's end of the line.
type Client = Box<dyn ConnectionExt<Error = io::Error>>;

/// Has gdb print something while it waits for the program to stop.
fn print(client: &mut Client, text: &str) -> io::Result<()> {
    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let sum = digits.bytes().fold(b'O', u8::wrapping_add);
    client.write_all(format!("$O{digits}#{sum:02x}").as_bytes())?;
    client.flush()
}

struct Loop<'m>(std::marker::PhantomData<&'m ()>);

impl<'m> BlockingEventLoop for Loop<'m> {
    type Target = Debuggee<'m>;
    type Connection = Client;
    type StopReason = Reason;

    fn wait_for_stop_reason(
        target: &mut Debuggee<'m>,
        conn: &mut Client,
    ) -> Result<Event<Reason>, WaitForStopReasonError<Infallible, io::Error>> {
        loop {
            if conn.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                let byte = conn.read().map_err(WaitForStopReasonError::Connection)?;
                return Ok(Event::IncomingData(byte));
            }
            if let Some(reason) = target.run_for_a_moment() {
                if let Some(text) = target.message.take() {
                    print(conn, &text).map_err(WaitForStopReasonError::Connection)?;
                }
                return Ok(Event::TargetStopped(reason));
            }
        }
    }

    fn on_interrupt(target: &mut Debuggee<'m>) -> Result<Option<Reason>, Infallible> {
        target.stop();
        Ok(Some(Reason::SignalWithThread { tid: target.tid(), signal: Signal::SIGINT }))
    }
}
