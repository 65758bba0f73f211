use super::*;
use crate::programs::settings::CompilerSettings;
use rvv_intrinsics::{all, sem::Sem};
use std::collections::BTreeMap;

/// A verdict of a campaign, as it was observed.
#[derive(Clone, Deserialize)]
struct Stored {
    family: String,
    version: String,
    levels: BTreeSet<String>,
    symptom: String,
    detail: String,
    ir: String,
    /// The faults whose change of the program made it pass.
    #[serde(default)]
    gone: Vec<String>,
    /// What it is, as its reduced program and the code of the compiler show.
    fault: Option<String>,
}

/// Verdicts of campaigns on gcc 14.2 to 16.2 and clang 17 to 23, a line each.
const VERDICTS: &str = include_str!("../../../tests/data/verdicts.jsonl");

fn verdicts() -> Vec<Stored> {
    VERDICTS.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The known fault that a stored verdict is taken for.
fn claimed(stored: &Stored) -> Option<String> {
    let settings = CompilerSettings {
        name: "cc".into(),
        version: stored.version.clone(),
        family: stored.family.clone(),
        command: vec!["cc".into()],
        linker: None,
    };
    let symptom = Kind::from_name(&stored.symptom).unwrap();
    let verdict = Verdict {
        buffer: crate::programs::judge::outcome::Outcome::buffer_in(&stored.detail),
        ..Verdict::new(Culprit::Compiler("cc".into()), symptom, stored.detail.clone())
    };
    let (compiler, program) = (settings.compiler().unwrap(), stored.ir.parse().unwrap());
    let levels = stored.levels.clone();
    let seen = Observation { compiler: &compiler, levels, verdict: &verdict, program: &program };
    seen.fault(&mut |fault, _| stored.gone.contains(&fault.name))
}

#[test]
fn the_list_is_well_formed() {
    assert!(faults().len() >= 20, "{}", faults().len());
    let names: BTreeSet<&str> = faults().iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names.len(), faults().len());
    let intrinsics: Vec<&str> = all().iter().filter_map(|i| i.name.strip_prefix("__riscv_")).collect();
    let sems: BTreeSet<&str> = all().iter().map(|i| Sem::name(i.sem)).collect();
    for fault in faults() {
        let name = &fault.name;
        assert!(!fault.compilers.is_empty() && !fault.levels.is_empty(), "{name}");
        assert!(fault.levels.iter().all(|l| l.starts_with("-O")), "{name}");
        assert!(fault.symptoms.iter().all(|s| Kind::from_name(s).is_some()), "{name}");
        assert!(fault.compilers.iter().all(|v| ["gcc", "clang"].contains(&v.family.as_str())), "{name}");
        assert!(fault.maker.iter().all(|m| sems.contains(m.as_str())), "{name}: {:?}", fault.maker);
        // Something beyond the symptom, which any other fault may have.
        let says = !fault.site.is_empty()
            || !fault.says.is_empty()
            || !fault.maker.is_empty()
            || fault.gone.is_some();
        assert!(says, "{name}: what is it recognised by?");
        for feature in [&fault.has, &fault.trigger].into_iter().flatten() {
            assert!(feature.statement.is_some() == feature.calls.is_empty(), "{name}");
            for pattern in &feature.calls {
                assert!(intrinsics.iter().any(|i| glob(pattern, i)), "{name}: {pattern} is no intrinsic");
            }
        }
        for (from, to) in fault.gone.iter().flat_map(|p| &p.replace) {
            let of = |prefix: &String| intrinsics.iter().filter(|i| i.starts_with(prefix.as_str())).count();
            assert!(of(from) > 0 && of(to) > 0, "{name}");
        }
    }
}

#[test]
fn each_recogniser_claims_its_fault_and_nothing_else() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (line, stored) in verdicts().iter().enumerate() {
        let claimed = claimed(stored);
        assert_eq!(claimed, stored.fault, "line {}: {}", line + 1, stored.detail);
        for name in claimed.iter().flat_map(|names| names.split(" + ")) {
            *seen.entry(name.to_string()).or_default() += 1;
        }
    }
    let missing: Vec<&str> =
        faults().iter().map(|f| f.name.as_str()).filter(|n| !seen.contains_key(*n)).collect();
    assert!(missing.is_empty(), "no stored verdict shows {missing:?}");
}

