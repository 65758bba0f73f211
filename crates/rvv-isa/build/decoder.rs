//! The decoder's search tables.
//!
//! A 32-bit word is looked up by opcode and funct3 (256 entries), which gives a page, then by funct6 in that
//! page (64 entries), which gives a short list of candidates. Pages that come out equal are one. A 16-bit
//! word is looked up by quadrant and funct3 (32 entries). In each list the most specific row comes first.

use crate::emit::{rust_list, variant};
use crate::tables::{Insn, Tables};
use std::fmt::Write;

#[derive(Default)]
struct Pool<T>(Vec<T>);

impl<T: PartialEq> Pool<T> {
    fn add(&mut self, item: T) -> usize {
        self.0.iter().position(|i| *i == item).unwrap_or_else(|| {
            self.0.push(item);
            self.0.len() - 1
        })
    }
}

/// The rows that some word with these bits may be.
fn candidates(insns: &[Insn], mask: u32, bits: u32) -> Vec<usize> {
    let mut found: Vec<usize> =
        (0..insns.len()).filter(|&i| (insns[i].match_ ^ bits) & insns[i].mask & mask == 0).collect();
    found.sort_by_key(|&i| std::cmp::Reverse(insns[i].mask.count_ones()));
    found
}

pub fn emit(tables: &Tables) -> String {
    let insns = &tables.insns;
    let mut lists: Pool<Vec<usize>> = Pool::default();
    let mut pages: Pool<Vec<usize>> = Pool::default();

    let top: Vec<usize> = (0..256u32)
        .map(|key| {
            let bits = key >> 3 << 2 | 3 | (key & 7) << 12;
            let page = (0..64u32)
                .map(|funct6| lists.add(candidates(insns, 0xfc00_707f, bits | funct6 << 26)))
                .collect();
            pages.add(page)
        })
        .collect();
    let compressed: Vec<usize> = (0..32u32)
        .map(|key| {
            let (quadrant, funct3) = (key >> 3, key & 7);
            // Quadrant 3 is that of the 32-bit words.
            lists.add(match quadrant {
                3 => Vec::new(),
                _ => candidates(insns, 0xe003, quadrant | funct3 << 13),
            })
        })
        .collect();

    let mut out = String::new();
    let mut starts = vec![0];
    let mut flat = Vec::new();
    for list in &lists.0 {
        flat.extend(list.iter().map(|&i| format!("Op::{}", variant(&insns[i].name))));
        starts.push(flat.len());
    }
    let numbers = |list: &[usize]| rust_list(list.iter().map(|n| n.to_string()));
    let _ = writeln!(out, "static TOP: [u8; 256] = [{}];", numbers(&top));
    let _ = writeln!(out, "static PAGES: [[u16; 64]; {}] = [", pages.0.len());
    for page in &pages.0 {
        let _ = writeln!(out, "    [{}],", numbers(page));
    }
    let _ = writeln!(out, "];");
    let _ = writeln!(out, "static COMPRESSED: [u16; 32] = [{}];", numbers(&compressed));
    let _ = writeln!(out, "static LIST_STARTS: [u16; {}] = [{}];", starts.len(), numbers(&starts));
    let _ = writeln!(out, "static LISTS: [Op; {}] = [{}];", flat.len(), rust_list(flat.into_iter()));
    out
}
