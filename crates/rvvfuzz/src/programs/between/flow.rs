//! What holds where in a function: the rounding modes that reach an instruction, and the vtype it runs under,
//! on all ways to it.

use crate::programs::features::code::{Flow, Function};
use crate::programs::features::machine::vset_type;
use rvv_intrinsics::all;
use rvv_isa::{Class, Inst, Op, Vtype, csr};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

/// A rounding mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// `vxrm`, of fixed point.
    Vxrm,
    /// `frm`, of floating point.
    Frm,
}

impl Mode {
    /// Both.
    pub const ALL: [Mode; 2] = [Mode::Vxrm, Mode::Frm];

    /// The register.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Vxrm => "vxrm",
            Mode::Frm => "frm",
        }
    }

    /// The instructions that round by it, of those that intrinsics ask for.
    fn users(self) -> &'static HashSet<Op> {
        static USERS: LazyLock<[HashSet<Op>; 2]> = LazyLock::new(|| {
            let of = |uses: fn(&rvv_intrinsics::Intrinsic) -> bool| {
                all().iter().filter(|i| uses(i)).filter_map(|i| i.instruction).collect()
            };
            [of(|i| i.uses_vxrm()), of(|i| i.uses_frm())]
        });
        &USERS[self as usize]
    }
}

/// A mode that an instruction sets.
pub const SET: &str = "set";

/// Where the value of a rounding mode may come from, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Origins(u16);

impl Origins {
    const ENTRY: Origins = Origins(1);
    const CALL: Origins = Origins(2);
    const REGISTER: Origins = Origins(4);

    fn value(value: u8) -> Origins {
        Origins(8 << (value & 7))
    }

    fn or(self, other: Origins) -> Origins {
        Origins(self.0 | other.0)
    }

    /// Each of them in words. `values` tells one mode from another.
    pub fn words(self, values: bool) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (bit, word) in [
            (Origins::ENTRY, "the caller's"),
            (Origins::CALL, "a callee's"),
            (Origins::REGISTER, "a variable"),
        ] {
            if self.0 & bit.0 != 0 {
                found.insert(word.to_string());
            }
        }
        for value in (0..8).filter(|v| self.0 & Origins::value(*v).0 != 0) {
            found.insert(if values { format!("mode {value}") } else { SET.to_string() });
        }
        found
    }
}

/// What holds before an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct State {
    reached: bool,
    modes: [Origins; 2],
    vtypes: BTreeSet<u64>,
}

/// A vtype that is not known, among those that are.
const UNKNOWN: u64 = u64::MAX;
/// So many vtypes are told apart where ways meet.
const VTYPES: usize = 8;

impl State {
    /// Joins what comes from elsewhere; whether that changed it.
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        self.reached = true;
        for (own, more) in self.modes.iter_mut().zip(other.modes) {
            *own = own.or(more);
        }
        self.vtypes.extend(&other.vtypes);
        if self.vtypes.len() > VTYPES {
            self.vtypes = BTreeSet::from([UNKNOWN]);
        }
        *self != before
    }

    fn step(&mut self, inst: &Inst, flow: Flow) {
        if let Flow::Call(_) = flow {
            // The psABI: vxrm is not preserved across calls, vtype neither; frm is.
            self.modes[Mode::Vxrm as usize] = Origins::CALL;
            self.vtypes = BTreeSet::from([UNKNOWN]);
        }
        if inst.op.class() == Class::VectorConfig {
            let vtype = vset_type(inst).map_or(UNKNOWN, Vtype::to_bits);
            self.vtypes = BTreeSet::from([vtype]);
        }
        let (mode, field) = match u16::try_from(inst.imm) {
            Ok(csr::VXRM | csr::VCSR) => (Mode::Vxrm, inst.imm != i32::from(csr::VXRM)),
            Ok(csr::FRM | csr::FCSR) => (Mode::Frm, inst.imm != i32::from(csr::FRM)),
            _ => return,
        };
        let origin = match inst.op.base() {
            Op::Csrrwi if !field => Origins::value(inst.rs1),
            Op::Csrrwi | Op::Csrrw => Origins::REGISTER,
            Op::Csrrs | Op::Csrrsi | Op::Csrrc | Op::Csrrci if inst.rs1 != 0 => Origins::REGISTER,
            _ => return,
        };
        self.modes[mode as usize] = origin;
    }
}

/// What reaches the instructions of a function that matters to them.
#[derive(Clone, Debug, Default)]
pub struct Reaching {
    /// Rounding modes at the instructions that round by them, and where the function is left.
    pub modes: Vec<(Mode, Option<Op>, Origins)>,
    /// The vtype at vector instructions, by their place in the function, if there is only one.
    pub vtypes: HashMap<usize, Vtype>,
}

