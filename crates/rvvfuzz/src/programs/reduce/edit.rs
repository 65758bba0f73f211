//! Changes of a program that can be made together, so that many are tried at once.

use rvv_ir::data::Init;
use rvv_ir::tidy::{each_stmt, substitute, tidy};
use rvv_ir::{Arg, Buffer, Expr, Node, Program, Stmt, Var};

/// A change. Places and numbers are those of the program before it.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// A statement, and what comes in its place.
    pub replace: Option<(Node, Vec<Stmt>)>,
    /// A variable of `main`, and what comes in its place wherever it is read.
    pub literal: Option<(Var, u64)>,
    /// A buffer that the new statements use as the one after the last.
    pub add: Option<Buffer>,
    /// A buffer by its number, and what it is instead.
    pub buffer: Option<(usize, Buffer)>,
    /// An element of a buffer with literal values that becomes zero.
    pub zero: Option<(usize, usize)>,
    /// A parameter of the program by its number, and its value.
    pub param: Option<(usize, u64)>,
}

impl Edit {
    /// Puts others in a statement's place.
    pub fn replace(node: &Node, by: Vec<Stmt>) -> Edit {
        Edit { replace: Some((node.clone(), by)), ..Edit::default() }
    }

    /// Takes a statement out.
    pub fn remove(node: &Node) -> Edit {
        Edit::replace(node, Vec::new())
    }

    /// Whether both change the same thing, so that only one of them can be made.
    fn excludes(&self, other: &Edit) -> bool {
        fn same<A: PartialEq, B>(a: &Option<(A, B)>, b: &Option<(A, B)>) -> bool {
            matches!((a, b), (Some((a, _)), Some((b, _))) if a == b)
        }
        let nested = matches!((&self.replace, &other.replace), (Some((a, _)), Some((b, _)))
            if a.function == b.function && (a.path.starts_with(&b.path) || b.path.starts_with(&a.path)));
        nested
            || same(&self.literal, &other.literal)
            || same(&self.buffer, &other.buffer)
            || same(&self.param, &other.param)
    }
}

/// The program with as many of the changes as go together, those that come first preferred. `None` if it
/// cannot be made whole.
pub fn apply(program: &Program, edits: &[&Edit]) -> Option<Program> {
    let mut made: Vec<&Edit> = Vec::new();
    for edit in edits {
        if !made.iter().any(|m| m.excludes(edit)) {
            made.push(edit);
        }
    }
    let first_new = program.buffers.len();
    let mut changed = program.clone();
    for (number, buffer) in made.iter().filter_map(|e| e.buffer.as_ref()) {
        changed.buffers[*number] = buffer.clone();
    }
    for (number, at) in made.iter().filter_map(|e| e.zero) {
        if let Init::Data(data) = &mut changed.buffers[number].init
            && let Some(value) = data.get_mut(at)
        {
            *value = 0;
        }
    }
    for (number, value) in made.iter().filter_map(|e| e.param) {
        changed.params[number].1 = value;
    }
    let mut replaced: Vec<(&Node, Vec<Stmt>)> = Vec::new();
    for edit in &made {
        let number = changed.buffers.len();
        let added = edit.add.as_ref().map(|b| Buffer { name: format!("cut{number}"), ..b.clone() });
        changed.buffers.extend(added);
        if let Some((node, by)) = &edit.replace {
            let mut by = by.clone();
            each_stmt(&mut by, &mut |s| {
                let Stmt::Call(call) = s else { return };
                for arg in &mut call.args {
                    if let Arg::Addr(buffer, _) = arg
                        && *buffer == first_new
                    {
                        *buffer = number;
                    }
                }
            });
            replaced.push((node, by));
        }
    }
    // From the end, so that the places of the others stay.
    replaced.sort_by(|(a, _), (b, _)| (b.function, &b.path).cmp(&(a.function, &a.path)));
    for (node, by) in replaced {
        changed.replace(node, by).then_some(())?;
    }
    for (var, value) in made.iter().filter_map(|e| e.literal) {
        each_stmt(&mut changed.main.body, &mut |s| substitute(s, var, &Expr::Const(value)));
    }
    tidy(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rvv_ir::tidy::nodes;

    const PROGRAM: &str = "rvv-ir 1
data in0: u32[4] = [0x1, 0x2, 0x3, 0x4]
out out0: u32[4] = zero
out out1: u32[4] = zero

main {
  var v0: u32m1
  var v1: u32m1
  v0 = vle32_v_u32m1(&in0[0], 4)
  v1 = vadd_vx_u32m1(v0, 0x5, 4)
  vse32_v_u32m1(&out0[0], v1, 4)
  vse32_v_u32m1(&out1[0], v0, 4)
}
";

    #[test]
    fn changes_are_made_together_and_of_two_to_one_statement_the_first() {
        let program: Program = PROGRAM.parse().unwrap();
        assert_eq!(program.to_string(), PROGRAM);
        let nodes = nodes(&program);
        let again = |n: usize, from: usize| {
            let mut stmt = nodes[n].find(&program).unwrap().clone();
            let Stmt::Call(call) = &mut stmt else { panic!() };
            call.args[0] = Arg::Addr(from, Expr::Const(0));
            stmt
        };
        let buffer = |len: usize| Buffer { len, ..program.buffers[1].clone() };
        // Both new buffers are the third as far as their statements know.
        let edits = [
            Edit { add: Some(buffer(7)), ..Edit::replace(&nodes[2], vec![again(2, 3)]) },
            Edit::remove(&nodes[2]),
            Edit { add: Some(buffer(8)), ..Edit::replace(&nodes[3], vec![again(3, 3), again(2, 0)]) },
            Edit { zero: Some((0, 1)), ..Edit::default() },
            Edit { zero: Some((0, 2)), ..Edit::default() },
        ];
        let changed = apply(&program, &edits.each_ref()).unwrap();
        let expected = "rvv-ir 1
data in0: u32[4] = [0x1, 0x0, 0x0, 0x4]
out cut3: u32[7] = zero
out cut4: u32[8] = zero

main {
  var v0: u32m1
  var v1: u32m1
  v0 = vle32_v_u32m1(&in0[0], 4)
  v1 = vadd_vx_u32m1(v0, 0x5, 4)
  vse32_v_u32m1(&cut3[0], v1, 4)
  vse32_v_u32m1(&cut4[0], v0, 4)
  vse32_v_u32m1(&in0[0], v1, 4)
}
";
        assert_eq!(changed.to_string(), expected);
    }
}