#[test]
fn another_compiler_or_another_level_is_another_fault() {
    for stored in verdicts().iter().filter(|s| s.fault.is_some()) {
        let old = Stored { version: "9.1.0".into(), ..stored.clone() };
        assert_eq!(claimed(&old), None);
        let family = if stored.family == "gcc" { "custom" } else { "gcc" };
        let other = claimed(&Stored { family: family.into(), ..stored.clone() });
        assert_ne!(other, stored.fault, "{}", stored.detail);
        let level = Stored { levels: BTreeSet::from(["-O9".to_string()]), ..stored.clone() };
        assert_eq!(claimed(&level), None);
        // A change that does not help is no proof.
        let probed =
            stored.fault.iter().flat_map(|f| f.split(" + ")).filter_map(by_name).any(|f| f.gone.is_some());
        if probed && !stored.gone.is_empty() {
            assert_ne!(claimed(&Stored { gone: Vec::new(), ..stored.clone() }), stored.fault);
        }
    }
}

#[test]
fn hostile_messages_are_nobodys_fault() {
    let mut one = verdicts().swap_remove(0);
    let long = "norm:".repeat(1 << 18);
    for detail in ["", "`", "norm:", "\u{1b}[31m", "buffer 99999999999999999999 element 1", "buffer 7", &long]
    {
        for symptom in Kind::ALL {
            for family in ["gcc", "clang"] {
                one.detail = detail.to_string();
                one.symptom = symptom.name().to_string();
                one.family = family.to_string();
                one.gone.clear();
                assert_eq!(claimed(&one), None, "{symptom:?}");
            }
        }
    }
}

#[test]
fn a_program_without_a_trigger_has_none_and_a_meaning() {
    use rvv_oracle::{Options, VlChoice, evaluate};
    let plan = rvvgen::Plan::new(5, &rvvgen::Selection::default(), 10, 128);
    let weights = rvvgen::Weights::policy("control").unwrap();
    let settings = rvvgen::Settings { weights, ..rvvgen::Settings::default() };
    let mut removed = 0;
    for k in 0..60 {
        let program = rvvgen::generate(&plan, k, &settings).unwrap().program;
        for trigger in faults().iter().filter_map(|f| f.trigger.as_ref()) {
            if trigger.places(&program).is_empty() {
                continue;
            }
            let Some(rest) = trigger.without(&program, &[(128, VlChoice::Max)]) else { continue };
            removed += 1;
            assert!(trigger.places(&rest).is_empty(), "{rest}");
            assert!(rest.check().is_ok() && evaluate(&rest, &Options::new(128)).is_ok());
        }
    }
    assert!(removed > 20, "{removed}");
}

#[test]
fn what_crashes_a_compiler_is_known_by_version_and_level() {
    let build = |family: &str, version: &str, level: &str| {
        let settings = CompilerSettings {
            name: "cc".into(),
            version: version.into(),
            family: family.into(),
            command: vec!["cc".into()],
            linker: None,
        };
        Build::new(&settings.compiler().unwrap(), &[level.to_string()])
    };
    // A tuple parameter and a choice of tuples; -O0 takes them, and so does clang 19.
    assert!(crashes_of(&build("clang", "22.1.8", "-O2")).len() >= 2);
    assert!(crashes_of(&build("clang", "22.1.8", "-O0")).is_empty());
    assert!(crashes_of(&build("clang", "19.1.7", "-O2")).is_empty());
    // Lines that the assembler refuses are no crash: they cost the others in a unit little.
    assert!(crashes_of(&build("gcc", "16.2.0", "-O2")).is_empty());
    assert_eq!(crashes_of(&build("gcc", "14.2.0", "-O2")).len(), 1);
}
