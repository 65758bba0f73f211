//! Features of what compilers say of their work.

use super::code::Owners;
use super::feature::{Counts, Source};
use crate::programs::testbed::ask::Answers;
use crate::programs::testbed::blame::places;
use rvv_tools::records::{clang_change, clang_records, gcc_counters, gcc_messages};

/// Records that every function has, or nearly: they tell no program from another.
const OF_ALL: [&str; 2] = ["asm-printer", "prologepilog"];

/// Adds what was said of each program. What is said of functions that are no program's is left out.
pub(super) fn count(answers: &Answers, owners: &Owners, counts: &mut [Counts]) {
    let mut add = |program: Option<usize>, source, what: String, times| {
        if let Some(counts) = program.and_then(|p| counts.get_mut(p)) {
            counts.add_times(source, what, times);
        }
    };
    for record in clang_records(&answers.records).filter(|r| !OF_ALL.contains(&r.pass)) {
        let what = format!("{} {}/{}", record.sort.to_lowercase(), record.pass, record.name);
        add(owners.of(record.function), Source::Record, what, 1);
    }
    for change in answers.changes.lines().filter_map(clang_change) {
        let title = change.title.map(|t| format!(" ({t})")).unwrap_or_default();
        for function in &change.functions {
            let what = format!("{}{title} changed it", change.pass);
            add(owners.of(function), Source::Pass, what, 1);
        }
    }
    for counter in gcc_counters(&answers.counters) {
        let what = format!("{}/{}", counter.pass, counter.name);
        add(owners.of(counter.function), Source::Counter, what, counter.times);
    }
    let programs = program_of_lines(&answers.text, owners.programs());
    for (line, what) in gcc_messages(&answers.messages) {
        add(programs.get(line.wrapping_sub(1)).copied().flatten(), Source::Message, what, 1);
    }
}

/// The program that each line of a C file is in.
fn program_of_lines(text: &str, count: usize) -> Vec<Option<usize>> {
    let places = places(text, count);
    let mut at = 0;
    let mut of = |line: &str| {
        let here = at;
        at += line.len();
        places.iter().position(|place| place.contains(&here))
    };
    text.split_inclusive('\n').map(&mut of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::code::tests::{clang, programs};
    use super::*;
    use crate::programs::features::Feature;
    use crate::programs::testbed::Build;
    use crate::programs::testbed::ask::{Asks, Passes, ask};
    use crate::programs::testbed::compiler::Limits;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rvv_ir::Program;
    use rvv_ir::c::{COptions, emit};

    fn two() -> Vec<Program> {
        programs(2)
    }

    fn counted(answers: &Answers, programs: &[Program]) -> Vec<Vec<String>> {
        let owners = Owners::new(&programs.iter().collect::<Vec<_>>());
        let mut counts: Vec<Counts> = programs.iter().map(|_| Counts::default()).collect();
        count(answers, &owners, &mut counts);
        let names = |c: Counts| c.features("x").iter().map(Feature::to_string).collect();
        counts.into_iter().map(names).collect()
    }

    fn sample() -> (Answers, Vec<Program>) {
        let programs = two();
        let text = emit(&programs.iter().collect::<Vec<_>>(), &COptions::default());
        let line = text.lines().position(|l| l.starts_with("/* Program 1 */")).unwrap() + 3;
        let answers = Answers {
            records:
                "--- !Passed\nPass: licm\nName: Hoisted\nFunction: p1_program\n...\n--- !Passed\nPass: licm\n\
                      Name: Hoisted\nFunction: memcpy\n...\n"
                    .to_string(),
            changes: "*** IR Dump After Machine LICM (machinelicm) on p0_program ***\n".repeat(3),
            counters: "1 vect \"Vectorized loops\" \"p1_program.part.0\" 5\n".to_string(),
            messages: format!(
                "p.c:{line}:1: optimized: loop vectorized using 16 byte vectors\np.c:1:1: optimized: x\n"
            ),
            text,
            ..Answers::default()
        };
        (answers, programs)
    }

    #[test]
    fn what_is_said_is_the_programs_that_it_is_said_of() {
        let (answers, programs) = sample();
        let found = counted(&answers, &programs);
        assert_eq!(found[0], ["x pass: machinelicm (Machine LICM) changed it ×3"]);
        let mut second = found[1].clone();
        second.sort();
        assert_eq!(
            second,
            [
                "x counter: vect/Vectorized loops ×4-7",
                "x message: loop vectorized ×1",
                "x record: passed licm/Hoisted ×1"
            ]
        );
    }

    #[test]
    fn mangled_answers_are_read_or_not() {
        let (good, programs) = sample();
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut mangle = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..rng.random_range(0..6) {
                let at = rng.random_range(0..bytes.len().max(1)).min(bytes.len().saturating_sub(1));
                match rng.random_range(0..4) {
                    _ if bytes.is_empty() => {}
                    0 => bytes.truncate(at),
                    1 => drop(bytes.splice(at..at, *b"99999999999999999999")),
                    2 => drop(bytes.splice(at..at, "\"é -- *** \n".bytes())),
                    _ => bytes[at] = rng.random(),
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        };
        for _ in 0..300 {
            let answers = Answers {
                records: mangle(&good.records),
                changes: mangle(&good.changes),
                counters: mangle(&good.counters),
                messages: mangle(&good.messages),
                text: mangle(&good.text),
                elf: Vec::new(),
            };
            assert!(counted(&answers, &programs).iter().flatten().count() < 16);
        }
    }

    #[test]
    fn clang_is_asked_and_answers() {
        let Some(clang) = clang() else { return };
        let mut all = two();
        let build = Build::new(&clang, &["-O2".to_string()]);
        let asks = Asks { records: true, passes: Passes::Some };
        all.retain(|p| ask(&build, &[p], asks, &Limits::default()).is_ok());
        let list: Vec<&Program> = all.iter().collect();
        let answers = ask(&build, &list, asks, &Limits::default()).unwrap();
        assert!(answers.elf.len() > 1000 && answers.counters.is_empty());
        for names in counted(&answers, &all) {
            let has = |what: &str| assert!(names.iter().any(|n| n.contains(what)), "{what}: {names:#?}");
            has("riscv-insert-vsetvli (RISC-V Insert VSETVLI pass) changed it");
            has("x record: ");
        }
        // A dump of all that is compiled is not kept.
        assert!(answers.changes.len() < 100_000);
        let bad = Build::new(&clang, &["-O2".to_string(), "-funknown".to_string()]);
        assert!(ask(&bad, &list, asks, &Limits::default()).unwrap_err().contains("unknown argument"));
    }
}
