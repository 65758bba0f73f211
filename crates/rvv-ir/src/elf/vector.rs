//! Vectors between their slots and register groups.

use super::layout::registers;
use super::{Lowering, reg};
use crate::Var;
use rvv_isa::{Inst, Op};

const LOADS: [Op; 4] = [Op::Vl1re8V, Op::Vl2re8V, Op::Vl4re8V, Op::Vl8re8V];
const STORES: [Op; 4] = [Op::Vs1rV, Op::Vs2rV, Op::Vs4rV, Op::Vs8rV];

impl Lowering<'_> {
    /// Loads all registers of a variable.
    pub fn load_vector(&mut self, function: usize, var: Var, first: u8) {
        let count = registers(self.program.function(function).ty(var));
        self.transfer(&LOADS, function, var, 0, count, first);
    }

    /// Stores all registers of a variable.
    pub fn store_vector(&mut self, function: usize, var: Var, first: u8) {
        let count = registers(self.program.function(function).ty(var));
        self.transfer(&STORES, function, var, 0, count, first);
    }

    /// Loads `count` registers of a variable, from its register `from` on.
    pub fn load_part(&mut self, var: Var, from: u32, count: u32, first: u8) {
        self.transfer(&LOADS, self.function, var, from, count, first);
    }

    /// Stores the first `count` registers of a variable.
    pub fn store_part(&mut self, var: Var, count: u32, first: u8) {
        self.transfer(&STORES, self.function, var, 0, count, first);
    }

    /// Moves registers by the largest aligned groups there are.
    fn transfer(&mut self, ops: &[Op; 4], function: usize, var: Var, from: u32, count: u32, first: u8) {
        let slot = self.slots[function].vars[var.index()] + u64::from(from);
        let asm = &mut self.code.asm;
        asm.li(reg::T0, slot);
        asm.rrr(Op::Mul, reg::T0, reg::T0, reg::VLENB[0]);
        asm.rrr(Op::Add, reg::T0, reg::T0, reg::VECTORS);
        let mut done = 0;
        while done < count {
            let at = u32::from(first) + done;
            let log2 = (0..4).rev().find(|n| at % (1 << n) == 0 && done + (1 << n) <= count).unwrap_or(0);
            asm.inst(&Inst { rd: at as u8, rs1: reg::T0, ..Inst::new(ops[log2]) });
            done += 1 << log2;
            if done < count {
                // Groups get smaller, so at most four registers came before the rest.
                asm.rrr(Op::Add, reg::T0, reg::T0, reg::VLENB[log2]);
            }
        }
    }
}
