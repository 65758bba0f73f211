//! Code that is hardly ever reached: misses, traps, the end of the budget. It comes after the block's own.

use super::How;
use super::cached::Cached;
use super::emit::Emitter;
use super::fields::{VALUE, vector_field};
use super::registers::{Place, RAX, RCX};
use crate::engine::{Kind, Uop};
use crate::mem::{Access, HostTlb, PAGE};
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

/// An element that the interpreter goes on with.
#[derive(Clone, Copy)]
pub(super) enum First {
    Element(u32),
    /// `end`, less `ecx` strips of so many elements.
    InStrip {
        end: u32,
        strip: u32,
    },
}

/// An access of some bytes of memory.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub access: Access,
    pub bytes: usize,
    /// Of elements of this size.
    pub size: usize,
}

/// What to do about an access over two pages that are not side by side in the host.
#[derive(Clone, Copy)]
pub(super) enum Apart {
    /// It is put together, in the room of this number.
    Load(usize),
    /// It is to be stored by pieces, to the room of this number, and [`Cold::Deliver`] takes it from there.
    Later(usize),
    /// Vector registers from a place on are all that is stored, and that was it.
    Store(i32, DynamicLabel),
    /// It is missed.
    Miss,
}

/// Code that is hardly ever reached. What goes back brings `cached` along, which helpers do not keep.
pub(super) enum Cold {
    Load {
        at: DynamicLabel,
        back: DynamicLabel,
        uop: Uop,
        kind: u32,
        cached: Cached,
        /// A group is looked up, which helpers do not keep either: the interpreter goes on.
        grouped: bool,
    },
    Store {
        at: DynamicLabel,
        back: DynamicLabel,
        uop: Uop,
        size_log2: u32,
        cached: Cached,
        grouped: bool,
    },
    /// The handler of the instruction executes it.
    Handler {
        at: DynamicLabel,
        back: DynamicLabel,
        uop: Uop,
        cached: Cached,
    },
    /// The interpreter's kernel executes the vector instruction, from an element on.
    Vector {
        at: DynamicLabel,
        back: DynamicLabel,
        uop: Uop,
        first: First,
        cached: Cached,
    },
    /// A vector access that is not on one page that the TLB knows. If it is on two, `found` is gone to, as if
    /// it had been on one; else `missed`.
    Crossing {
        at: DynamicLabel,
        found: DynamicLabel,
        missed: DynamicLabel,
        /// Where its address is.
        place: Place,
        range: Range,
        apart: Apart,
        /// `rdx` points at the vector registers.
        base: bool,
    },
    /// The same of all instructions of a chain.
    Again {
        at: DynamicLabel,
        back: DynamicLabel,
        uops: Vec<Uop>,
        first: First,
        /// What is at home, and where it belongs.
        homes: Vec<(u8, i8)>,
    },
    /// The interpreter goes on with the first instruction of a chain.
    Missed {
        at: DynamicLabel,
        insn: u16,
        homes: Vec<(u8, i8)>,
    },
    /// What is to be stored goes to the room of this number at first.
    Defer {
        at: DynamicLabel,
        back: DynamicLabel,
        pointer: u8,
        room: usize,
    },
    /// What was stored to the room of this number goes to its pages.
    Deliver {
        at: DynamicLabel,
        back: DynamicLabel,
        place: Place,
        range: Range,
        room: usize,
    },
    /// The same for the misses of one access: from which element on.
    Elements {
        missed: Vec<(DynamicLabel, u32)>,
        back: DynamicLabel,
        uop: Uop,
        cached: Cached,
    },
    /// Coins are tossed for the tail of the vector instruction.
    Tail {
        at: DynamicLabel,
        back: DynamicLabel,
        uop: Uop,
        cached: Cached,
    },
    /// The interpreter goes on from here.
    Interpret {
        at: DynamicLabel,
        insn: u16,
    },
    /// Leaves with the status in `eax`.
    Status {
        at: DynamicLabel,
        insn: u16,
    },
    Budget {
        at: DynamicLabel,
    },
    /// An indirect jump whose target, in `rax`, is not in the table.
    Computed {
        at: DynamicLabel,
    },
}

