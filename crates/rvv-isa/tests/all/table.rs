//! The table itself: rows against each other and against the official list.

use rvv_isa::chapter::VectorInteger;
use rvv_isa::{Access, Chapter, Class, Ext, FloatFormat, Isa, Op, VectorOp, mnemonic};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn is_inside(inner: Op, outer: Op) -> bool {
    let (inner, outer) = (inner.info(), outer.info());
    inner.mask & outer.mask == outer.mask
        && inner.match_ & outer.mask == outer.match_
        && inner.mask != outer.mask
}

fn overlap(a: Op, b: Op) -> bool {
    let (a, b) = (a.info(), b.info());
    (a.match_ ^ b.match_) & a.mask & b.mask == 0
}

fn refines(op: Op, outer: Op) -> bool {
    op.info().refines.is_some_and(|next| next == outer || refines(next, outer))
}

#[test]
fn rows_that_overlap_are_declared_refinements() {
    let mut refinements = 0;
    for a in Op::all() {
        for b in Op::all().filter(|&b| b > a && overlap(a, b)) {
            let (inner, outer) = if refines(a, b) { (a, b) } else { (b, a) };
            assert!(refines(inner, outer), "{} and {} overlap", a.name(), b.name());
            assert!(is_inside(inner, outer), "{} is not inside {}", inner.name(), outer.name());
            refinements += 1;
        }
        if let Some(outer) = a.info().refines {
            assert!(is_inside(a, outer), "{} is not inside {}", a.name(), outer.name());
        }
    }
    assert!(refinements > 15, "the test sees the refinements there are");
}

#[test]
fn bases_are_32_bit_instructions_that_are_their_own_base() {
    for op in Op::all() {
        let base = op.base();
        assert_eq!(base.base(), base, "{}", op.name());
        let itself = base == op && op == Op::CMopN;
        assert!(!base.is_compressed() || itself, "{}", op.name());
    }
}

#[test]
fn names_lead_back() {
    for op in Op::all() {
        assert_eq!(Op::from_name(op.name()), Some(op));
    }
    assert_eq!(Op::all().len(), Op::COUNT);
    for name in ["", "vadd", "VADD.VV", "zzz"] {
        assert_eq!(Op::from_name(name), None);
    }
}

/// Official extensions whose instructions we do not execute.
const LEFT_OUT: [&str; 3] = ["rv_zcmp", "rv_zcmt", "rv_zicfiss"];

/// Of the rows as [`normal`] writes them, sorted. Changes only if the official list does.
const FINGERPRINT: u64 = 0x861e_2e7f_e249_b53e;
const COUNT: usize = 791;

fn normal(name: &str, operands: &str, mask: u32, match_: u32) -> String {
    format!("{name} [{operands}] {mask:08x} {match_:08x}")
}

fn ours() -> BTreeSet<String> {
    // Drafts have a list of their own.
    let listed = Isa::default().ops().map(Op::info).filter(|info| !info.unlisted);
    listed
        .map(|info| {
            let operands: Vec<_> = info.operands.iter().map(|o| o.official_name()).collect();
            normal(info.name, &operands.join(" "), info.mask, info.match_)
        })
        .collect()
}

/// FNV-1a, which takes a few lines and no dependency.
fn fingerprint(rows: &BTreeSet<String>) -> u64 {
    let bytes = rows.iter().flat_map(|row| row.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn the_table_is_the_one_that_was_compared_with_the_official_list() {
    let ours = ours();
    assert_eq!(ours.len(), COUNT);
    assert_eq!(fingerprint(&ours), FINGERPRINT, "{:#018x}", fingerprint(&ours));
}

struct Official {
    extension: String,
    name: String,
    operands: String,
    mask: u32,
    match_: u32,
}

/// The official list, where the shared data folder is at hand.
fn official() -> Option<Vec<Official>> {
    official_list("opcodes.tsv")
}

fn official_list(name: &str) -> Option<Vec<Official>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = env::var_os("RVV_SHARED").map_or(beside, PathBuf::from);
    let text = fs::read_to_string(shared.join("isa").join(name)).ok()?;
    // A row imported from another extension gives no bits.
    let hex =
        |text: &str| text.strip_prefix("0x").map_or(0, |digits| u32::from_str_radix(digits, 16).unwrap());
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let [extension, name, operands, mask, match_] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("five columns: {line}");
        };
        Official {
            extension: extension.to_owned(),
            name: name.to_owned(),
            operands: operands.to_owned(),
            mask: hex(mask),
            match_: hex(match_),
        }
    });
    Some(rows.collect())
}

