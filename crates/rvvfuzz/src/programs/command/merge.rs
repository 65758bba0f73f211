//! `rvvfuzz merge`.

use super::{Done, exit};
use crate::programs::store::{Place, Store, StoreError, merge};
use clap::Args;
use rvv_cli::outln;
use std::process::ExitCode;

/// Join stores of one campaign: what the others have is added to the first.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz merge all.db monday.db tuesday.db
  rvvfuzz merge postgres://fuzz@db/rvv campaign.db         a campaign of one machine becomes everybody's
  rvvfuzz merge copy.db postgres://fuzz@db/rvv             and the other way round

Stores are of one campaign if their settings, testbeds and version are the same. If there is nothing at the first
place, the campaign is begun there. A program that is in both is there once; its verdicts get the reductions, names and
states that the other store has. Nobody may be at work on the first store. It can be interrupted, and called again.
It ends with 0, or with 2 if the stores are of two campaigns or something cannot be read or written.")]
pub struct Command {
    /// The store that gets everything: a file, or postgres://USER@HOST/NAME
    #[arg(value_name = "INTO")]
    into: Place,
    /// The stores that are added; they stay as they are
    #[arg(value_name = "FROM", required = true)]
    from: Vec<Place>,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.merge())
    }

    fn merge(&self) -> Done {
        let fail = |e: StoreError| e.to_string();
        let mut into: Option<Store> = None;
        for from in &self.from {
            if *from == self.into {
                return Err(format!("{from} is the store that gets everything; name another"));
            }
            let other = Store::read(from).map_err(fail)?;
            let store = match &mut into {
                Some(store) => store,
                None => into.insert(merge::open(&self.into, &other).map_err(fail)?),
            };
            let m = store.merge(&other).map_err(fail)?;
            outln!(
                "{from}: {} programs with {} verdicts added, {} were there, {} verdicts of these completed",
                m.programs,
                m.verdicts,
                m.both,
                m.completed
            );
            if m.torn > 0 {
                outln!(
                    "{from}: {} programs are in batches of which a part is there; they were left out, and are done again \
                     when the campaign goes on",
                    m.torn
                );
            }
        }
        Ok(true)
    }
}
