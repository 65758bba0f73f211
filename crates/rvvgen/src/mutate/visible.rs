//! Whether what a mutant prints depends on what was changed.

use crate::generate::{Generated, Settings};
use rvv_ir::{Contents, Expected, Node, Program, Stmt};
use rvv_oracle::{Options, evaluate, evaluate_inverted};

/// Places that are tried.
const TRIED: usize = 6;

/// Whether two runs can be told apart by what is defined in both.
fn differ(a: &Expected, b: &Expected) -> bool {
    let differs = |(a, b): (&Contents, &Contents)| {
        a.bytes.len() != b.bytes.len()
            || (0..a.bytes.len()).any(|i| (a.bytes[i] ^ b.bytes[i]) & a.defined[i] & b.defined[i] != 0)
            || a.either != b.either
    };
    a.outputs.len() != b.outputs.len() || a.outputs.iter().zip(&b.outputs).any(differs)
}

/// Whether the mutant prints something else than its parent, or would if what was changed did something else:
/// a call whose results are inverted, a statement that is not there.
pub(super) fn depends(parent: &Program, mutant: &Generated, places: &[Node], settings: &Settings) -> bool {
    let Some(expected) = mutant.expected.first() else { return false };
    let options = Options {
        vl: settings.vls.first().copied().unwrap_or_default(),
        fuel: 1_000_000,
        ..Options::new(expected.vlen)
    };
    // What is undefined in one of the two is not told apart.
    match evaluate(parent, &options) {
        Ok(before) if differ(&before, expected) => return true,
        _ => {}
    }
    let program = &mutant.program;
    let calls = program.calls();
    for place in places.iter().take(TRIED) {
        let other = match place.find(program) {
            Some(Stmt::Call(call)) if call.dst.is_some() => {
                let number = calls.iter().position(|c| std::ptr::eq(*c, call));
                number.map(|n| evaluate_inverted(program, &options, n))
            }
            _ => {
                let mut without = program.clone();
                without.remove(place);
                Some(evaluate(&without, &options))
            }
        };
        // What has no meaning any more depended on it as well.
        match other {
            Some(Ok(other)) if !differ(&other, expected) => {}
            Some(_) => return true,
            None => {}
        }
    }
    false
}
