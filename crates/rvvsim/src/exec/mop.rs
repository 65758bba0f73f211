//! May-be-operations: Zimop and Zcmop. No extension here redefines one.

use super::{Flow, Handler};
use rvv_isa::Op;

/// The handlers of the may-be-operations.
#[must_use]
pub fn handler(op: Op) -> Option<(Handler, Flow)> {
    let handler: Handler = match op {
        // "Unless redefined by another extension, these instructions simply write 0 to x[rd]."
        Op::MopRN | Op::MopRrN => |h, i| {
            h.set_x(i.rd, 0);
            Ok(())
        },
        // "Defined to not write any register" (norm:Zcmop_instr_write).
        Op::CMopN => |_, _| Ok(()),
        _ => return None,
    };
    Some((handler, Flow::Next))
}
