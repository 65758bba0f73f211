//! Programs that must not compile: what compilers make of one, and which of them are wrong.

use crate::programs::testbed::compiler::{Built, Compiler, Limits, crash_site};
use rvvgen::Invalid;

/// What a compiler made of a program that must not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It refused it, as it must.
    Refused,
    /// It refused it, and the program without the defect as well: it lacks something else.
    Unjudged,
    /// It compiled it.
    Accepted,
    /// It crashed, at this place.
    Crashed(String),
    /// It did not end.
    TimedOut,
}

/// What is wrong with a compiler's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// It crashed, at this place: whatever the program is, that is wrong.
    Crash(String),
    /// It did not end.
    NoEnd,
    /// It accepted what the others refuse.
    Alone,
    /// It accepted it, and so did as many others as refused it, or more: the rule decides.
    WithOthers,
}

/// Asks the compilers. What refuses the program is asked for the one without the defect only if that matters:
/// if another accepts it.
///
/// # Errors
/// When one cannot be run.
pub fn ask_all(
    compilers: &[&Compiler],
    one: &Invalid,
    level: &str,
    limits: &Limits,
) -> Result<Vec<Answer>, String> {
    let mut answers: Vec<Answer> =
        compilers.iter().map(|c| ask(c, one, level, limits)).collect::<Result<_, _>>()?;
    if answers.contains(&Answer::Accepted) {
        let flags = [level.to_string(), "-c".to_string()];
        for (compiler, answer) in compilers.iter().zip(&mut answers).filter(|(_, a)| **a == Answer::Refused) {
            let valid = compiler.build_text(&one.valid, &one.valid_march, &flags, limits);
            if matches!(valid, Built::Failed(_) | Built::Unsupported(_)) {
                *answer = Answer::Unjudged;
            }
        }
    }
    Ok(answers)
}

fn ask(compiler: &Compiler, one: &Invalid, level: &str, limits: &Limits) -> Result<Answer, String> {
    let flags = [level.to_string(), "-c".to_string()];
    Ok(match compiler.build_text(&one.text, &one.march, &flags, limits) {
        Built::Elf(_) | Built::Unassembled(_) => Answer::Accepted,
        Built::Crashed(said) => Answer::Crashed(crash_site(&said)),
        Built::TimedOut => Answer::TimedOut,
        Built::Broken(why) => return Err(format!("{}: {why}", compiler.name)),
        Built::Failed(_) | Built::Unsupported(_) => Answer::Refused,
    })
}

/// What there is to complain of, by the compiler's place among the answers.
pub fn complaints(answers: &[Answer]) -> Vec<(usize, Complaint)> {
    let count = |is: &Answer| answers.iter().filter(|a| *a == is).count();
    let alone = count(&Answer::Refused) > count(&Answer::Accepted);
    let complaint = |answer: &Answer| match answer {
        Answer::Refused | Answer::Unjudged => None,
        Answer::Crashed(site) => Some(Complaint::Crash(site.clone())),
        Answer::TimedOut => Some(Complaint::NoEnd),
        Answer::Accepted if alone => Some(Complaint::Alone),
        Answer::Accepted => Some(Complaint::WithOthers),
    };
    answers.iter().enumerate().filter_map(|(n, a)| Some((n, complaint(a)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_wrong_at_once_and_acceptance_by_the_vote() {
        use Answer::{Accepted, Crashed, Refused, TimedOut, Unjudged};
        assert!(complaints(&[Refused, Refused, Unjudged]).is_empty());
        let all = complaints(&[Crashed("in f".into()), TimedOut, Accepted]);
        let found: Vec<Complaint> = all.into_iter().map(|(_, c)| c).collect();
        assert_eq!(found, [Complaint::Crash("in f".into()), Complaint::NoEnd, Complaint::WithOthers]);
        assert_eq!(complaints(&[Refused, Accepted, Refused]), [(1, Complaint::Alone)]);
        // Who lacks something has no voice.
        assert_eq!(complaints(&[Unjudged, Accepted, Unjudged]), [(1, Complaint::WithOthers)]);
        assert_eq!(complaints(&[Refused, Accepted])[0].1, Complaint::WithOthers);
    }
}
