//! The process as a whole, with programs made by hand.
