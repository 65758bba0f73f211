//! An RV64GCV emulator with any VLEN, as a library.

pub mod fp;
