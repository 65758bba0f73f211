//! ELF files made by hand, and broken by hand.

use super::*;

/// A loadable segment for [`elf`].
#[derive(Clone)]
pub(crate) struct Load {
    pub vaddr: u64,
    pub flags: u32,
    pub bytes: Vec<u8>,
    pub memsz: u64,
}

/// A program of these segments.
pub(crate) fn elf(ty: u16, entry: u64, loads: &[Load]) -> Vec<u8> {
    let mut file = vec![0u8; 64 + 56 * loads.len()];
    file[..4].copy_from_slice(b"\x7fELF");
    file[4] = 2;
    file[5] = 1;
    file[6] = 1;
    put(&mut file, 16, &ty.to_le_bytes());
    put(&mut file, 18, &243u16.to_le_bytes());
    put(&mut file, 20, &1u32.to_le_bytes());
    put(&mut file, 24, &entry.to_le_bytes());
    put(&mut file, 32, &64u64.to_le_bytes());
    put(&mut file, 52, &64u16.to_le_bytes());
    put(&mut file, 54, &56u16.to_le_bytes());
    put(&mut file, 56, &(loads.len() as u16).to_le_bytes());
    put(&mut file, 58, &64u16.to_le_bytes());
    for (i, load) in loads.iter().enumerate() {
        let offset = file.len() as u64;
        let at = 64 + 56 * i;
        put(&mut file, at, &1u32.to_le_bytes());
        put(&mut file, at + 4, &load.flags.to_le_bytes());
        put(&mut file, at + 8, &offset.to_le_bytes());
        put(&mut file, at + 16, &load.vaddr.to_le_bytes());
        put(&mut file, at + 24, &load.vaddr.to_le_bytes());
        put(&mut file, at + 32, &(load.bytes.len() as u64).to_le_bytes());
        put(&mut file, at + 40, &load.memsz.to_le_bytes());
        put(&mut file, at + 48, &4096u64.to_le_bytes());
        file.extend_from_slice(&load.bytes);
    }
    file
}

pub(crate) fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

fn text() -> Load {
    Load { vaddr: 0x10000, flags: 5, bytes: vec![0x73, 0, 0, 0], memsz: 4 }
}

fn data() -> Load {
    Load { vaddr: 0x20000, flags: 6, bytes: vec![1, 2, 3], memsz: 0x1000 }
}

fn error(file: Vec<u8>) -> String {
    Image::parse(file).expect_err("must be refused").to_string()
}

#[test]
fn reads_a_small_program() {
    let file = elf(2, 0x10000, &[data(), text()]);
    let image = Image::parse(&file[..]).unwrap();
    assert_eq!(image.entry, 0x10000);
    assert!(!image.is_pie);
    assert_eq!(image.span(), (0x10000, 0x21000));
    assert_eq!(image.contents(&image.segments[1]), [1, 2, 3]);
    assert!(image.segments[0].execute && !image.segments[0].write);
    assert_eq!((image.phdr, image.interp_path(), image.symbol("main")), (None, None, None));
    assert!(!image.has_tohost());
}

#[test]
fn each_refusal_says_what_to_do() {
    let good = || elf(2, 0x10000, &[text()]);
    let with = |at: usize, bytes: &[u8]| {
        let mut file = good();
        put(&mut file, at, bytes);
        error(file)
    };
    assert!(error(vec![]).contains("it is empty"));
    assert!(error(b"#!/bin/sh\n".to_vec()).contains("it is a script"));
    assert!(error(b"\x7fELF\x02\x01".to_vec()).contains("truncated"));
    assert!(error(good()[..63].to_vec()).contains("the ELF header ends at byte 64 of 63"));
    assert!(error(good()[..100].to_vec()).contains("table of program headers"));
    assert!(error(good()[..121].to_vec()).contains("a loadable segment"));
    assert!(with(4, &[1]).contains("32-bit"));
    assert!(with(5, &[2]).contains("big-endian"));
    assert!(with(18, &62u16.to_le_bytes()).contains("x86-64"));
    assert!(with(16, &1u16.to_le_bytes()).contains("link it first"));
    assert!(with(16, &4u16.to_le_bytes()).contains("core dump"));
    assert!(with(48, &8u32.to_le_bytes()).contains("RV64E"));
    assert!(with(56, &0u16.to_le_bytes()).contains("PT_LOAD"));
    assert!(with(54, &1u16.to_le_bytes()).contains("program headers of 1 bytes"));
    assert!(with(64, &2u32.to_le_bytes()).contains("PT_LOAD"));
    assert!(with(64 + 40, &u64::MAX.to_le_bytes()).contains("past the end of the address space"));
    assert!(with(64 + 40, &1u64.to_le_bytes()).contains("only 0x1 in memory"));
    assert!(with(32, &u64::MAX.to_le_bytes()).contains("truncated"));
    let overlapping = Load { vaddr: 0x10002, ..data() };
    assert!(error(elf(2, 0, &[text(), overlapping])).contains("segments 0 and 1 overlap at 0x10002"));
}

