//! Programs to lower, and ways to run them.

use rvv_intrinsics::{Elem, Extension, Intrinsic, Role, Sem, Type, VecType, by_name};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::{Arg, Buffer, BufferKind, Call, Expr, Program, Stmt, Var};
use rvv_isa::{Isa, Lmul, Sew};
use rvvsim::config::{Agnostic, Config};
use rvvsim::elf::Image;
use rvvsim::linux::{Input, Output, ProcessOptions};
use rvvsim::{Machine, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The intrinsic of this explicit name, without `__riscv_`.
pub fn intrinsic(name: &str) -> &'static Intrinsic {
    by_name(&format!("__riscv_{name}")).unwrap_or_else(|| panic!("{name}"))
}

/// `dst = name(args)`
pub fn call(dst: impl Into<Option<Var>>, name: &str, args: Vec<Arg>) -> Stmt {
    let intrinsic = intrinsic(name);
    assert_eq!(args.len(), intrinsic.params.len(), "{name}");
    Stmt::Call(Call { dst: dst.into(), intrinsic, overloaded: false, args })
}

/// The same under the overloaded name.
pub fn overloaded(dst: impl Into<Option<Var>>, name: &str, args: Vec<Arg>) -> Stmt {
    let Stmt::Call(call) = call(dst, name, args) else { unreachable!() };
    Stmt::Call(Call { overloaded: true, ..call })
}

pub fn v(var: Var) -> Arg {
    Arg::Var(var)
}

pub fn n(value: u64) -> Arg {
    Arg::Expr(Expr::Const(value))
}

pub fn at(buffer: usize, index: Expr) -> Arg {
    Arg::Addr(buffer, index)
}

pub fn c(value: u64) -> Expr {
    Expr::Const(value)
}

/// The VLEN at which every intrinsic has at least one element (group).
pub const VLEN: u32 = 512;

/// A buffer that can hold eight registers, and segments that begin anywhere in that.
pub fn buffer(name: &str, elem: Elem, kind: BufferKind, init: Init) -> Buffer {
    Buffer {
        name: name.into(),
        elem,
        truths: false,
        len: (2 * VLEN / elem.bytes()) as usize,
        dims: Vec::new(),
        kind,
        init,
    }
}

/// A program with one call of an intrinsic, all of whose operands come from memory, and whose result goes
/// there.
pub fn minimal(intrinsic: &'static Intrinsic, overloaded: bool) -> Program {
    let mut p = Program { comment: vec![intrinsic.name.to_string()], ..Program::default() };
    p.main.name = "main".into();
    let mut args = Vec::new();
    let mut new_vl = None;
    let vl = p.main.var("vl", Type::Size);
    let data_elem = |i: &Intrinsic| match i.param(Role::Data).map_or(i.ret, |p| p.ty) {
        Type::Vector(v) => v.elem,
        _ => Elem::U8,
    };
    for (number, param) in intrinsic.params.iter().enumerate() {
        let name = format!("x{number}");
        let seed = u64::from(intrinsic.id) * 16 + number as u64;
        let arg = match (param.role, param.ty) {
            (Role::Uimm | Role::Frm | Role::Vxrm | Role::Position, _) => {
                let range = intrinsic.constants(param.role).unwrap();
                n(range.start() + seed % (range.end() - range.start() + 1))
            }
            // A tail that keeps what it had, where it may be of any length.
            (Role::Vl, _)
                if intrinsic.policy.tail_undisturbed() && intrinsic.extension != Extension::Crypto =>
            {
                Arg::Expr(Expr::Sub(Expr::Var(vl).into(), c(1).into()))
            }
            (Role::Vl, _) => v(vl),
            (Role::Avl, _) => n(7),
            (Role::Stride, _) => n(u64::from(data_elem(intrinsic).bytes()) * [1, 0][number % 2]),
            (Role::NewVl, _) => {
                let var = p.main.var("new_vl", Type::Size);
                new_vl = Some(var);
                Arg::Ref(var)
            }
            (Role::Base, ty) => {
                let (elem, kind) = match ty {
                    Type::Pointer(e) => (e, BufferKind::Out),
                    Type::ConstPointer(e) => (e, BufferKind::Data),
                    _ => unreachable!(),
                };
                p.buffers.push(buffer(&name, elem, kind, Init::Seed(seed, Distribution::Mix)));
                at(p.buffers.len() - 1, c(0))
            }
            (role, ty @ (Type::Vector(_) | Type::Mask(_))) => {
                let distribution = match role {
                    Role::Index => {
                        // Offsets that stay in the buffer, aligned.
                        let size = u64::from(data_elem(intrinsic).bytes());
                        Distribution::Below { limit: 256.min(VLEN.into()), step: size }
                    }
                    _ => Distribution::Mix,
                };
                let var = p.main.var(&name, ty);
                load(&mut p, var, Init::Seed(seed, distribution));
                v(var)
            }
            (_, ty) => {
                let bits = Distribution::Mix.draw(Elem::U64, &mut rvv_ir::data::SplitMix(seed));
                let bits = if ty == Type::Size { bits % 40 } else { bits };
                if seed.is_multiple_of(3) {
                    n(bits)
                } else {
                    let var = p.main.var(&name, ty);
                    p.params.push((var, bits));
                    v(var)
                }
            }
        };
        args.push(arg);
    }
    let wide = match (intrinsic.ret, intrinsic.param(Role::Vs2).map(|p| p.ty)) {
        (Type::Vector(r), Some(Type::Vector(s))) if s.ratio() < r.ratio() => Type::Vector(s),
        (Type::Void, _) => intrinsic.param(Role::Data).unwrap().ty,
        (Type::Vector(_) | Type::Mask(_), _) => intrinsic.ret,
        (_, Some(ty)) => ty,
        _ => intrinsic.ty,
    };
    setvlmax(&mut p, vl, wide);
    let dst = (intrinsic.ret != Type::Void).then(|| p.main.var("result", intrinsic.ret));
    p.main.body.push(Stmt::Call(Call { dst, intrinsic, overloaded, args }));
    if let Some(dst) = dst {
        match intrinsic.sem {
            Sem::Undefined => {}
            _ => store(&mut p, dst, "result_out"),
        }
    }
    if let Some(var) = new_vl {
        store(&mut p, var, "new_vl_out");
    }
    p
}

