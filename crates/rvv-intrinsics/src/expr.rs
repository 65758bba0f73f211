//! The types of the tables: expressions in the type variables of a family, such as `unsigned(half(T))`.

use crate::{Elem, Type, VecType};
use rvv_isa::{Lmul, Sew};

/// The values of the type variables for one member of a family.
#[derive(Clone, Copy)]
pub struct Env {
    /// `T`: a vector, a tuple or a mask.
    pub t: Type,
    /// `S`, where the family has a second one.
    pub s: Option<Type>,
    /// The width of an index, for `index(T)`.
    pub eew: Option<Sew>,
}

/// A type in terms of the variables.
#[derive(Clone, Debug)]
pub enum Expr {
    T,
    S,
    Fixed(Type),
    Apply(Fun, Box<Expr>),
}

/// What makes one type from another. Those that change the width keep SEW/LMUL.
#[derive(Clone, Copy, Debug)]
pub enum Fun {
    /// Half the width.
    Half,
    /// Twice the width.
    Double,
    Signed,
    Unsigned,
    Float,
    /// bf16, of 16-bit types only.
    Bfloat,
    /// The scalar type of an element.
    Element,
    /// A vector of one register of these elements.
    M1,
    /// The mask of as many elements.
    Mask,
    /// As many unsigned elements of the width EEW.
    Index,
    /// One field of a tuple.
    Field,
    Pointer,
    ConstPointer,
}

impl Expr {
    /// From the notation of the tables.
    pub fn parse(text: &str) -> Result<Expr, String> {
        let text = text.trim();
        if let Some(pointee) = text.strip_suffix('*') {
            if pointee.trim() == "size_t" {
                return Ok(Expr::Fixed(Type::SizePointer));
            }
            let (fun, pointee) = match pointee.trim().strip_prefix("const ") {
                Some(p) => (Fun::ConstPointer, p),
                None => (Fun::Pointer, pointee),
            };
            return Ok(Expr::Apply(fun, Box::new(Expr::parse(pointee)?)));
        }
        if let Some((fun, arg)) = text.strip_suffix(')').and_then(|s| s.split_once('(')) {
            let fun = match fun {
                "half" => Fun::Half,
                "double" => Fun::Double,
                "signed" => Fun::Signed,
                "unsigned" => Fun::Unsigned,
                "float" => Fun::Float,
                "bfloat" => Fun::Bfloat,
                "m1" => Fun::M1,
                "mask" => Fun::Mask,
                "index" => Fun::Index,
                "field" => Fun::Field,
                _ => return Err(format!("no function of types is called `{fun}`")),
            };
            return Ok(Expr::Apply(fun, Box::new(Expr::parse(arg)?)));
        }
        Ok(match text {
            "T" => Expr::T,
            "S" => Expr::S,
            "t" => Expr::Apply(Fun::Element, Box::new(Expr::T)),
            "void" => Expr::Fixed(Type::Void),
            "size_t" => Expr::Fixed(Type::Size),
            "ptrdiff_t" => Expr::Fixed(Type::Ptrdiff),
            "unsigned long" => Expr::Fixed(Type::Ulong),
            "long" => Expr::Fixed(Type::Long),
            "unsigned int" => Expr::Fixed(Type::Uint),
            _ => match Elem::ALL.into_iter().find(|e| e.c_name() == text) {
                Some(e) => Expr::Fixed(Type::Scalar(e)),
                None => return Err(format!("`{text}` is not a type")),
            },
        })
    }

    /// The type it is, if there is such a type.
    pub fn eval(&self, env: &Env) -> Option<Type> {
        match self {
            Expr::T => Some(env.t),
            Expr::S => env.s,
            Expr::Fixed(t) => Some(*t),
            Expr::Apply(fun, arg) => apply(*fun, arg.eval(env)?, env),
        }
    }
}

fn apply(fun: Fun, arg: Type, env: &Env) -> Option<Type> {
    match (fun, arg) {
        (Fun::Element, Type::Vector(v)) => Some(Type::Scalar(v.elem)),
        (Fun::M1, Type::Scalar(e)) => Some(Type::Vector(VecType::new(e, Lmul::M1))),
        (Fun::Mask, Type::Mask(n)) => Some(Type::Mask(n)),
        (Fun::Mask, Type::Vector(v)) => Some(Type::Mask(v.ratio() as u8)),
        (Fun::Index, Type::Vector(v)) => with_width(v.field(), Elem::unsigned(env.eew?)),
        (Fun::Field, Type::Vector(v)) => Some(Type::Vector(v.field())),
        (Fun::Pointer, Type::Scalar(e)) => Some(Type::Pointer(e)),
        (Fun::ConstPointer, Type::Scalar(e)) => Some(Type::ConstPointer(e)),
        (_, Type::Vector(v)) => with_width(v, change(fun, v.elem)?),
        (_, Type::Scalar(e)) => change(fun, e).map(Type::Scalar),
        _ => None,
    }
}

/// The element type that the function makes of this one.
fn change(fun: Fun, elem: Elem) -> Option<Elem> {
    let sew = elem.sew();
    match fun {
        Fun::Half => same_kind(elem, sew.narrower()?),
        Fun::Double => same_kind(elem, sew.wider()?),
        Fun::Signed => Some(Elem::signed(sew)),
        Fun::Unsigned => Some(Elem::unsigned(sew)),
        Fun::Float => Elem::float(sew),
        Fun::Bfloat => (sew == Sew::E16).then_some(Elem::Bf16),
        _ => None,
    }
}

fn same_kind(elem: Elem, sew: Sew) -> Option<Elem> {
    match elem {
        e if e.is_signed() => Some(Elem::signed(sew)),
        e if e.is_unsigned() => Some(Elem::unsigned(sew)),
        _ => Elem::float(sew),
    }
}

/// A vector of as many elements of another width.
fn with_width(v: VecType, elem: Elem) -> Option<Type> {
    let log2 = v.lmul.log2() + elem.bits().ilog2() as i32 - v.elem.bits().ilog2() as i32;
    let made = VecType { elem, lmul: Lmul::from_log2(log2)?, nf: v.nf };
    made.exists().then_some(Type::Vector(made))
}