/// Follows all ways through a function.
pub fn reaching(function: &Function) -> Reaching {
    let code = &function.code;
    let mut at: Vec<State> = vec![State::default(); code.len()];
    let entry = State { reached: true, modes: [Origins::ENTRY; 2], vtypes: BTreeSet::from([UNKNOWN]) };
    let Some(first) = at.first_mut() else { return Reaching::default() };
    *first = entry;
    let place = |address: u64| code.binary_search_by_key(&address, |p| p.at).ok();
    let mut left: Vec<usize> = vec![0];
    // States only grow, and have few sizes: this ends. The bound is for what is no code.
    let mut steps = 64 * code.len();
    while let Some(i) = left.pop() {
        steps = steps.saturating_sub(1);
        let Some(inst) = code[i].inst.filter(|_| steps > 0) else { continue };
        let flow = code[i].flow(&function.range);
        let mut after = at[i].clone();
        after.step(&inst, flow);
        let next = (i + 1 < code.len()).then_some(i + 1);
        let successors = match flow {
            Flow::Next | Flow::Call(_) => [next, None],
            Flow::Branch(to) => [next, place(to)],
            Flow::Jump(to) => [None, place(to)],
            Flow::Leaves => [None, None],
        };
        for to in successors.into_iter().flatten() {
            if at[to].join(&after) {
                left.push(to);
            }
        }
    }
    let mut found = Reaching::default();
    for (i, (placed, state)) in code.iter().zip(&at).enumerate().filter(|(_, (_, s))| s.reached) {
        let Some(inst) = placed.inst else { continue };
        for mode in Mode::ALL {
            if mode.users().contains(&inst.op) {
                found.modes.push((mode, Some(inst.op), state.modes[mode as usize]));
            }
        }
        if placed.flow(&function.range) == Flow::Leaves {
            // What is left in vxrm is nobody's.
            found.modes.push((Mode::Frm, None, state.modes[Mode::Frm as usize]));
        }
        if inst.op.class() > Class::VectorConfig
            && !inst.op.shape().ignores_vtype()
            && let [one] = state.vtypes.iter().copied().collect::<Vec<_>>()[..]
            && one != UNKNOWN
        {
            found.vtypes.insert(i, Vtype::from_bits(one));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::between::tests::function;
    use rvv_isa::{Lmul, Sew};

    fn vset(lmul: Lmul) -> Inst {
        Inst {
            imm: Vtype::new(Sew::E8, lmul, true, true).to_bits() as i32,
            rs1: 10,
            ..Inst::new(Op::Vsetvli)
        }
    }

    fn vxrm(value: u8) -> Inst {
        Inst { rs1: value, imm: csr::VXRM.into(), ..Inst::new(Op::Csrrwi) }
    }

    fn words(origins: Origins) -> Vec<String> {
        origins.words(true).into_iter().collect()
    }

    #[test]
    fn a_mode_that_is_set_before_a_loop_with_a_call_is_the_callees_in_it() {
        let call = Inst { rd: 1, imm: 0x1000, ..Inst::new(Op::Jal) };
        let back = |imm| Inst { rs1: 10, imm, ..Inst::new(Op::Bne) };
        let average = Inst::new(Op::VaaddVx);
        let ret = Inst { rs1: 1, ..Inst::new(Op::Jalr) };
        let outside = function(&[vxrm(2), average, call, back(-8), ret]);
        let found = reaching(&outside);
        let of: Vec<(Option<Op>, Vec<String>)> = found
            .modes
            .iter()
            .filter(|(m, ..)| *m == Mode::Vxrm)
            .map(|(_, op, o)| (*op, words(*o)))
            .collect();
        assert_eq!(of, [(Some(Op::VaaddVx), vec!["a callee's".to_string(), "mode 2".to_string()])]);
        let inside = function(&[vxrm(2), average, call, back(-12), ret]);
        assert_eq!(words(reaching(&inside).modes[0].2), ["mode 2"]);
        assert_eq!(words(reaching(&function(&[average])).modes[0].2), ["the caller's"]);
    }

    #[test]
    fn frm_survives_calls_and_is_seen_where_the_function_is_left() {
        let call = Inst { rd: 1, imm: 0x1000, ..Inst::new(Op::Jal) };
        let set = Inst { rs1: 1, imm: csr::FRM.into(), ..Inst::new(Op::Csrrwi) };
        let restore = Inst { rs1: 8, imm: csr::FRM.into(), ..Inst::new(Op::Csrrw) };
        let ret = Inst { rs1: 1, ..Inst::new(Op::Jalr) };
        let add = Inst::new(Op::VfaddVv);
        let modes = |insts: &[Inst]| {
            let found = reaching(&function(insts));
            found.modes.iter().map(|(_, op, o)| (op.is_some(), words(*o).join(" or "))).collect::<Vec<_>>()
        };
        assert_eq!(
            modes(&[set, call, add, restore, ret]),
            [(true, "mode 1".to_string()), (false, "a variable".to_string())]
        );
        assert_eq!(modes(&[set, ret]), [(false, "mode 1".to_string())]);
    }

    #[test]
    fn a_vtype_is_known_where_all_ways_agree() {
        let skip = Inst { rs1: 10, imm: 8, ..Inst::new(Op::Beq) };
        let add = Inst::new(Op::VaddVv);
        let one = reaching(&function(&[vset(Lmul::M1), skip, vset(Lmul::M2), add]));
        assert!(one.vtypes.is_empty());
        let same = reaching(&function(&[vset(Lmul::M1), skip, vset(Lmul::M1), add]));
        assert_eq!(same.vtypes.get(&3).map(|t| t.lmul), Some(Lmul::M1));
        assert!(reaching(&function(&[])).modes.is_empty());
    }
}