#[test]
fn the_table_is_the_official_list() {
    let Some(official) = official() else {
        eprintln!("no official list: set RVV_SHARED");
        return;
    };
    let theirs: BTreeSet<String> = official
        .iter()
        .filter(|row| !row.operands.contains("imported-from") && !LEFT_OUT.contains(&row.extension.as_str()))
        .map(|row| normal(&row.name, &row.operands, row.mask, row.match_))
        .collect();
    let ours = ours();
    let missing: Vec<_> = theirs.difference(&ours).collect();
    let extra: Vec<_> = ours.difference(&theirs).collect();
    assert!(missing.is_empty() && extra.is_empty(), "missing {missing:#?}\nextra {extra:#?}");
    for extension in LEFT_OUT {
        for row in official.iter().filter(|row| row.extension == extension) {
            assert_eq!(Op::from_name(&row.name), None, "{} is left out", row.name);
        }
    }
}

/// Experimental instructions have the bits of the list of drafts. (It writes `vs1` for the scalar of `.vx`.)
#[test]
fn experimental_instructions_are_those_of_the_drafts() {
    let Some(drafts) = official_list("draft-opcodes.tsv") else {
        eprintln!("no list of drafts: set RVV_SHARED");
        return;
    };
    for ext in Ext::all().filter(|ext| ext.is_experimental()) {
        let theirs: BTreeSet<String> = drafts
            .iter()
            .filter(|row| row.extension == format!("rv_{}", ext.name()))
            .map(|row| normal(&row.name, "", row.mask, row.match_))
            .collect();
        let rows = Op::all().map(Op::info).filter(|info| info.extension == ext.name());
        let ours: BTreeSet<String> = rows.map(|info| normal(info.name, "", info.mask, info.match_)).collect();
        assert_eq!(ours, theirs);
    }
}

/// The instruction set of an official extension name: `rv_d_zfa` is D and Zfa. None if we lack a part.
fn isa_of(extension: &str) -> Option<Isa> {
    let (_, names) = extension.split_once('_').unwrap();
    names.split('_').try_fold(Isa::rv64i(), |isa, name| match name {
        "system" => Some(isa),
        "zicbo" => Some(isa.with(Ext::Zicbom).with(Ext::Zicboz)),
        name => Ext::from_name(name).map(|ext| isa.with(ext)),
    })
}

#[test]
fn an_extension_brings_what_the_official_list_says() {
    let Some(official) = official() else {
        eprintln!("no official list: set RVV_SHARED");
        return;
    };
    let mut checked = 0;
    for row in &official {
        let (Some(op), Some(isa)) = (Op::from_name(&row.name), isa_of(&row.extension)) else { continue };
        // Compressed forms of Zcb need what they expand to as well.
        let isa = if row.extension.ends_with("_zcb") { isa.with(Ext::B).with(Ext::M) } else { isa };
        assert!(isa.allows(op.info().requires), "{isa} lacks {}", row.name);
        checked += 1;
    }
    assert!(checked > COUNT);
}

/// How many instructions an extension and all it implies bring to RV64I. A change of a requirement shows here
/// where the official list is absent; where it is there, the test above says whether the change is right.
#[test]
fn an_extension_brings_as_many_as_it_did() {
    let brings = |isa: Isa| isa.ops().count();
    let base = brings(Isa::rv64i());
    let ours: Vec<String> =
        Ext::all().map(|ext| format!("{} {}", ext.name(), brings(Isa::rv64i().with(ext)) - base)).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/data/extensions.txt");
    let recorded = fs::read_to_string(path).unwrap();
    assert_eq!(ours, recorded.lines().collect::<Vec<_>>(), "\n{}", ours.join("\n"));
    // Those that need two.
    let pair = |a, b| brings(Isa::rv64i().with(a).with(b)) - base;
    assert_eq!(pair(Ext::C, Ext::D), pair(Ext::D, Ext::Zcd));
    assert_eq!(pair(Ext::Zfa, Ext::D), pair(Ext::F, Ext::D) + 15);
    assert_eq!(pair(Ext::Zfa, Ext::Zfh), pair(Ext::F, Ext::Zfh) + 14);
    assert_eq!(pair(Ext::Zfa, Ext::Zvfh), pair(Ext::F, Ext::Zvfh) + 8);
    assert_eq!(pair(Ext::Zcb, Ext::B), pair(Ext::C, Ext::B) + 7 + 4);
    assert_eq!(pair(Ext::Zabha, Ext::Zacas), pair(Ext::Zabha, Ext::A) - 4 + 5);
}

