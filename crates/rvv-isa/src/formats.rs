//! The bits of each format, in and out: generated, and as plain as generated code is.
#![allow(clippy::identity_op, clippy::unnecessary_cast)]

use crate::inst::Inst;
use crate::operand::Operand;

include!(concat!(env!("OUT_DIR"), "/formats.rs"));
