//! The official Sail model as a judge.

mod model;

mod cases;
mod lockstep;
