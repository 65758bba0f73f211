//! A process under gdb goes back.

use super::*;
