//! Programs of element statements, for the compilers' own vectorisers.
//!
//! A program is a few functions whose inputs the compiler cannot see. Each is a sequence of nests: first the
//! skeleton (loops, bounds, what kind of nest it is), then the details (statements, expressions, subscripts).
//! What values an expression may have is tracked ([`value`]), so that signed overflow and its like are
//! avoided by choice of types and operations. Buffers grow as subscripts need it.

mod contracted;
mod expr;
mod nest;
mod passes;
mod reductions;
mod slp;
mod subscript;
mod unguided;
mod value;
mod vectors;

use crate::rng::Rng;
use crate::{Settings, Weights};
use rvv_intrinsics::{Elem, Type};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::loops::{CExpr, Pointers, Target};
use rvv_ir::{Arg, Buffer, BufferKind, Function, Linkage, Program, Stmt, Var};
use value::Val;

/// A loop that is being written: its counter and the values it takes.
#[derive(Clone, Debug)]
struct Counter {
    var: Var,
    ty: Elem,
    lo: i128,
    hi: i128,
}

impl Counter {
    fn value(&self) -> Val {
        Val::int(CExpr::Var(self.var), self.ty, self.lo, self.hi)
    }
}

/// A buffer and what is known of its values.
#[derive(Clone, Debug)]
struct Array {
    elem: Elem,
    /// It holds `_Bool`.
    truths: bool,
    dims: Vec<usize>,
    lo: i128,
    hi: i128,
    bound: f64,
    /// Nothing writes it.
    input: bool,
    /// Its values are subscripts: no other use is made of it.
    subscripts: bool,
}

/// A program being written.
struct Writer<'s> {
    rng: Rng,
    weights: &'s Weights,
    program: Program,
    /// As the program's buffers.
    arrays: Vec<Array>,
    function: Function,
    /// The arguments of the function's parameters.
    args: Vec<Arg>,
    /// Scalars that expressions may use: parameters, and temporaries of the nest.
    scalars: Vec<Val>,
    counters: Vec<Counter>,
    /// Element types of the function, the likely ones.
    types: Vec<Elem>,
    /// Subscripts of groups of lanes: each load has a place for its lane.
    lanes: Option<slp::Lanes>,
    /// Small functions that loops call, by number.
    helpers: Vec<usize>,
    /// The compiler sees how often the next loop runs.
    known_trips: bool,
}

/// Program `k` of a seed.
pub fn program(seed: u64, k: u64, settings: &Settings) -> Program {
    // Programs differ in what they are full of.
    let weights = settings.weights.skewed(&mut Rng::new(&[seed, k, 0x5a3]));
    let mut writer = Writer {
        rng: Rng::new(&[seed, k, 0x10095]),
        weights: &weights,
        program: Program::default(),
        arrays: Vec::new(),
        function: Function::default(),
        args: Vec::new(),
        scalars: Vec::new(),
        counters: Vec::new(),
        types: Vec::new(),
        lanes: None,
        helpers: Vec::new(),
        known_trips: false,
    };
    writer.program.main.name = "main".to_string();
    let functions = 1 + writer.rng.below(3);
    let unguided = writer.chance(settings.weights.loop_unguided);
    // Programs beside one another agree, as one file of them is compiled with the same flags.
    let contract = !unguided && Rng::new(&[seed, k / 32, 0xc0]).chance(settings.weights.loop_contract);
    writer.program.contract = contract;
    for _ in 0..functions {
        if unguided {
            writer.unguided();
        } else if contract {
            writer.contracted();
        } else {
            writer.function();
        }
    }
    writer.program.comment = vec![format!("rvvgen, seed {seed}, program {k}")];
    let mut rng = Rng::new(&[seed, k, 0x57c7]);
    if !unguided && rng.chance(settings.weights.loop_structs) {
        structures(&mut writer.program, &mut rng);
    }
    writer.program
}

/// Makes some of the buffers fields of arrays of structures, in any order.
fn structures(program: &mut Program, rng: &mut Rng) {
    let mut fields: Vec<usize> = (0..program.buffers.len()).filter(|&b| program.may_be_field(b)).collect();
    rng.shuffle(&mut fields);
    while fields.len() >= 2 {
        let count = (2 + rng.below(4)).min(fields.len());
        program.records.push(fields.drain(..count).collect());
        if rng.below(2) == 0 {
            break;
        }
    }
}