#[test]
fn every_instruction_goes_with_its_extension() {
    let everything = Isa::everything();
    for op in Op::all() {
        let info = op.info();
        assert!(everything.allows(info.requires), "{}", info.name);
        let base = matches!(info.extension, "i") || matches!(info.name, "mret" | "wfi");
        assert_eq!(Isa::rv64i().allows(info.requires), base, "{}", info.name);
        for set in info.requires.alternatives() {
            for ext in set.iter().filter(|_| info.requires.alternatives().len() == 1) {
                assert!(!everything.without(ext).allows(info.requires), "{} without {ext:?}", info.name);
            }
        }
        assert_eq!(
            op.is_vector(),
            info.requires.alternatives().iter().all(|set| set.iter().all(brings_vectors))
        );
    }
}

fn brings_vectors(ext: Ext) -> bool {
    ext.closure().contains(Ext::Zve32x)
}

/// The manual's letters: b, h, w, d and q.
fn bytes_by_name(name: &str) -> u8 {
    let letter = match name.split('.').collect::<Vec<_>>()[..] {
        ["lr" | "sc", letter, ..] => letter,
        [amo, letter, ..] if amo.starts_with("amo") => letter,
        _ => name.trim_start_matches('f').trim_start_matches(['l', 's']),
    };
    1 << "bhwdq".find(&letter[..1]).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn accesses_are_as_wide_as_the_names_say() {
    for op in Op::all() {
        let name = op.base().name();
        let block = op.name().starts_with("cbo.") || op.name().starts_with("prefetch.");
        let expected = match op.class() {
            _ if block => Access::CacheBlock,
            Class::Load | Class::Store | Class::Atomic => Access::Bytes(bytes_by_name(name)),
            _ => Access::None,
        };
        assert_eq!(op.info().access, expected, "{}", op.name());
    }
}

#[test]
fn floating_point_sources_are_as_the_names_say() {
    for op in Op::all().filter(|op| op.class() == Class::Float) {
        // The last part of the name is the source, or the only format.
        let expected = match op.name().rsplit('.').next() {
            _ if op.name().starts_with("fli.") => None,
            Some("h") => Some(FloatFormat::H),
            Some("s") => Some(FloatFormat::S),
            Some("d") => Some(FloatFormat::D),
            Some("bf16") => Some(FloatFormat::Bf16),
            _ if op.name() == "fmv.x.w" => Some(FloatFormat::S),
            _ => None,
        };
        assert_eq!(op.info().source, expected, "{}", op.name());
    }
}

#[test]
fn scalar_floating_point_is_named_so() {
    for op in Op::all().filter(|op| !op.is_vector()) {
        let name = op.base().name();
        let float = name.starts_with('f') && !name.starts_with("fence");
        assert_eq!(op.is_float(), float, "{}", op.name());
    }
}

#[test]
fn mnemonics_lead_to_chapters() {
    assert_eq!(Op::VaddVv.chapter(), Chapter::Vector(VectorOp::Integer(mnemonic!(vadd.vv))));
    assert!(matches!(mnemonic!(vadd.vv), VectorInteger::VaddVv));
    for op in Op::all() {
        assert_eq!(op.chapter(), op.base().chapter());
        assert_eq!(matches!(op.chapter(), Chapter::Vector(_)), op.is_vector(), "{}", op.name());
    }
}

#[test]
fn the_largest_element_group_is_that_of_the_extensions() {
    for (isa, egs) in [("rv64gcv", 1), ("rv64gcv_zvkned", 4), ("rv64gcv_zvksh_zvkg", 8), ("rv64gcv_zvbb", 1)]
    {
        assert_eq!(Isa::parse(isa).unwrap().largest_group(), egs, "{isa}");
    }
}