fn setvlmax(p: &mut Program, vl: Var, ty: Type) {
    let (sew, lmul) = match ty {
        Type::Vector(t) => (t.elem.sew(), t.lmul),
        Type::Mask(r) => (Sew::E8, Lmul::from_log2(3 - r.ilog2() as i32).unwrap()),
        _ => unreachable!(),
    };
    p.main.body.push(call(vl, &format!("vsetvlmax_{sew}{lmul}"), vec![]));
}

/// Fills a vector, tuple or mask from a new buffer.
pub fn load(p: &mut Program, var: Var, init: Init) {
    let ty = p.main.ty(var);
    let name = format!("{}_in", p.main.name(var));
    let elem = ty.vector().map_or(Elem::U8, |t| t.elem);
    p.buffers.push(buffer(&name, elem, BufferKind::Data, init));
    let from = at(p.buffers.len() - 1, c(0));
    let vl = Var(0);
    setvlmax(p, vl, ty);
    let load = match ty {
        Type::Mask(r) => format!("vlm_v_b{r}"),
        Type::Vector(t) if t.nf == 1 => format!("vle{}_v_{}", elem.bits(), t.short()),
        Type::Vector(t) => format!("vlseg{}e{}_v_{}", t.nf, elem.bits(), t.short()),
        _ => unreachable!(),
    };
    p.main.body.push(call(var, &load, vec![from, v(vl)]));
}

/// Puts a variable of any type into a new output buffer.
pub fn store(p: &mut Program, var: Var, name: &str) {
    let ty = p.main.ty(var);
    let elem = match ty {
        Type::Vector(t) => t.elem,
        Type::Mask(_) => Elem::U8,
        Type::Scalar(e) => e,
        _ => Elem::U64,
    };
    p.buffers.push(buffer(name, elem, BufferKind::Out, Init::Zero));
    let number = p.buffers.len() - 1;
    let vl = Var(0);
    let store = match ty {
        Type::Mask(r) => format!("vsm_v_b{r}"),
        Type::Vector(t) if t.nf == 1 => format!("vse{}_v_{}", elem.bits(), t.short()),
        Type::Vector(t) => format!("vsseg{}e{}_v_{}", t.nf, elem.bits(), t.short()),
        _ => {
            p.buffers[number].len = 1;
            p.main.body.push(Stmt::Put { buffer: number, at: c(0), value: var });
            return;
        }
    };
    setvlmax(p, vl, ty);
    p.main.body.push(call(None, &store, vec![at(number, c(0)), v(var), v(vl)]));
}

/// `vint32m1_t` and so on, by `i32m1`.
pub fn ty(short: &str) -> Type {
    Type::Vector(VecType::from_short(short).unwrap_or_else(|| panic!("{short}")))
}

/// Runs an ELF: how it ended, and what it printed.
pub fn run(elf: Vec<u8>, vlen: u32, agnostic: Agnostic, args: &[&str]) -> (String, Vec<u8>) {
    let config = Config {
        isa: Isa::default(),
        vlen,
        tail: agnostic,
        mask: agnostic,
        mem: 1 << 30,
        max_insns: Some(1 << 30),
        ..Config::default()
    };
    let options = ProcessOptions {
        args: ["program"].iter().chain(args).map(|a| a.as_bytes().to_vec()).collect(),
        stdin: Input::Bytes(Vec::new()),
        stdout: Output::Capture,
        stderr: Output::Capture,
        ..ProcessOptions::default()
    };
    let image = Image::parse(elf).unwrap();
    let mut machine = Machine::user(config, &image, options).unwrap();
    let ending = match machine.run(None) {
        Outcome::Exited(code) => format!("exit {code}"),
        other => format!("{other:?}"),
    };
    (ending, machine.stdout().to_vec())
}

/// The clang to test with: `$CLANG`, or clang-19 if it is there.
pub fn clang() -> Option<PathBuf> {
    let clang = std::env::var_os("CLANG").map_or_else(|| PathBuf::from("clang-19"), PathBuf::from);
    Command::new(&clang).arg("--version").output().is_ok_and(|o| o.status.success()).then_some(clang)
}

/// Compiles C; the ELF, or what the compiler said.
pub fn compile(clang: &Path, source: &str, march: &str, flags: &[&str]) -> Result<Vec<u8>, String> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("rvv-ir-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (c, elf) = (dir.join("program.c"), dir.join("program.elf"));
    std::fs::write(&c, source).unwrap();
    let output = Command::new(clang)
        .args(["--target=riscv64-linux-gnu", &format!("-march={march}"), "-mabi=lp64d"])
        .args(["-Wall", "-Werror"])
        .args(rvv_ir::c::FREESTANDING)
        .arg(format!("-fuse-ld={}", std::env::var("LLD").unwrap_or_else(|_| "lld-19".into())))
        .args(flags)
        .arg("-o")
        .arg(&elf)
        .arg(&c)
        .output()
        .unwrap();
    let result = match output.status.success() {
        true => Ok(std::fs::read(&elf).unwrap()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    };
    if std::env::var_os("RVV_IR_KEEP").is_none() {
        std::fs::remove_dir_all(&dir).unwrap();
    }
    result
}
