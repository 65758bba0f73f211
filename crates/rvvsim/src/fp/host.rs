//! Host instructions that need asking for.
