//! A bad table is an error that says where and what, never a panic.

use rvv_intrinsics::{TABLES, expand};

const HEAD: &str = "section.v = \"vector_mask_intrinsics\"\n[[group]]\n";

fn error(text: &str) -> String {
    expand(&[("x.toml", text)]).expect_err(text).to_string()
}

#[test]
fn the_tables_of_this_crate_are_good() {
    if let Err(e) = expand(TABLES) {
        panic!("{e}");
    }
}

#[test]
fn an_error_names_the_file_the_family_and_the_problem() {
    let family = |keys: &str| error(&format!("{HEAD}families = [{{ name = \"vfoo\", {keys} }}]"));
    let good = "types = \"int\", forms = { vv = \"T vs2\" }, sem = \"add\"";
    assert_eq!(family("forms = { vv = \"T vs2\" }"), "isa/intrinsics/x.toml: vfoo: `sem` is missing");
    assert_eq!(family(good), "isa/intrinsics/x.toml: vfoo: there is no instruction `vfoo.vv`");
    for (wrong, says) in [
        ("sem = \"what\", forms = { vv = \"T vs2\" }", "`what` is no Sem"),
        ("sem = \"add\", types = \"int\"", "`forms` is missing"),
        ("sem = \"add\", types = \"int\", forms = { vv = \"X vs2\" }", "`X` is not a type"),
        ("sem = \"add\", types = \"int\", forms = { vv = \"T vs9\" }", "no parameter is called `vs9`"),
        ("sem = \"add\", types = \"int\", forms = { vv = \"third(T) vs2\" }", "is called `third`"),
        (
            "sem = \"add\", types = \"i7\", forms = { vv = \"T vs2\" }, instruction = \"none\"",
            "`i7` is no set",
        ),
        ("sem = \"add\", types = \"int\", forms = { vv = \"T\" }", "`T` has no name"),
        (
            "sem = \"add\", types = \"int\", forms = { vv = \"T vs2\" }, instruction = \"none\", variants \
             = \"x\"",
            "`x` is no variant",
        ),
        (
            "sem = \"add\", types = \"int\", forms = { vv = \"T vs2\" }, instruction = \"none\", eew = [7]",
            "`7` is no EEW",
        ),
        (
            "sem = \"add\", types = \"bf16\", forms = { vv = \"T vs2\" }, instruction = \"none\"",
            "no section for bf16",
        ),
        (
            "sem = \"add\", types = \"float\", forms = { vv = \"T vs2\" }, rm = true, vl = false",
            "`rm` puts frm before `vl`",
        ),
        (
            "sem = \"add\", types = \"int\", source = \"smaller\", forms = { vv = \"S v...\" }",
            "`v...` are the fields",
        ),
        (
            "sem = \"add\", types = \"mask\", forms = { vv = \"T vs2\" }, instruction = \"vle{sew}.v\"",
            "no instruction `vle{sew}.v`",
        ),
    ] {
        let message = family(wrong);
        assert!(message.starts_with("isa/intrinsics/x.toml: vfoo: "), "{message}");
        assert!(message.contains(says), "{message} should say {says}");
    }
}

#[test]
fn a_file_that_is_not_a_table_is_an_error() {
    assert!(error("[[group").contains("isa/intrinsics/x.toml: TOML parse error"));
    assert!(error(&format!("{HEAD}colour = \"red\"")).contains("unknown field `colour`"));
    let braces = "families = [{ name = \"v{nf}\", types = \"mask\", sem = \"add\", forms = { v = \"\" }, \
                  instruction = \"none\" }]";
    assert!(error(&format!("{HEAD}{braces}")).contains("v{nf}: nothing replaces the braces"));
    assert!(error("section.v = \"poetry\"").contains("no section `poetry`"));
    assert!(error("section.q = \"vector_mask_intrinsics\"").contains("there is no list `q`"));
}
