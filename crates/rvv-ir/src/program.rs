//! The IR: a small structured language of RVV intrinsics, and of plain C on elements ([`crate::loops`]).
//!
//! A program fills typed buffers, computes on vectors, stores, and hands its `out` buffers whole to the
//! outside. All control flow is structured; all loops are counted; nothing recurses.

use crate::data::Init;
use crate::loops::{CExpr, Lanes, Loop, Pointers, Target};
use rvv_intrinsics::{Elem, Intrinsic, Type, VecType};

/// The version of the file format this crate reads and writes.
pub const VERSION: u32 = 1;

/// A whole program.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Program {
    /// Where it came from: lines of comment at its head, kept for people.
    pub comment: Vec<String>,
    /// Global arrays, in the order in which `out` ones are printed.
    pub buffers: Vec<Buffer>,
    /// Compilers may contract: a product that is added to, or subtracted from, something may be rounded once
    /// with the sum rather than before it, or not. What the program prints is then a set: see
    /// [`Contents::either`](crate::Contents::either).
    pub contract: bool,
    /// Buffers that C has as fields of one array of structures, by their numbers: see [`crate::records`].
    pub records: Vec<Vec<usize>>,
    /// Scalars whose value the compiler cannot see: variables of `main`, with their values.
    pub params: Vec<(Var, u64)>,
    /// Functions; each may call those before it.
    pub functions: Vec<Function>,
    /// Where it starts: a function without parameters and result.
    pub main: Function,
}

/// A global array.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Its name in files and in C.
    pub name: String,
    /// What it holds. Loads and stores use this type and no other.
    pub elem: Elem,
    /// It holds `_Bool`: `elem` is u8, each element 0 or 1, and what is stored is converted as C does that.
    /// Only element statements take it.
    pub truths: bool,
    /// How many of them, in all dimensions.
    pub len: usize,
    /// The sizes of all dimensions but the first; none in an array of one dimension. Their product divides
    /// `len`.
    pub dims: Vec<usize>,
    /// Who may see and change it.
    pub kind: BufferKind,
    /// What it holds at the start.
    pub init: Init,
}

impl Buffer {
    /// What it holds at the start, as bits.
    pub fn values(&self) -> Vec<u64> {
        let mut values = self.init.values(self.elem, self.len);
        if self.truths {
            values.iter_mut().for_each(|v| *v &= 1);
        }
        values
    }

    /// What it holds at the start, as bytes in memory order.
    pub fn contents(&self) -> Vec<u8> {
        let size = self.elem.bytes() as usize;
        self.values().iter().flat_map(|v| v.to_le_bytes().into_iter().take(size)).collect()
    }

    /// The type of its elements in files.
    pub fn type_name(&self) -> &'static str {
        if self.truths { "bool" } else { self.elem.short() }
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.len * self.elem.bytes() as usize
    }

    /// The size of each dimension, the outermost first.
    pub fn shape(&self) -> Vec<usize> {
        let inner: usize = self.dims.iter().product::<usize>().max(1);
        let mut shape = vec![self.len / inner];
        shape.extend(&self.dims);
        shape
    }
}

/// Who may see and change a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferKind {
    /// Contents the compiler sees and may fold; never stored to.
    Const,
    /// Contents the compiler cannot see; may be stored to.
    Data,
    /// The same, and printed at the end.
    Out,
}

/// A function: `main`, or one that is called.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Function {
    /// Its name in files and in C.
    pub name: String,
    /// All its variables, parameters included; a [`Var`] is an index into this.
    pub vars: Vec<VarDecl>,
    /// Parameters, in order.
    pub params: Vec<Var>,
    /// What it does.
    pub body: Vec<Stmt>,
    /// What it returns after that.
    pub ret: Option<Var>,
    /// Who may call it, and how.
    pub linkage: Linkage,
    /// How it reaches its buffers in C.
    pub pointers: Pointers,
}

/// Who may call a function, and how: what the compiler may do to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Only this file, and it is not inlined: the compiler may still choose how to call it.
    #[default]
    Local,
    /// Only this file; the compiler may inline it.
    Inline,
    /// Any file, so it is called as the ABI says.
    Global,
}