impl Emitter<'_> {
    /// The code that is hardly ever reached. Where the static ways out are.
    pub(super) fn tail(&mut self) -> [usize; 2] {
        // A handler's call has a way out of its own, which comes later.
        while let Some(cold) = self.cold.pop() {
            match cold {
                Cold::Load { at, back, uop, kind, cached, grouped } => {
                    let (info, thunk) = (self.info(&uop), self.thunks.load);
                    x64!(&mut self.asm; =>at);
                    self.address(&uop);
                    x64!(&mut self.asm; mov edx, kind as i32; mov ecx, info; call extern thunk);
                    x64!(&mut self.asm; test edx, edx; jne >trap);
                    let to_f = matches!(uop.kind(), Kind::Flw | Kind::Fld);
                    if grouped {
                        self.fs_dirty = false;
                        self.loaded(&uop, RAX, to_f);
                        self.go_on_after(&uop);
                    } else {
                        if !to_f {
                            self.put(uop.rd, RAX);
                        }
                        self.refill(cached);
                        x64!(&mut self.asm; jmp =>back);
                    }
                    x64!(&mut self.asm; trap:; mov eax, edx);
                    self.leave_with_status(uop.insn);
                }
                Cold::Store { at, back, uop, size_log2, cached, grouped } => {
                    let (info, thunk) = (self.info(&uop), self.thunks.store);
                    let leave = self.asm.new_dynamic_label();
                    x64!(&mut self.asm; =>at);
                    self.address(&uop);
                    self.stored(&uop, RCX);
                    x64!(&mut self.asm; mov [rbx + VALUE], rcx);
                    x64!(&mut self.asm; mov edx, size_log2 as i32; mov ecx, info; call extern thunk);
                    x64!(&mut self.asm; test eax, eax; jne =>leave);
                    if grouped {
                        self.go_on_after(&uop);
                    } else {
                        self.refill(cached);
                        x64!(&mut self.asm; jmp =>back);
                    }
                    x64!(&mut self.asm; =>leave);
                    self.leave_with_status(uop.insn);
                }
                Cold::Handler { at, back, uop, cached } => {
                    x64!(&mut self.asm; =>at);
                    self.call(&uop);
                    self.refill(cached);
                    x64!(&mut self.asm; jmp =>back);
                }
                Cold::Vector { at, back, uop, first, cached } => {
                    let vstart = vector_field().vstart;
                    x64!(&mut self.asm; =>at);
                    if !matches!(first, First::Element(0)) {
                        self.first_element(first);
                        x64!(&mut self.asm; mov [rbx + vstart], rax);
                    }
                    self.vector(&uop);
                    self.refill(cached);
                    x64!(&mut self.asm; jmp =>back);
                }
                Cold::Again { at, back, uops, first, homes } => {
                    let vstart = vector_field().vstart;
                    x64!(&mut self.asm; =>at);
                    self.bring_home(&homes);
                    self.first_element(first);
                    x64!(&mut self.asm; mov [rbx + VALUE], rax);
                    for uop in uops {
                        // A store is the last, and stores what is in registers now: all of it, for what is
                        // before this element may not have been delivered.
                        let memory = self.block.uops.vector(&uop).inst.op.shape().memory;
                        if memory.is_none_or(|memory| !memory.store) {
                            x64!(&mut self.asm; mov rax, [rbx + VALUE]; mov [rbx + vstart], rax);
                        }
                        self.vector(&uop);
                    }
                    x64!(&mut self.asm; jmp =>back);
                }
                Cold::Missed { at, insn, homes } => {
                    x64!(&mut self.asm; =>at);
                    self.bring_home(&homes);
                    x64!(&mut self.asm; mov ecx, i32::from(insn));
                    self.leave(How::Interpret);
                }
                Cold::Crossing { at, found, missed, place, range, apart, base } => {
                    x64!(&mut self.asm; =>at);
                    self.cross(place, range, missed, apart);
                    if base {
                        x64!(&mut self.asm; mov rdx, [rbx + vector_field().registers]);
                    }
                    x64!(&mut self.asm; jmp =>found);
                }
                Cold::Defer { at, back, pointer, room } => {
                    let room = HostTlb::bounce_offset(room) as i32;
                    x64!(&mut self.asm; =>at; lea Rq(pointer), [r15 + room]; jmp =>back);
                }
                Cold::Deliver { at, back, place, range, room } => {
                    x64!(&mut self.asm; =>at);
                    self.copy_pages(place, range, self.thunks.to_pages, |e| {
                        x64!(&mut e.asm; lea rdx, [r15 + HostTlb::bounce_offset(room) as i32]);
                    });
                    // The pages were known, and nothing has changed that.
                    x64!(&mut self.asm; jmp =>back);
                }
                Cold::Elements { missed, back, uop, cached } => {
                    let all = self.asm.new_dynamic_label();
                    for (at, first) in missed {
                        x64!(&mut self.asm; =>at; mov QWORD [rbx + vector_field().vstart], first as i32; jmp =>all);
                    }
                    x64!(&mut self.asm; =>all);
                    self.vector(&uop);
                    self.refill(cached);
                    x64!(&mut self.asm; jmp =>back);
                }
                Cold::Tail { at, back, uop, cached } => {
                    let thunk = self.thunks.tail;
                    x64!(&mut self.asm; =>at; mov rax, QWORD uop.imm; call extern thunk);
                    self.refill(cached);
                    x64!(&mut self.asm; jmp =>back);
                }
                Cold::Interpret { at, insn } => {
                    x64!(&mut self.asm; =>at; mov ecx, i32::from(insn));
                    self.leave(How::Interpret);
                }
                Cold::Status { at, insn } => {
                    x64!(&mut self.asm; =>at);
                    self.leave_with_status(insn);
                }
                Cold::Budget { at } => {
                    x64!(&mut self.asm; =>at; add r14, self.block.count as i32);
                    self.leave(How::Budget);
                }
                Cold::Computed { at } => {
                    x64!(&mut self.asm; =>at; mov rcx, rax);
                    self.leave(How::Computed);
                }
            }
        }
        [How::Onwards, How::Taken].map(|how| {
            let at = self.asm.offset().0;
            self.leave(how);
            at
        })
    }

    /// An element in `rax`.
    fn first_element(&mut self, first: First) {
        match first {
            First::Element(n) => x64!(&mut self.asm; mov eax, n as i32),
            First::InStrip { end, strip } => x64!(&mut self.asm
                ; imul ecx, ecx, strip as i32
                ; mov eax, end as i32
                ; sub eax, ecx
            ),
        }
    }

    /// Looks up an access that may begin on one page and end on the next. `rax` is its address in the host
    /// then: both pages are known, and the last byte is as far from the first there as it is for the guest;
    /// or it is put together.
    fn cross(&mut self, place: Place, range: Range, missed: DynamicLabel, apart: Apart) {
        debug_assert!(range.bytes <= PAGE as usize);
        let last = range.bytes as i32 - 1;
        self.get_from(place);
        x64!(&mut self.asm; lea rdx, [rax + last]);
        self.lookup(range.access, 1, range.size, missed);
        let table = HostTlb::table_offset(range.access) as i32;
        x64!(&mut self.asm
            ; rorx ecx, edx, 8
            ; and ecx, HostTlb::INDEX_MASK
            ; sub rdx, [r15 + rcx + table]
            ; cmp rdx, PAGE as i32 - 1
            ; ja =>missed
            ; add rdx, [r15 + rcx + table]
            ; add rdx, [r15 + rcx + table + 8]
            ; lea rcx, [rax + last]
            ; cmp rcx, rdx
        );
        let registers = vector_field().registers;
        let beside = self.asm.new_dynamic_label();
        x64!(&mut self.asm; je =>beside);
        match apart {
            Apart::Load(room) => {
                let room = HostTlb::bounce_offset(room) as i32;
                self.copy_pages(place, range, self.thunks.from_pages, |e| {
                    x64!(&mut e.asm; lea rdx, [r15 + room]);
                });
                x64!(&mut self.asm; test eax, eax; jne =>missed; lea rax, [r15 + room]);
            }
            Apart::Later(room) => {
                x64!(&mut self.asm; lea rax, [r15 + HostTlb::bounce_offset(room) as i32]);
            }
            Apart::Store(from, back) => {
                self.copy_pages(place, range, self.thunks.to_pages, |e| {
                    x64!(&mut e.asm; mov rdx, [rbx + registers]; add rdx, from);
                });
                x64!(&mut self.asm; test eax, eax; jne =>missed);
                x64!(&mut self.asm; mov rdx, [rbx + registers]; jmp =>back);
            }
            Apart::Miss => x64!(&mut self.asm; jmp =>missed),
        }
        x64!(&mut self.asm; =>beside);
    }

    /// Calls what copies from or to two pages; `host` makes `rdx` the other end.
    fn copy_pages(&mut self, place: Place, range: Range, thunk: usize, host: impl FnOnce(&mut Self)) {
        self.get_from(place);
        host(self);
        x64!(&mut self.asm; mov ecx, range.bytes as i32; call extern thunk);
    }

    /// Leaves at an instruction, with the [`How`] in `eax`.
    pub(super) fn leave_with_status(&mut self, insn: u16) {
        let (number, leave) = (self.site.number as i32, self.thunks.leave);
        x64!(&mut self.asm; mov ecx, i32::from(insn); mov edx, number; jmp extern leave);
    }
}