impl Writer<'_> {
    fn chance(&mut self, p: f64) -> bool {
        self.rng.chance(p)
    }

    /// One of these, by its weight.
    fn weighted<T: Copy>(&mut self, of: &[(f64, T)]) -> Option<T> {
        let total: f64 = of.iter().map(|w| w.0).sum();
        let mut at = self.rng.below(1 << 20) as f64 / f64::from(1 << 20) * total;
        for (weight, item) in of {
            at -= weight;
            if at < 0.0 {
                return Some(*item);
            }
        }
        of.last().map(|w| w.1)
    }

    /// A function with its nests, and its call.
    fn function(&mut self) {
        if self.helpers.is_empty() && self.chance(4.0 * self.weights.loop_calls) {
            let helper = self.helper(2);
            self.helpers.push(helper);
        }
        self.begin_function();
        self.types = self.element_types();
        let nests = 1 + self.rng.below(3);
        for _ in 0..nests {
            let body = self.nest();
            self.function.body.extend(body);
        }
        self.end_function();
    }

    /// The function that is written next.
    fn begin_function(&mut self) {
        let number = self.program.functions.len();
        let pointers = self.some_pointers();
        self.function = Function {
            name: format!("f{number}"),
            linkage: Linkage::Global,
            pointers,
            ..Function::default()
        };
        self.args.clear();
        self.scalars.clear();
    }

    /// The function is written, and is called.
    fn end_function(&mut self) {
        let number = self.program.functions.len();
        let function = std::mem::take(&mut self.function);
        self.program.functions.push(function);
        let args = std::mem::take(&mut self.args);
        self.program.main.body.push(Stmt::Invoke { dst: None, function: number, args });
    }

    /// How a function reaches its buffers.
    fn some_pointers(&mut self) -> Pointers {
        match self.rng.below(4) {
            _ if !self.rng.chance(self.weights.loop_pointers) => Pointers::Globals,
            0 => Pointers::Plain,
            _ => Pointers::Restrict,
        }
    }

    /// One to three types that a function mostly works on.
    fn element_types(&mut self) -> Vec<Elem> {
        const INTEGERS: [Elem; 8] =
            [Elem::I8, Elem::U8, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::I64, Elem::U64];
        let count = 1 + self.rng.below(3);
        let float = self.rng.chance(self.weights.loop_floats);
        (0..count)
            .map(|_| {
                if float && self.rng.chance(0.75) {
                    [Elem::F32, Elem::F64, Elem::F32, Elem::F64, Elem::F16][self.rng.below(5)]
                } else {
                    INTEGERS[self.rng.below(8)]
                }
            })
            .collect()
    }

    fn some_type(&mut self) -> Elem {
        let types = self.types.clone();
        self.rng.pick(&types).copied().unwrap_or(Elem::I32)
    }

    /// A new variable of the function.
    fn var(&mut self, stem: &str, ty: Type) -> Var {
        let name = format!("{stem}{}", self.function.vars.len());
        self.function.var(name, ty)
    }

    /// A parameter of the function, with its value.
    fn param(&mut self, ty: Type, bits: u64) -> Var {
        let var = self.var("p", ty);
        self.function.params.push(var);
        let name = format!("a{}", self.program.main.vars.len());
        let outer = self.program.main.var(name, ty);
        self.program.params.push((outer, bits));
        self.args.push(Arg::Var(outer));
        var
    }

    /// A scalar that the compiler cannot see, of which the value is known here.
    fn opaque(&mut self, ty: Elem) -> Val {
        let distribution = if self.chance(0.6) { Distribution::Small } else { Distribution::Mix };
        let mut bits = distribution.draw(ty, self.rng.data());
        if ty.is_unsigned() && distribution == Distribution::Small {
            bits &= 15;
        }
        let var = self.param(Type::Scalar(ty), bits);
        let val = if ty.is_float() {
            let bound = if distribution == Distribution::Small { 4.0 } else { f64::INFINITY };
            Val::float(CExpr::Var(var), ty, bound)
        } else {
            let unused = 64 - ty.bits();
            let value =
                if ty.is_signed() { i128::from((bits << unused) as i64 >> unused) } else { i128::from(bits) };
            Val::int(CExpr::Var(var), ty, value, value)
        };
        self.scalars.push(val.clone());
        val
    }

    /// A new buffer.
    fn array(&mut self, elem: Elem, dims: Vec<usize>, input: bool) -> usize {
        // Of unsigned bytes, one in five is `_Bool`.
        let truths = elem == Elem::U8 && self.lanes.is_none() && self.rng.below(5) == 0;
        self.array_of(elem, truths, dims, input)
    }

    fn array_of(&mut self, elem: Elem, truths: bool, dims: Vec<usize>, input: bool) -> usize {
        let number = self.program.buffers.len();
        let seed = self.rng.bits() >> 32;
        let (distribution, lo, hi, bound) = if elem.is_float() {
            match self.rng.below(5) {
                0 => (Distribution::Bits, 0, 0, f64::INFINITY),
                1 => (Distribution::Mix, 0, 0, f64::INFINITY),
                _ => (Distribution::Small, 0, 0, 4.0),
            }
        } else {
            let (lo, hi) = value::range(elem);
            match self.rng.below(4) {
                0 if elem.is_signed() => (Distribution::Small, -8, 8, 0.0),
                0 => (Distribution::Below { limit: 20, step: 1 }, 0, 19, 0.0),
                1 => (Distribution::Mix, lo, hi, 0.0),
                _ => (Distribution::Bits, lo, hi, 0.0),
            }
        };
        let (lo, hi, bound) = match (input, elem.is_float()) {
            (true, _) => (lo, hi, bound),
            // What will be stored there is not known yet.
            (false, true) => (0, 0, f64::INFINITY),
            (false, false) => (value::range(elem).0, value::range(elem).1, 0.0),
        };
        let kind = match input {
            true if self.rng.chance(self.weights.constant) => BufferKind::Const,
            true => BufferKind::Data,
            false => BufferKind::Out,
        };
        let (lo, hi) = if truths { (0, 1) } else { (lo, hi) };
        let init = if input || self.rng.below(2) == 0 { Init::Seed(seed, distribution) } else { Init::Zero };
        let len = dims.iter().product::<usize>().max(1);
        let name = format!("{}{number}", if input { "in" } else { "out" });
        self.program.buffers.push(Buffer { name, elem, truths, len, dims: dims.clone(), kind, init });
        self.arrays.push(Array { elem, truths, dims, lo, hi, bound, input, subscripts: false });
        number
    }

    /// A buffer has this element.
    fn reach(&mut self, number: usize, first: i128) {
        let buffer = &mut self.program.buffers[number];
        let inner = buffer.dims.iter().product::<usize>().max(1);
        buffer.len = buffer.len.max((first.max(0) as usize + 1) * inner);
    }

    /// `var = value`
    fn set(var: Var, value: Val) -> Stmt {
        Stmt::Set { target: Target::Var(var), value: value.e }
    }
}
