//! Programs that must not compile: a generated program with one defect.
//!
//! A compiler that crashes on one, or does not end, is wrong at once. One that accepts it is wrong if the
//! rule says so; each defect names its rule. The program without the defect is there too, so that a compiler
//! that refuses both is known to lack something else.

mod edit;

use crate::rng::Rng;
use crate::{GenerateError, Plan, Settings, generate};
use edit::Edited;
use rvv_ir::c::{emit_function, march};

macro_rules! defects {
    ($( $(#[doc = $doc:literal])* $variant:ident = $name:literal, $rule:literal; )*) => {
        /// What is wrong with a program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Defect {
            $( $(#[doc = $doc])* $variant, )*
        }

        impl Defect {
            /// All of them.
            pub const ALL: &[Defect] = &[ $( Defect::$variant, )* ];

            /// As reports spell it.
            pub fn name(self) -> &'static str {
                match self { $( Defect::$variant => $name, )* }
            }

            /// What forbids it.
            pub fn rule(self) -> &'static str {
                match self { $( Defect::$variant => $rule, )* }
            }
        }
    };
}

defects! {
    /// A constant that no instruction has room for: an immediate, a rounding mode, the index of a part.
    OutOfRange = "constant-out-of-range",
        "intrinsic specification, \"Control of vxrm\", \"Control of frm\": the operand is a constant that maps to \
         one of the rounding modes; vget and vset: the index of a part there is; uimm: five bits";
    /// A variable where a constant has to be.
    NotConstant = "not-a-constant",
        "intrinsic specification, \"Control of vxrm\", \"Explicit-frm intrinsics\": the operand is required to be \
         an integer constant expression; so are the immediates of instructions and the index of a part";
    /// The last argument is missing.
    MissingArgument = "missing-argument",
        "C23 6.5.3.3: the number of arguments shall agree with the number of parameters";
    /// An argument too many.
    ExtraArgument = "extra-argument",
        "C23 6.5.3.3: the number of arguments shall agree with the number of parameters";
    /// A vector, mask or tuple of another type.
    OtherType = "other-vector-type",
        "intrinsic specification, \"Type system\": the RVV intrinsics are designed to be strongly-typed";
    /// A number where a vector has to be.
    NoVector = "number-for-a-vector",
        "intrinsic specification, \"Type system\": the RVV intrinsics are designed to be strongly-typed";
    /// A vector as `vl`.
    LengthOfVector = "vector-as-vl",
        "C23 6.5.3.3: each argument shall have a type such that its value may be assigned to the parameter, \
         here size_t";
    /// The result goes into a variable of another type.
    OtherResult = "result-of-another-type",
        "C23 6.5.17.2: the operands of an assignment have compatible types, or types that convert implicitly";
    /// A name that the lists do not have.
    NoSuchName = "no-such-intrinsic",
        "C23 6.5.2: an identifier is a primary expression if it has been declared";
    /// The architecture lacks what a type or an intrinsic needs.
    MissingExtension = "missing-extension",
        "intrinsic specification, \"Availability\": intrinsic variants depend on the required architecture of \
         their corresponding vector instruction";
    /// An object of static storage duration.
    Static = "static-object",
        "the types are sizeless; C23 6.7: an object that is defined has a complete type";
    /// A member of a structure or union.
    Member = "member",
        "the types are sizeless; C23 6.7.3.2: a member has a complete object type";
    /// An array of vectors.
    Array = "array",
        "the types are sizeless; C23 6.7.7.3: the element type of an array shall be complete";
    /// `sizeof`.
    Sizeof = "sizeof",
        "the types are sizeless; C23 6.5.4.5: sizeof shall not be applied to an incomplete type";
    /// Arithmetic on a pointer to a vector.
    PointerArithmetic = "pointer-arithmetic",
        "the types are sizeless; C23 6.5.7: one operand is a pointer to a complete object type";
    /// A cast from one vector type to another.
    Cast = "cast",
        "C23 6.5.5: operand and type of a cast are scalar; intrinsic specification, \"Type system\": vreinterpret \
         is what goes across the types";
    /// A vector as a condition.
    Condition = "vector-as-condition",
        "C23 6.8.5.2: the controlling expression of an if statement shall have scalar type";
}

/// A program that must not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// What is wrong.
    pub defect: Defect,
    /// What is wrong, in this one.
    pub what: String,
    /// The C file. It only has to be compiled.
    pub text: String,
    /// The `-march` for it.
    pub march: String,
    /// The same without the defect.
    pub valid: String,
    /// The `-march` for that.
    pub valid_march: String,
}

/// Program number `k` of a plan, with a defect. The programs of one plan go through all kinds of defects.
///
/// # Errors
/// See [`GenerateError`].
pub fn invalid(plan: &Plan, k: u64, settings: &Settings) -> Result<Invalid, GenerateError> {
    let mut settings = settings.clone();
    settings.weights.loops = 0.0;
    settings.weights.twins = 0.0;
    let program = generate(plan, k, &settings)?.program;
    let mut rng = Rng::new(&[plan.seed(), k, 0x1a7a11d]);
    // The one whose turn it is, or else the next that this program can have: misuse of a type always can.
    let first = k as usize % Defect::ALL.len();
    let mut turns = (0..Defect::ALL.len()).map(|i| Defect::ALL[(first + i) % Defect::ALL.len()]);
    let found = turns.find_map(|defect| Some((defect, edit::with(&program, defect, &mut rng)?)));
    let (defect, Edited { valid, text, march: with, what }) =
        found.unwrap_or_else(|| (Defect::Static, edit::static_mask(&program)));
    let valid_march = march(&[&valid]);
    Ok(Invalid {
        defect,
        what,
        march: with.unwrap_or_else(|| valid_march.clone()),
        text: headed(defect, &text),
        valid: emit_function(&valid),
        valid_march,
    })
}

/// The file with its reason on top.
fn headed(defect: Defect, text: &str) -> String {
    let rule: String = defect.rule().replace("*/", "");
    format!("/* This must not compile: {}.\n   {rule}. */\n{text}", defect.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Selection, Sizes};

    fn some(count: u64) -> Vec<Invalid> {
        let plan = Plan::new(5, &Selection::default(), Sizes { least: 1, most: 8 }, 128);
        (0..count).map(|k| invalid(&plan, k, &Settings::default()).unwrap()).collect()
    }

    #[test]
    fn every_defect_is_made_and_is_the_only_difference() {
        let all = some(120);
        for &defect in Defect::ALL {
            assert!(all.iter().any(|i| i.defect == defect), "{}", defect.name());
        }
        for one in &all {
            let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<String>>();
            // The reason is the first two lines.
            let (bad, good) = (lines(&one.text).split_off(2), lines(&one.valid));
            let changed = bad.iter().filter(|l| !good.contains(l)).count();
            let most = if one.defect == Defect::MissingExtension { 0 } else { 6 };
            assert!(changed <= most, "{} lines by {:?}\n{}", changed, one.defect, one.text);
            assert!(changed > 0 || one.march != one.valid_march, "{:?}\n{}", one.defect, one.text);
        }
    }

    #[test]
    fn they_are_the_same_each_time() {
        assert_eq!(some(40), some(40));
    }
}
