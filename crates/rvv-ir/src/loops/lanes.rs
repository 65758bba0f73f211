//! Vectors of fixed length: `vector_size` types of gcc and clang.
//!
//! Their operations are done in the type of the elements, without promotion. What they mean is said once,
//! lane by lane, by [`Lane::scalar`]; only C has the vectors.

use super::{Binary, CExpr, Unary};
use crate::Program;
use rvv_intrinsics::Elem;

/// Stores a vector to adjacent elements of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    /// How many: a power of two, from 2 to [`Lanes::MOST`].
    pub count: usize,
    /// The buffer, of one dimension.
    pub buffer: usize,
    /// The first element.
    pub at: CExpr,
    /// The vector, of the buffer's type.
    pub value: Lane,
}

impl Lanes {
    /// The most lanes.
    pub const MOST: usize = 64;
}

/// A vector.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Adjacent elements of a buffer.
    Load(usize, CExpr),
    /// A scalar in every lane, converted to this type.
    Splat(Elem, CExpr),
    /// `-a` of floats, `~a` of integers.
    Unary(Unary, Box<Lane>),
    /// An operation in the type of the elements: `+ - *` of floats and of unsigned integers, `& | ^` of
    /// integers, `<<` of unsigned integers and `>>` of integers by a literal.
    Binary(Binary, Box<Lane>, Box<Lane>),
    /// `a ⋈ b ? c : d`; all four of one width.
    Select(Binary, Box<[Lane; 4]>),
    /// Converted lane by lane.
    Convert(Elem, Box<Lane>),
    /// Lanes of `a`, numbered from 0, and of `b`, numbered after them.
    Shuffle(Box<Lane>, Box<Lane>, Vec<u8>),
    /// With one lane replaced: its number is a literal, or something `&` a literal.
    Insert(Box<Lane>, CExpr, CExpr),
}

impl Lane {
    /// The vectors it is made of.
    pub fn parts(&self) -> Vec<&Lane> {
        match self {
            Lane::Load(..) | Lane::Splat(..) => Vec::new(),
            Lane::Unary(_, a) | Lane::Convert(_, a) | Lane::Insert(a, ..) => vec![a],
            Lane::Binary(_, a, b) | Lane::Shuffle(a, b, _) => vec![a, b],
            Lane::Select(_, of) => of.iter().collect(),
        }
    }

    /// The same, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut Lane> {
        match self {
            Lane::Load(..) | Lane::Splat(..) => Vec::new(),
            Lane::Unary(_, a) | Lane::Convert(_, a) | Lane::Insert(a, ..) => vec![a],
            Lane::Binary(_, a, b) | Lane::Shuffle(a, b, _) => vec![a, b],
            Lane::Select(_, of) => of.iter_mut().collect(),
        }
    }

    /// The type of its elements.
    pub fn elem(&self, program: &Program) -> Option<Elem> {
        match self {
            Lane::Load(buffer, _) => program.buffers.get(*buffer).map(|b| b.elem),
            Lane::Splat(elem, _) | Lane::Convert(elem, _) => Some(*elem),
            Lane::Unary(_, a) | Lane::Binary(_, a, _) | Lane::Shuffle(a, ..) | Lane::Insert(a, ..) => {
                a.elem(program)
            }
            Lane::Select(_, of) => of[2].elem(program),
        }
    }

    /// Calls `f` on the scalar expressions in it.
    pub fn scalars<'l>(&'l self, f: &mut dyn FnMut(&'l CExpr)) {
        match self {
            Lane::Load(_, e) | Lane::Splat(_, e) => f(e),
            Lane::Insert(_, at, value) => {
                f(at);
                f(value);
            }
            _ => {}
        }
        self.parts().into_iter().for_each(|p| p.scalars(f));
    }

    /// The same, to be changed.
    pub fn scalars_mut<'l>(&'l mut self, found: &mut Vec<&'l mut CExpr>) {
        match self {
            Lane::Load(_, e) | Lane::Splat(_, e) => found.push(e),
            Lane::Insert(a, at, value) => {
                found.push(at);
                found.push(value);
                a.scalars_mut(found);
            }
            other => other.parts_mut().into_iter().for_each(|p| p.scalars_mut(found)),
        }
    }

    /// Calls `f` on the buffers it loads from.
    pub fn buffers_mut(&mut self, f: &mut dyn FnMut(&mut usize)) {
        if let Lane::Load(buffer, _) = self {
            f(buffer);
        }
        self.parts_mut().into_iter().for_each(|p| p.buffers_mut(f));
    }

    /// What lane `n` is, as an expression of scalars.
    pub fn scalar(&self, n: usize, count: usize, program: &Program) -> CExpr {
        let of = |lane: &Lane| lane.scalar(n, count, program);
        let elem = self.elem(program).unwrap_or(Elem::I32);
        match self {
            Lane::Load(buffer, at) => {
                let lane = CExpr::int(Elem::I32, n as i64);
                CExpr::load(*buffer, CExpr::binary(Binary::Add, at.clone(), lane))
            }
            Lane::Splat(elem, e) => CExpr::cast(*elem, e.clone()),
            Lane::Unary(op, a) => CExpr::cast(elem, CExpr::unary(*op, of(a))),
            Lane::Binary(op, a, b) => {
                // In 64 bits, lest narrow operands overflow as int; the low bits are the same.
                let wide = |e: CExpr| if elem.is_unsigned() { CExpr::cast(Elem::U64, e) } else { e };
                let right = of(b);
                let right = if matches!(op, Binary::Shl | Binary::Shr) { right } else { wide(right) };
                CExpr::cast(elem, CExpr::binary(*op, wide(of(a)), right))
            }
            Lane::Select(op, all) => {
                let [a, b, c, d] = &**all;
                CExpr::cast(elem, CExpr::select(CExpr::binary(*op, of(a), of(b)), of(c), of(d)))
            }
            Lane::Convert(elem, a) => CExpr::cast(*elem, of(a)),
            Lane::Shuffle(a, b, order) => {
                let from = usize::from(order.get(n).copied().unwrap_or(0));
                let (lane, from) = if from < count { (a, from) } else { (b, from - count) };
                lane.scalar(from, count, program)
            }
            Lane::Insert(a, at, value) => {
                let here = CExpr::binary(Binary::Eq, at.clone(), CExpr::int(Elem::I32, n as i64));
                CExpr::cast(elem, CExpr::select(here, CExpr::cast(elem, value.clone()), of(a)))
            }
        }
    }
}
