//! One binary for all integration tests of this crate: each binary is another link of the whole crate.

mod between;
mod campaign;
mod command;
#[cfg(feature = "postgres")]
mod connection;
mod corpus;
mod environments;
mod feedback;
mod fleet;
mod jury;
mod open;
mod page;
mod queue;
mod replay;
mod room;
#[cfg(feature = "postgres")]
mod server;
