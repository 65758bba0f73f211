//! A program that is changed statement by statement, and places in it that stay known.

use rvv_ir::{Node, Program, Stmt};

/// A program, and places that are followed while statements come and go.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    pub program: Program,
    /// Statements of interest, by their places now.
    pub places: Vec<Node>,
}

/// Whether a place is at, inside or after a statement of the same block; then its step there.
fn step_from(place: &Node, node: &Node) -> Option<usize> {
    let last = node.path.len().checked_sub(1)?;
    let here = place.function == node.function && place.path.get(..last) == node.path.get(..last);
    place.path.get(last).copied().filter(|step| here && *step >= node.path[last])
}

impl Followed {
    pub fn new(program: Program) -> Followed {
        Followed { program, places: Vec::new() }
    }

    /// From now on this place is followed.
    pub fn follow(&mut self, node: Node) {
        if !self.places.contains(&node) {
            self.places.push(node);
        }
    }

    /// Puts statements before the one at a place, and follows them. False if there is no such place.
    pub fn insert(&mut self, before: &Node, these: Vec<Stmt>) -> bool {
        let count = these.len();
        if !self.program.insert(before, these) {
            return false;
        }
        let Some(last) = before.path.len().checked_sub(1) else { return false };
        for place in &mut self.places {
            if step_from(place, before).is_some() {
                place.path[last] += count;
            }
        }
        for i in 0..count {
            let mut node = before.clone();
            node.path[last] += i;
            self.follow(node);
        }
        true
    }

    /// Puts others in a statement's place. Who follows the statement, or something inside it, follows the
    /// first of them; nobody if there is none. False if there is no such place.
    pub fn replace(&mut self, node: &Node, by: Vec<Stmt>) -> bool {
        let count = by.len();
        if !self.program.replace(node, by) {
            return false;
        }
        let last = node.path.len() - 1;
        self.places.retain_mut(|place| match step_from(place, node) {
            Some(step) if step == node.path[last] => {
                place.path.truncate(last + 1);
                count > 0
            }
            Some(step) => {
                place.path[last] = step - 1 + count;
                true
            }
            None => true,
        });
        self.places.dedup();
        true
    }

    /// Takes a statement out. False if there is none at that place.
    pub fn remove(&mut self, node: &Node) -> bool {
        self.replace(node, Vec::new())
    }

    /// Takes a function out, and the statements that call it. False if there is none of that number.
    pub fn remove_function(&mut self, number: usize) -> bool {
        if number >= self.program.functions.len() {
            return false;
        }
        let calls = |s: &Stmt| matches!(s, Stmt::Invoke { function, .. } if *function == number);
        for node in rvv_ir::tidy::nodes(&self.program).into_iter().rev() {
            if node.find(&self.program).is_some_and(calls) {
                self.remove(&node);
            }
        }
        self.places.retain(|p| p.function != number);
        self.places.iter_mut().for_each(|p| p.function -= usize::from(p.function > number));
        self.program.remove_function(number)
    }

    /// Without declarations that nothing uses. False if the program breaks a rule that no statement is at
    /// fault for.
    pub fn tidy(&mut self) -> bool {
        let names: Vec<String> = self.program.functions.iter().map(|f| f.name.clone()).collect();
        while let Err(error) = self.program.check() {
            if !self.remove(&error.node) {
                return false;
            }
        }
        let Some(tidied) = rvv_ir::tidy::tidy(std::mem::take(&mut self.program)) else { return false };
        self.program = tidied;
        let number = |place: &Node| match names.get(place.function) {
            Some(name) => self.program.functions.iter().position(|f| f.name == *name),
            None => Some(self.program.functions.len()),
        };
        self.places.retain_mut(|place| match number(place) {
            Some(now) => {
                place.function = now;
                true
            }
            None => false,
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "rvv-ir 1
out to: u64[4] = zero
param p: u64 = 0x3
param n: size = 2

fn f(a: u64) {
  put to[0] = a
}

main {
  var i: size
  put to[1] = p
  if p == 0x3 {
    put to[2] = p
    put to[3] = p
  } else {
    put to[0] = p
  }
  call f(p)
  for n as i {
    put to[i] = p
  }
}
";

    fn place(function: usize, path: &[usize]) -> Node {
        Node { function, path: path.to_vec() }
    }

    #[test]
    fn places_are_followed_while_statements_come_and_go() {
        let mut it = Followed::new(TEXT.parse().unwrap());
        let all = rvv_ir::tidy::nodes(&it.program);
        all.iter().for_each(|n| it.follow(n.clone()));
        let statements = |it: &Followed| -> Vec<String> {
            it.places.iter().map(|n| format!("{:?}", n.find(&it.program).unwrap())).collect()
        };
        let before = statements(&it);
        // Something new before the `if`, and its last branch goes.
        let new = Stmt::SetFrm(1);
        assert!(it.insert(&place(1, &[1]), vec![new.clone(), new]));
        assert_eq!(statements(&it)[..before.len()], before[..]);
        assert_eq!(it.places[before.len()..], [place(1, &[1]), place(1, &[2])]);
        assert!(it.remove(&place(1, &[3, 2])));
        assert_eq!(it.places.len(), before.len() + 1);
        // The function goes, and its call: what it did is followed no more.
        assert!(it.remove_function(0));
        assert_eq!(it.places.len(), before.len() - 1);
        assert!(it.places.iter().all(|p| p.find(&it.program).is_some()));
        assert_eq!(it.places[it.places.len() - 3], place(0, &[4, 0]));
        // A statement with something inside becomes another.
        assert!(it.replace(&place(0, &[4]), vec![Stmt::SetFrm(0)]));
        assert!(it.places.contains(&place(0, &[4])) && !it.places.contains(&place(0, &[4, 0])));
        assert!(!it.remove(&place(0, &[9])) && !it.remove(&place(0, &[])));
    }
}
