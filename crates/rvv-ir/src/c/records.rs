//! Arrays of structures: see [`crate::records`]. Their fields are filled from buffers at the start and copied
//! back at the end, so that data come in and out as those of other buffers.

use super::Globals;
use super::loops::c_type;
use crate::{BufferKind, Program};
use std::fmt::Write;

/// The names of the structures and of their arrays.
pub(super) fn names(program: &Program, give: &mut dyn FnMut(&str) -> String) -> Vec<[String; 2]> {
    let of = |n: usize| [format!("record{n}"), format!("records{n}")];
    (0..program.records.len()).map(|n| of(n).map(|name| give(&name))).collect()
}

/// Defines the structures, and their arrays or that there are such.
pub(super) fn declare(out: &mut String, program: &Program, globals: &Globals, storage: &str) {
    for (fields, [tag, array]) in program.records.iter().zip(&globals.records) {
        writeln!(out, "struct {tag} {{").unwrap();
        for &number in fields {
            let ty = c_type(&program.buffers[number], globals.language);
            writeln!(out, "    {ty} {};", globals.buffers[number]).unwrap();
        }
        let len = fields.iter().map(|&b| program.buffers[b].len).max().unwrap_or(1);
        writeln!(out, "}};\n{storage} struct {tag} {array}[{len}];").unwrap();
    }
}

/// Fills the fields.
pub(super) fn copy_in(out: &mut String, program: &Program, globals: &Globals) {
    for (fields, [_, array]) in program.records.iter().zip(&globals.records) {
        for &number in fields {
            let (flat, field) = flat_and_field(program, globals, array, number);
            copy(out, program.buffers[number].len, &field, &flat);
        }
        writeln!(out, "    hide({array});").unwrap();
    }
}

/// Copies the fields that are printed to where they are printed from.
pub(super) fn copy_out(out: &mut String, program: &Program, globals: &Globals) {
    for (fields, [_, array]) in program.records.iter().zip(&globals.records) {
        writeln!(out, "    hide({array});").unwrap();
        for &number in fields.iter().filter(|&&b| program.buffers[b].kind == BufferKind::Out) {
            let (flat, field) = flat_and_field(program, globals, array, number);
            copy(out, program.buffers[number].len, &flat, &field);
        }
    }
}

fn flat_and_field(program: &Program, globals: &Globals, array: &str, number: usize) -> (String, String) {
    let name = &globals.buffers[number];
    let union = if program.buffers[number].elem.is_float() { ".f" } else { "" };
    (format!("{name}{union}[k_]"), format!("{array}[k_].{name}"))
}

fn copy(out: &mut String, len: usize, to: &str, from: &str) {
    writeln!(out, "    for (size_t k_ = 0; k_ < {len}; k_++) {to} = {from};").unwrap();
}
