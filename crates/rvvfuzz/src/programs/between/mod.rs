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

#[cfg(test)]
mod tests {
    use crate::programs::features::code::{Function, Placed};
    use rvv_isa::Inst;

    /// A function of these instructions.
    pub fn function(insts: &[Inst]) -> Function {
        let code: Vec<Placed> = insts
            .iter()
            .enumerate()
            .map(|(i, inst)| Placed { at: 0x1000 + 4 * i as u64, len: 4, inst: Some(*inst) })
            .collect();
        let end = 0x1000 + 4 * code.len() as u64;
        Function { program: 0, symbol: "program".to_string(), range: 0x1000..end, code }
    }
}
