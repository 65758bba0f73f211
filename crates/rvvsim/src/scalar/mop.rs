//! May-be-operations: Zimop and Zcmop. No extension here redefines one.

use super::Handler;
use rvv_isa::chapter::Mop;
use rvv_isa::rows;

/// The handlers of the may-be-operations.
pub(super) fn handler(op: Mop) -> Handler {
    rows! { op;
        // "Unless redefined by another extension, these instructions simply write 0 to x[rd]."
        mop.r.N, mop.rr.N => |h, i| {
            h.set_x(i.rd, 0);
            Ok(())
        };
        // "Defined to not write any register" (norm:Zcmop_instr_write).
        c.mop.N => |_, _| Ok(());
    }
}
