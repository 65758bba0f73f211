//! What became of one program on one testbed.

use rvv_ir::{Expected, Mismatch, Program};
use std::fmt;

/// What became of one program on one testbed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It printed what it must.
    Pass,
    /// It printed something else.
    WrongOutput(Mismatch),
    /// It ended early: a signal, a trap, a status that is not 0.
    RuntimeCrash(String),
    /// It did not end.
    RuntimeTimeout,
    /// The compiler refused it.
    BuildFailure(String),
    /// The compiler crashed.
    BuildCrash(String),
    /// The compiler did not end.
    BuildTimeout,
    /// The compiler does not have an intrinsic or extension of it, by name. Not judged.
    Unsupported(String),
}

/// The kinds of [`Outcome`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// See [`Outcome::Pass`].
    Pass,
    /// See [`Outcome::WrongOutput`].
    WrongOutput,
    /// See [`Outcome::RuntimeCrash`].
    RuntimeCrash,
    /// See [`Outcome::RuntimeTimeout`].
    RuntimeTimeout,
    /// See [`Outcome::BuildFailure`].
    BuildFailure,
    /// See [`Outcome::BuildCrash`].
    BuildCrash,
    /// See [`Outcome::BuildTimeout`].
    BuildTimeout,
    /// See [`Outcome::Unsupported`].
    Unsupported,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 8] = [
        Kind::Pass,
        Kind::WrongOutput,
        Kind::RuntimeCrash,
        Kind::RuntimeTimeout,
        Kind::BuildFailure,
        Kind::BuildCrash,
        Kind::BuildTimeout,
        Kind::Unsupported,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Pass => "pass",
            Kind::WrongOutput => "wrong output",
            Kind::RuntimeCrash => "runtime crash",
            Kind::RuntimeTimeout => "runtime timeout",
            Kind::BuildFailure => "build failure",
            Kind::BuildCrash => "build crash",
            Kind::BuildTimeout => "build timeout",
            Kind::Unsupported => "unsupported",
        }
    }

    /// From [`Kind::name`].
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| k.name() == name)
    }

    /// It concerns the build, not a run.
    pub fn is_build(self) -> bool {
        matches!(self, Kind::BuildFailure | Kind::BuildCrash | Kind::BuildTimeout | Kind::Unsupported)
    }
}

impl Outcome {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Outcome::Pass => Kind::Pass,
            Outcome::WrongOutput(_) => Kind::WrongOutput,
            Outcome::RuntimeCrash(_) => Kind::RuntimeCrash,
            Outcome::RuntimeTimeout => Kind::RuntimeTimeout,
            Outcome::BuildFailure(_) => Kind::BuildFailure,
            Outcome::BuildCrash(_) => Kind::BuildCrash,
            Outcome::BuildTimeout => Kind::BuildTimeout,
            Outcome::Unsupported(_) => Kind::Unsupported,
        }
    }

    /// What there is to say about it beyond its kind.
    pub fn detail(&self) -> String {
        match self {
            Outcome::WrongOutput(m) => format!("buffer {} element {}", m.buffer, m.element),
            Outcome::RuntimeCrash(text)
            | Outcome::BuildFailure(text)
            | Outcome::BuildCrash(text)
            | Outcome::Unsupported(text) => text.clone(),
            _ => String::new(),
        }
    }

    /// The buffer that a [`detail`](Outcome::detail) of wrong output names: the store keeps no more of it
    /// than that text.
    pub fn buffer_in(detail: &str) -> Option<usize> {
        detail.strip_prefix("buffer ")?.split_whitespace().next()?.parse().ok()
    }

    /// What a complete run means: it printed `printed`.
    pub fn judge(program: &Program, expected: &Expected, printed: &[u8]) -> Outcome {
        match expected.judge(program, printed) {
            None => Outcome::Pass,
            Some(mismatch) => Outcome::WrongOutput(mismatch),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().name())?;
        let detail = self.detail();
        if detail.is_empty() { Ok(()) } else { write!(f, ": {detail}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrong_buffer_is_read_back_from_the_detail() {
        let wrong = Outcome::WrongOutput(Mismatch { buffer: 12, element: 1 });
        assert_eq!(Outcome::buffer_in(&wrong.detail()), Some(12));
        assert_eq!(Outcome::buffer_in("program 3 must print the same"), None);
    }
}