impl Function {
    /// A new variable of this function.
    pub fn var(&mut self, name: impl Into<String>, ty: Type) -> Var {
        self.vars.push(VarDecl { name: name.into(), ty, fixed: false });
        Var(self.vars.len() as u32 - 1)
    }

    /// The type of a variable.
    pub fn ty(&self, var: Var) -> Type {
        self.vars[var.index()].ty
    }

    /// The name of a variable.
    pub fn name(&self, var: Var) -> &str {
        &self.vars[var.index()].name
    }
}

/// A variable's name and type: a vector, tuple, mask or scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarDecl {
    /// Its name in files and in C.
    pub name: String,
    /// Its type: [`Type::Vector`], [`Type::Mask`], [`Type::Scalar`], [`Type::Size`], [`Type::Ptrdiff`],
    /// [`Type::Ulong`] or [`Type::Long`].
    pub ty: Type,
    /// Of a vector: where VLEN is known to the compiler, it has a fixed length in C
    /// (`riscv_rvv_vector_bits`). It changes no meaning.
    pub fixed: bool,
}

impl VarDecl {
    /// Whether its type may have a fixed length: one vector, no tuple and no mask.
    pub fn may_be_fixed(&self) -> bool {
        matches!(self.ty, Type::Vector(v) if v.nf == 1)
    }
}

/// A variable of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

impl Var {
    /// Its place in [`Function::vars`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An integer of 64 bits that wraps: a length, an offset, a stride. As an argument for a scalar of
/// another type, a constant gives that type's bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A literal.
    Const(u64),
    /// A variable of type [`Type::Size`], [`Type::Ptrdiff`], [`Type::Ulong`] or [`Type::Long`].
    Var(Var),
    /// Sum.
    Add(Box<Expr>, Box<Expr>),
    /// Difference.
    Sub(Box<Expr>, Box<Expr>),
    /// Product.
    Mul(Box<Expr>, Box<Expr>),
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// A variable of exactly the parameter's type.
    Var(Var),
    /// A literal for a scalar of any type (its bits), or an integer expression for `size_t` and
    /// `ptrdiff_t` parameters.
    Expr(Expr),
    /// `&buffer[expr]`, for pointer parameters.
    Addr(usize, Expr),
    /// `&variable`, where a fault-only-first load puts the new vl.
    Ref(Var),
}

