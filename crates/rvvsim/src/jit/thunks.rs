//! The code that is there once: the way in, the way out, and calls of helpers.

use super::emit::Asm;
use super::fields::{AT, BLOCK, HOST_MXCSR, HOW, LEFT, MXCSR};
use super::registers::{BIAS, Map};
use crate::mem::{Access, HostTlb, PAGE};
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

/// Addresses that all host code of an engine uses.
#[derive(Clone, Copy, Default, Debug)]
pub struct Thunks {
    /// To be called with `extern "C"` as a function of hart + BIAS, code, instructions left, the TLB for host
    /// code.
    pub enter: usize,
    /// Leaves: `eax` is a [`super::How`], `edx` the number of the compiled block, `rcx` where.
    pub leave: usize,
    pub load: usize,
    pub store: usize,
    pub call: usize,
    pub vector: usize,
    pub tail: usize,
    /// From memory on one page or two, by the guest's address in `rax`, `ecx` bytes to `rdx`. `eax` is 0 if
    /// they are known; else nothing was done. `rcx` and `rdx` are lost.
    pub from_pages: usize,
    /// To memory, likewise.
    pub to_pages: usize,
    /// The table of indirect jumps.
    pub jumps: usize,
}

/// Entries of the table of indirect jumps: four words each, of which are used the address, the context, the
/// code.
pub const JUMPS: usize = 1 << 12;

/// The index of an address in the table.
pub fn jump_index(pc: u64) -> usize {
    (pc >> 1) as usize % JUMPS
}

/// Emits the code that is there once.
pub fn thunks(base: usize, map: &Map, jumps: usize) -> Option<(Thunks, Vec<u8>)> {
    let mut asm = Asm::new(base);
    let mut thunks = Thunks { jumps, ..Thunks::default() };
    let at = |asm: &Asm| base + asm.offset().0;

    thunks.enter = at(&asm);
    // Six registers and eight bytes: the stack is aligned to 16 inside.
    x64!(&mut asm; push rbx; push rbp; push r12; push r13; push r14; push r15; sub rsp, 8);
    x64!(&mut asm; mov rbx, rdi; mov rax, rsi; mov r14, rdx; mov r15, rcx; ldmxcsr [rbx + MXCSR]);
    fill(&mut asm, map);
    x64!(&mut asm; jmp rax);

    thunks.leave = at(&asm);
    spill(&mut asm, map);
    x64!(&mut asm; vzeroupper; stmxcsr [rbx + MXCSR]; ldmxcsr [rbx + HOST_MXCSR]);
    x64!(&mut asm; mov [rbx + LEFT], r14; mov [rbx + HOW], eax; mov [rbx + BLOCK], edx; mov [rbx + AT], rcx);
    x64!(&mut asm; add rsp, 8; pop r15; pop r14; pop r13; pop r12; pop rbp; pop rbx; ret);

    let helpers: [(&mut usize, *const ()); 5] = [
        (&mut thunks.load, super::helpers::load as *const ()),
        (&mut thunks.store, super::helpers::store as *const ()),
        (&mut thunks.call, super::helpers::call as *const ()),
        (&mut thunks.vector, super::helpers::vector as *const ()),
        (&mut thunks.tail, super::helpers::tail as *const ()),
    ];
    for (address, helper) in helpers {
        *address = at(&asm);
        x64!(&mut asm; sub rsp, 8);
        spill(&mut asm, map);
        // Helpers round as the host does, and raise flags of their own. Their code is slow as long as the
        // upper halves of vector registers are in use.
        x64!(&mut asm; vzeroupper; stmxcsr [rbx + MXCSR]; ldmxcsr [rbx + HOST_MXCSR]);
        x64!(&mut asm; lea rdi, [rbx - BIAS]; mov rsi, rax; mov r8, r14);
        x64!(&mut asm; mov rax, QWORD helper as i64; call rax; ldmxcsr [rbx + MXCSR]);
        fill(&mut asm, map);
        x64!(&mut asm; add rsp, 8; ret);
    }
    for (address, access) in [(&mut thunks.from_pages, Access::Load), (&mut thunks.to_pages, Access::Store)] {
        *address = at(&asm);
        copy_pages(&mut asm, access);
    }
    Some((thunks, asm.finalize().ok()?))
}

/// Copies between memory on one page or two and memory of the host.
fn copy_pages(asm: &mut Asm, access: Access) {
    let table = HostTlb::table_offset(access) as i32;
    x64!(asm; push rsi; push rdi; push r8; push r9; mov r8d, ecx; mov r9, rax);
    // The first page: the distance of the address from its start, and from there to its end.
    x64!(asm
        ; rorx ecx, eax, 8
        ; and ecx, HostTlb::INDEX_MASK
        ; sub rax, [r15 + rcx + table]
        ; cmp rax, PAGE as i32 - 1
        ; ja >missed
        ; mov rsi, [r15 + rcx + table + 8]
        ; add rsi, r9
        ; mov ecx, PAGE as i32
        ; sub ecx, eax
        ; cmp ecx, r8d
        ; jae >one
        ; lea rax, [r9 + rcx]
        ; mov r9d, ecx
    );
    // The second, from its start.
    x64!(asm
        ; rorx ecx, eax, 8
        ; and ecx, HostTlb::INDEX_MASK
        ; cmp rax, [r15 + rcx + table]
        ; jne >missed
        ; add rax, [r15 + rcx + table + 8]
        ; sub r8d, r9d
        ; mov ecx, r9d
    );
    let store = access == Access::Store;
    if store {
        x64!(asm; mov rdi, rsi; mov rsi, rdx; call >copy; mov rdi, rax; mov ecx, r8d; call >copy);
    } else {
        x64!(asm; mov rdi, rdx; call >copy; mov rsi, rax; mov ecx, r8d; call >copy);
    }
    x64!(asm; xor eax, eax; jmp >done; one:; mov ecx, r8d; mov rdi, rdx);
    if store {
        x64!(asm; xchg rsi, rdi);
    }
    x64!(asm; call >copy; xor eax, eax; jmp >done; missed:; mov eax, 1; done:);
    x64!(asm; pop r9; pop r8; pop rdi; pop rsi; ret);
    // `ecx` bytes from `rsi` to `rdi`, both of which are past them then; `rcx` is lost. A few hundred bytes
    // are copied sooner by this than the host's own instruction begins to. The last ones may be copied twice.
    x64!(asm
        ; copy:
        ; sub ecx, 32
        ; jb >few
        ; je >last
        ; again:
        ; vmovdqu Ry(COPIED), [rsi]
        ; vmovdqu [rdi], Ry(COPIED)
        ; add rsi, 32
        ; add rdi, 32
        ; sub ecx, 32
        ; ja <again
        ; last:
        ; movsxd rcx, ecx
        ; vmovdqu Ry(COPIED), [rsi + rcx]
        ; vmovdqu [rdi + rcx], Ry(COPIED)
        ; lea rsi, [rsi + rcx + 32]
        ; lea rdi, [rdi + rcx + 32]
        ; ret
        ; few:
        ; add ecx, 32
        ; rep movsb
        ; ret
    );
}

/// What pages are copied by: no template has anything there meanwhile ([`super::cached`] and those of chains
/// included).
const COPIED: u8 = 4;

fn spill(asm: &mut Asm, map: &Map) {
    for (host, home) in map.pairs() {
        x64!(asm; mov [BYTE rbx + home], Rq(host));
    }
}

fn fill(asm: &mut Asm, map: &Map) {
    for (host, home) in map.pairs() {
        x64!(asm; mov Rq(host), [BYTE rbx + home]);
    }
}
