//! Nothing that the decoder accepts is left without a handler.

use rvv_isa::{Class, Op};
use rvvsim::exec;

#[test]
fn every_scalar_instruction_outside_the_loop_has_a_handler() {
    let loads_and_stores = ["flh", "fsh", "cbo.zero"];
    let others =
        ["cbo.clean", "cbo.flush", "cbo.inval", "czero.eqz", "czero.nez", "mop.r.N", "mop.rr.N", "c.mop.N"];
    let by_class = |op: &Op| matches!(op.class(), Class::Float | Class::Atomic | Class::BitManip);
    let by_name = |op: &Op| loads_and_stores.contains(&op.name()) || others.contains(&op.name());
    let mut count = 0;
    for op in Op::all().filter(|op| op.base() == *op && (by_class(op) || by_name(op))) {
        assert!(exec::handler(op).is_some(), "{} has no handler", op.name());
        count += 1;
    }
    assert!(count > 200, "only {count} instructions found");
}
