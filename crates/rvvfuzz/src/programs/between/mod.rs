//! What changed between two compilers, or two sets of flags: programs that they compile to different code.
//!
//! * [`flow`] — what holds where in a function: the rounding modes that reach an instruction, its vtype;
//! * [`difference`] — how the code of a program differs, and how much that weighs;
//! * [`hunt`] — the search: batches of programs, compared, judged and reduced;
//! * [`journal`] — the file with what was found;
//! * [`listing`] — two functions side by side;
//! * [`report`] — the ranked list.

pub mod difference;
pub mod flow;
pub mod hunt;
pub mod journal;
pub mod listing;
pub mod report;
