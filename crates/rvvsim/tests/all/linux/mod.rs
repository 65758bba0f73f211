//! Linux processes: guests of a few system calls, and guests from a C compiler.

mod calls;

mod blocked;
mod guests;
mod past;
mod processes;
mod streams;
mod threads;
