//! Calls with their operands.

use crate::builder::{Builder, arg};
use crate::context::Context;
use crate::stats::{is_operation, is_transparent};
use crate::vl_class::Kind;
use rvv_intrinsics::{Intrinsic, Role, Type};
use rvv_ir::{Arg, Call, Expr, Stmt, Var};

impl Builder<'_> {
    /// Adds a call; returns its result's variable.
    pub fn call(&mut self, intrinsic: &'static Intrinsic, overloaded: bool, depth: u32) -> Option<Var> {
        self.call_on(intrinsic, overloaded, depth, None)
    }

    /// Adds a call, of which one operand may be given.
    pub fn call_on(
        &mut self,
        intrinsic: &'static Intrinsic,
        overloaded: bool,
        depth: u32,
        given: Option<(Role, Var)>,
    ) -> Option<Var> {
        let memory = intrinsic.sem.accesses_memory();
        let access = memory.then(|| self.access(intrinsic));
        let ratio = crate::class(intrinsic).ratio;
        let mut whole_vl = true;
        let mut new_vl = None;
        let mut args = Vec::with_capacity(intrinsic.params.len());
        let may_shorten = depth == 0
            && matches!(self.place, Context::Strip { .. } | Context::Max { .. })
            && !matches!(self.class.kind, Kind::Groups(_));
        // Operands are made with a vl of their own.
        let shorter = std::mem::take(&mut self.shorter);
        let shortens = may_shorten && (shorter > 0 || self.chance(self.weights.tails));
        for param in &intrinsic.params {
            args.push(match (param.role, &access) {
                (role, _) if given.is_some_and(|(given, _)| given == role) => {
                    given.map_or(Arg::Expr(Expr::Const(0)), |(_, var)| Arg::Var(var))
                }
                (Role::Base, Some(access)) => access.base.clone(),
                (Role::Stride, Some(access)) => access.stride.clone().unwrap_or(Arg::Expr(Expr::Const(0))),
                (Role::Index, Some(access)) => access.index.clone().unwrap_or(Arg::Expr(Expr::Const(0))),
                (Role::NewVl, _) => {
                    let var = self.var(Type::Size);
                    new_vl = Some(var);
                    Arg::Ref(var)
                }
                (Role::Vl, _) if shortens => {
                    whole_vl = false;
                    let span = self.span(ratio);
                    match span.vl {
                        // A strip has at least one element.
                        _ if shorter > 1 => Arg::Expr(Expr::Const(1)),
                        // Never below 0: a strip's vl is at least 1.
                        Expr::Var(_) => Arg::Expr(Expr::Sub(Box::new(span.vl), Box::new(Expr::Const(1)))),
                        vl => arg(vl),
                    }
                }
                _ => self.argument(intrinsic, param, depth + u32::from(memory)),
            });
        }
        let ty = intrinsic.ret;
        if ty == Type::Void {
            self.body.push(Stmt::Call(Call { dst: None, intrinsic, overloaded, args }));
            return None;
        }
        let chain = self.chain_of(intrinsic, &args);
        let dst = if depth == 0 { self.destination(ty) } else { self.var(ty) };
        let call = Call { dst: Some(dst), intrinsic, overloaded, args };
        let defined = self.result_is_defined(&call, whole_vl);
        self.body.push(Stmt::Call(call));
        self.assign_result(dst, ty, defined, chain);
        if let Some(var) = new_vl {
            self.store(var);
        }
        Some(dst)
    }

    /// The length of the chain that a call of this ends; its operands are of use from now on.
    pub fn chain_of(&mut self, intrinsic: &Intrinsic, args: &[Arg]) -> u32 {
        let mut longest = 0;
        for arg in args {
            if let Arg::Var(var) = arg {
                longest = longest.max(self.chain(*var));
                self.mark_used(*var);
            }
        }
        if is_operation(intrinsic) {
            longest + 1
        } else if is_transparent(intrinsic) {
            longest
        } else {
            0
        }
    }
}