/// How an `if` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`, by the variable's signedness.
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// A call of an intrinsic.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Where the result goes; `None` for stores.
    pub dst: Option<Var>,
    /// What is called.
    pub intrinsic: &'static Intrinsic,
    /// Spelled by the overloaded name.
    pub overloaded: bool,
    /// One for each parameter.
    pub args: Vec<Arg>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// An intrinsic.
    Call(Call),
    /// A function of this program, by its place in [`Program::functions`].
    Invoke {
        /// Where the result goes.
        dst: Option<Var>,
        /// Which.
        function: usize,
        /// One for each parameter.
        args: Vec<Arg>,
    },
    /// `dst = src`, of any type.
    Copy {
        /// The variable written.
        dst: Var,
        /// The variable read.
        src: Var,
    },
    /// `buffer[at] = value`, a scalar of the buffer's type (64-bit integers for `size_t` and `long`).
    Put {
        /// Which buffer.
        buffer: usize,
        /// Which element.
        at: Expr,
        /// The scalar.
        value: Var,
    },
    /// Sets the dynamic rounding mode, as `fesetround` would: intrinsics without `_rm` round by it.
    SetFrm(u8),
    /// A strip-mined loop: `for (index = 0; index < length; index += vl) vl = vsetvl(length − index)`.
    Strip {
        /// The vsetvl's type: e and m of `__riscv_vsetvl_e32m1`. Its element is unsigned.
        vtype: VecType,
        /// Elements in all.
        length: Expr,
        /// Elements done. Not to be assigned in the body.
        index: Var,
        /// Elements of this strip. Not to be assigned in the body.
        vl: Var,
        /// What is done in each.
        body: Vec<Stmt>,
    },
    /// `for (index = 0; index < count; index++)`.
    For {
        /// The counter. Not to be assigned in the body.
        index: Var,
        /// How often.
        count: Expr,
        /// What is done.
        body: Vec<Stmt>,
    },
    /// `if (left ⋈ right)`; both of the type of `left`.
    If {
        /// A scalar of an integer type.
        left: Var,
        /// How they are compared.
        compare: Compare,
        /// A literal of the same type, by its bits.
        right: u64,
        /// Done if it holds.
        then: Vec<Stmt>,
        /// Done otherwise.
        otherwise: Vec<Stmt>,
    },
    /// `target = value`, converted to the target's type.
    Set {
        /// What is assigned to.
        target: Target,
        /// What is assigned.
        value: CExpr,
    },
    /// A counted loop of C.
    Loop(Box<Loop>),
    /// `if (condition)`, where the condition is an expression of C.
    When {
        /// It holds if it is not zero.
        condition: CExpr,
        /// Done if it holds.
        then: Vec<Stmt>,
        /// Done otherwise.
        otherwise: Vec<Stmt>,
    },
    /// Leaves the innermost [`Stmt::Loop`].
    Leave,
    /// `if (left ⋈ right) break`: leaves the innermost loop.
    Break {
        /// A scalar of an integer type.
        left: Var,
        /// How they are compared.
        compare: Compare,
        /// A literal of the same type, by its bits.
        right: u64,
    },
    /// The variable keeps its value, and the compiler forgets what it knows of it: inline assembly with the
    /// variable as operand.
    Hide(Var),
    /// So many bytes of the stack, whose number the compiler may not know, until the function returns.
    Scratch(Expr),
    /// Stores a vector of fixed length.
    Lanes(Box<Lanes>),
}

impl Program {
    /// A function by the number that errors and walks use: `functions[n]`, or `main` after the last.
    pub fn function(&self, n: usize) -> &Function {
        self.functions.get(n).unwrap_or(&self.main)
    }

    /// The buffers that are printed.
    pub fn outputs(&self) -> impl Iterator<Item = (usize, &Buffer)> {
        self.buffers.iter().enumerate().filter(|(_, b)| b.kind == BufferKind::Out)
    }

    /// Every call of an intrinsic, in the order of the text.
    pub fn calls(&self) -> Vec<&Call> {
        fn walk<'p>(body: &'p [Stmt], found: &mut Vec<&'p Call>) {
            for stmt in body {
                if let Stmt::Call(call) = stmt {
                    found.push(call);
                }
                stmt.blocks().into_iter().for_each(|block| walk(block, found));
            }
        }
        let mut found = Vec::new();
        for function in self.functions.iter().chain([&self.main]) {
            walk(&function.body, &mut found);
        }
        found
    }

    /// Every element statement but loops' and conditions' own, in the order of the text: the assignments.
    pub fn assignments(&self) -> Vec<&Stmt> {
        fn walk<'p>(body: &'p [Stmt], found: &mut Vec<&'p Stmt>) {
            for stmt in body {
                if let Stmt::Set { .. } | Stmt::Lanes(_) = stmt {
                    found.push(stmt);
                }
                stmt.blocks().into_iter().for_each(|block| walk(block, found));
            }
        }
        let mut found = Vec::new();
        for function in self.functions.iter().chain([&self.main]) {
            walk(&function.body, &mut found);
        }
        found
    }

    /// How much it does: its calls of intrinsics and its assignments.
    pub fn work(&self) -> usize {
        self.calls().len() + self.assignments().len()
    }

    /// Whether it is plain C: it calls no intrinsic, so that its results do not depend on VLEN.
    pub fn is_plain(&self) -> bool {
        fn plain(body: &[Stmt]) -> bool {
            body.iter().all(|s| {
                !matches!(s, Stmt::Call(_) | Stmt::Strip { .. } | Stmt::SetFrm(_))
                    && s.blocks().into_iter().all(plain)
            })
        }
        self.functions.iter().chain([&self.main]).all(|f| plain(&f.body))
    }
}
