//! Accesses by one base register: the fields of a structure, the slots of a stack frame.
//!
//! Those of a block are looked up together: if the whole range of their addresses is on one page that the TLB
//! knows, each is one host instruction, by `rdx`. If it is not, the interpreter goes on from the first of
//! them, and if that happens often the block is compiled anew without groups.

use super::cold::Cold;
use super::emit::Emitter;
use super::registers::Place;
use crate::engine::{Kind, Uop};
use crate::mem::{Access, HostTlb, PAGE};
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

/// A group that `rdx` points at.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    base: u8,
    access: Access,
    /// The least distance from the base register: `rdx` points there.
    low: i64,
    /// Past the last byte.
    high: i64,
    /// The last instruction.
    last: u16,
}

/// Addresses may be so far apart: a page is more, so that many are on one.
const SPAN: i64 = 1024;

/// Which access a micro-op is, and of how many bytes.
fn access_of(kind: Kind) -> Option<(Access, i64)> {
    Some(match kind {
        Kind::Lb | Kind::Lbu => (Access::Load, 1),
        Kind::Lh | Kind::Lhu => (Access::Load, 2),
        Kind::Lw | Kind::Lwu | Kind::Flw => (Access::Load, 4),
        Kind::Ld | Kind::Fld => (Access::Load, 8),
        Kind::Sb => (Access::Store, 1),
        Kind::Sh => (Access::Store, 2),
        Kind::Sw | Kind::Fsw => (Access::Store, 4),
        Kind::Sd | Kind::Fsd => (Access::Store, 8),
        _ => return None,
    })
}

/// Whether a micro-op may use `rdx`.
fn uses_rdx(kind: Kind) -> bool {
    let computes = kind.writes_x()
        && !matches!(
            kind,
            Kind::Mulh
                | Kind::Mulhsu
                | Kind::Mulhu
                | Kind::Div
                | Kind::Divu
                | Kind::Rem
                | Kind::Remu
                | Kind::Divw
                | Kind::Divuw
                | Kind::Remw
                | Kind::Remuw
        );
    !computes && access_of(kind).is_none()
}

/// Whether a micro-op writes an integer register.
fn writes(u: &Uop, r: u8) -> bool {
    let is_integer = match access_of(u.kind()) {
        Some((access, _)) => access == Access::Load && !matches!(u.kind(), Kind::Flw | Kind::Fld),
        None => true,
    };
    is_integer && u.rd == r
}

impl Emitter<'_> {
    /// The group that begins with an access, if it has others.
    fn group_from(&self, first: &Uop) -> Option<Group> {
        let (access, size) = access_of(first.kind())?;
        let (base, low) = (first.rs1, first.imm);
        let mut group = Group { base, access, low, high: low + size, last: first.insn };
        for u in self.block.uops.as_slice().iter().filter(|u| u.insn >= first.insn) {
            if uses_rdx(u.kind()) {
                break;
            }
            if let Some((same, size)) = access_of(u.kind())
                && (same, u.rs1) == (access, base)
            {
                let (low, high) = (group.low.min(u.imm), group.high.max(u.imm + size));
                if high - low > SPAN {
                    break;
                }
                group = Group { low, high, last: u.insn, ..group };
            }
            if writes(u, base) {
                break;
            }
        }
        (group.last != first.insn).then_some(group)
    }

    /// If an access is one of a group: its distance from `rdx`.
    pub(super) fn grouped(&mut self, u: &Uop) -> Option<i32> {
        let (access, _) = access_of(u.kind())?;
        match self.group {
            Some(group) if (group.access, group.base) == (access, u.rs1) => {}
            // There is one at a time.
            Some(_) => return None,
            None => {
                if !self.may_group || u.rs1 == 0 {
                    return None;
                }
                let group = self.group_from(u)?;
                self.begin(u, &group);
                self.group = Some(group);
            }
        }
        self.group.map(|group| (u.imm - group.low) as i32)
    }

    fn begin(&mut self, u: &Uop, group: &Group) {
        let at = self.asm.new_dynamic_label();
        let low = group.low as i32;
        let place = self.map.place(group.base);
        match place {
            Place::Host(a) => x64!(&mut self.asm; lea rdx, [Rq(a) + low]),
            Place::Home(o) => x64!(&mut self.asm; mov rdx, [BYTE rbx + o]; add rdx, low),
            Place::Sink => unreachable!("the sink is never read"),
        }
        let table = HostTlb::table_offset(group.access) as i32;
        let most = (PAGE as i64 - (group.high - group.low)) as i32;
        x64!(&mut self.asm
            ; rorx ecx, edx, 8
            ; and ecx, HostTlb::INDEX_MASK
            ; sub rdx, [r15 + rcx + table]
            ; cmp rdx, most
            ; ja =>at
            ; mov rdx, [r15 + rcx + table + 8]
        );
        // The address again, rather than that of the page, for which what follows would have to wait.
        match place {
            Place::Host(a) => x64!(&mut self.asm; lea rdx, [Rq(a) + rdx + low]),
            Place::Home(o) => x64!(&mut self.asm; add rdx, [BYTE rbx + o]; add rdx, low),
            Place::Sink => unreachable!("the sink is never read"),
        }
        self.cold.push(Cold::Interpret { at, insn: u.insn });
        self.expects = true;
        self.cached.base = false;
    }

    /// After a micro-op: whether its group goes on.
    pub(super) fn end_group(&mut self, u: &Uop) {
        if self.group.is_some_and(|group| u.insn >= group.last || writes(u, group.base)) {
            self.group = None;
        }
    }
}
