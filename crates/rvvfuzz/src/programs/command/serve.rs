//! `rvvfuzz serve`.

use super::run::stop_flag;
use super::{Done, exit};
use crate::programs::serve::Server;
use crate::programs::store::Place;
use clap::Args;
use rvv_cli::outln;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show a campaign to people: a page that stays up to date, while workers work or after.
///
/// Bugs come first, grouped, with filters; each has an address, the reduced program, what was expected, and
/// texts for GCC's Bugzilla and LLVM's GitHub. Nothing is fetched from anywhere else.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz serve                                                    campaign.db at http://127.0.0.1:8417
  rvvfuzz serve --store postgres://fuzz@db/rvv
  rvvfuzz serve --store postgres://fuzz@db/rvv --listen 0.0.0.0:8417 --token-file token

Without a token nobody can change anything, and only this machine is listened to. With one, who gives it may set the
state of a bug (new, known PR, fixed in, not a bug) with a note; and at an address that others reach, everybody needs it
to look. The token is the first line of a file, or RVVFUZZ_TOKEN. There is no TLS: put a proxy in front where others
could listen, or use `ssh -L`.

It ends with ctrl-C, with 0; with 2 if the store cannot be read or the address cannot be had.")]
pub struct Command {
    /// The campaign's file, or a database: postgres://USER@HOST/NAME
    #[arg(long, default_value = "campaign.db", value_name = "FILE|URL")]
    store: Place,
    /// Where to listen; port 0 takes one that is free
    #[arg(long, default_value = "127.0.0.1:8417", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// A file whose first line is the token with which states may be set [default: RVVFUZZ_TOKEN, if it is
    /// set]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// A token that is shorter could be guessed.
const SHORTEST: usize = 8;

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.serve())
    }

    fn token(&self) -> Result<Option<String>, String> {
        let text = match &self.token_file {
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
                Some(text.lines().next().unwrap_or("").trim().to_string())
            }
            None => std::env::var("RVVFUZZ_TOKEN").ok(),
        };
        match text {
            Some(token) if token.len() < SHORTEST => {
                Err(format!("the token must have at least {SHORTEST} characters"))
            }
            other => Ok(other),
        }
    }

    fn serve(&self) -> Done {
        let token = self.token()?;
        if token.is_none() && !self.listen.ip().is_loopback() {
            return Err(format!(
                "{} can be reached by others: give a token (--token-file), or listen at 127.0.0.1",
                self.listen
            ));
        }
        let listener = TcpListener::bind(self.listen).map_err(|e| format!("{}: {e}", self.listen))?;
        let address = listener.local_addr().map_err(|e| e.to_string())?;
        let states = if token.is_some() { "states are set with the token" } else { "read-only" };
        let server = Server::new(&self.store, token, address.ip()).map_err(|e| e.to_string())?;
        outln!("http://{address} shows {}; {states}", self.store);
        let stop = stop_flag();
        server.run(&listener, &stop).map_err(|e| e.to_string())?;
        Ok(true)
    }
}