#[test]
fn a_segment_without_bytes_may_be_past_the_end_of_the_file() {
    let bss = Load { bytes: Vec::new(), ..data() };
    let mut file = elf(2, 0x10000, &[text(), bss]);
    // What ld writes for a program whose only data is `.bss`.
    put(&mut file, 64 + 56 + 8, &0x1000u64.to_le_bytes());
    assert!(file.len() < 0x1000);
    let image = Image::parse(&file[..]).unwrap();
    assert_eq!(image.contents(&image.segments[1]), []);
    assert_eq!(image.segments[1].memsz, data().memsz);
}

#[test]
fn huge_memory_sizes_cost_nothing() {
    let huge = Load { memsz: 1 << 50, ..data() };
    let image = Image::parse(elf(2, 0x10000, &[text(), huge])).unwrap();
    assert_eq!(image.span().1, 0x20000 + (1 << 50));
}

/// Gives the file a section table and a symbol table: `main` at `text`, and `tohost` behind it.
fn add_symbols(file: &mut Vec<u8>, text: u64) {
    let names = file.len();
    file.extend_from_slice(b"\0main\0tohost\0");
    let syms = file.len();
    for (name, value) in [(0u32, 0u64), (1, text), (6, text + 0x10000)] {
        let mut sym = [0u8; 24];
        put(&mut sym, 0, &name.to_le_bytes());
        sym[4] = 0x12;
        put(&mut sym, 6, &1u16.to_le_bytes());
        put(&mut sym, 8, &value.to_le_bytes());
        file.extend_from_slice(&sym);
    }
    let shoff = file.len();
    for (ty, offset, size, link) in [(0u32, 0, 0, 0u32), (2, syms, 72, 2), (3, names, syms - names, 0)] {
        let mut sh = [0u8; 64];
        put(&mut sh, 4, &ty.to_le_bytes());
        put(&mut sh, 24, &(offset as u64).to_le_bytes());
        put(&mut sh, 32, &(size as u64).to_le_bytes());
        put(&mut sh, 40, &link.to_le_bytes());
        file.extend_from_slice(&sh);
    }
    put(file, 40, &(shoff as u64).to_le_bytes());
    put(file, 60, &3u16.to_le_bytes());
}

/// Makes a segment the note that glibc's linking leaves, behind one of another kind.
fn add_note(file: &mut Vec<u8>, segment: usize) {
    file.resize(file.len().next_multiple_of(4), 0);
    let (at, start) = (64 + 56 * segment, file.len() as u64);
    for (kind, contents) in [(3u32, &[7u8; 3][..]), (1, &[0; 16])] {
        for word in [4, contents.len() as u32, kind] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.extend_from_slice(b"GNU\0");
        file.extend_from_slice(contents);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    put(file, at, &4u32.to_le_bytes());
    put(file, at + 8, &start.to_le_bytes());
    let size = file.len() as u64 - start;
    put(file, at + 32, &size.to_le_bytes());
}

#[test]
fn bare_metal_is_more_than_a_tohost() {
    let at = |base: u64| [Load { vaddr: base, ..text() }, Load { vaddr: base + 0x10000, ..data() }];
    let program = |base: u64| {
        let mut file = elf(2, base, &at(base));
        add_symbols(&mut file, base);
        file
    };
    let bare = |file: &[u8]| Image::parse(file).unwrap().looks_bare();
    let high = program(0x8000_0000);
    assert!(bare(&high));
    assert!(!bare(&program(0x10000)));
    assert!(!bare(&elf(2, 0x8000_0000, &at(0x8000_0000))));
    let mut noted = high.clone();
    add_note(&mut noted, 1);
    assert!(!bare(&noted));
    // Without the note of the ABI, or cut off before it, notes say nothing.
    let size = 64 + 56 + 32;
    put(&mut noted, size, &30u64.to_le_bytes());
    assert!(bare(&noted));
    let mut linux = high;
    linux[7] = 3;
    assert!(!bare(&linux));
}

#[test]
fn no_single_corrupted_byte_or_cut_panics() {
    let note = Load { vaddr: 0x40000, ..data() };
    let mut file = elf(3, 0x10000, &[text(), note, data()]);
    add_symbols(&mut file, 0x10000);
    add_note(&mut file, 1);
    let image = Image::parse(&file[..]).unwrap();
    assert!(image.has_tohost());
    assert_eq!(image.nearest(0x10002), Some(("main".into(), 2)));
    assert_eq!(image.nearest(0x30000), None);

    let poke = |file: &[u8]| {
        if let Ok(image) = Image::parse(file) {
            let _ = (image.looks_bare(), image.nearest(0x10002).is_some(), image.span());
            for s in &image.segments {
                let _ = image.contents(s);
            }
        }
    };
    for len in 0..file.len() {
        poke(&file[..len]);
    }
    for at in 0..file.len() {
        for value in [0x00, 0x01, 0x7f, 0x80, 0xff] {
            let mut broken = file.clone();
            broken[at] = value;
            poke(&broken);
            // And the whole eight bytes at once.
            let end = file.len().min(at + 8);
            broken[at..end].fill(value);
            poke(&broken);
        }
    }
}
