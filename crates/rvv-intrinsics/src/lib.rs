//! Every RVV C intrinsic: prototypes, operand roles, and the name of what each means.
//!
//! The tables are `isa/intrinsics/*.toml`; a family there expands to all its prototypes.

mod expand;
mod expr;
mod intrinsic;
mod plan;
mod prototype;
pub mod sem;
mod table;
mod types;

pub use expand::expand;
pub use intrinsic::{Extension, Implied, Info, Intrinsic, Param, Policy, Role};
pub use prototype::{Category, Prototype, prototypes};
pub use sem::Sem;
pub use table::TableError;
pub use types::{Elem, Type, VecType};

use std::collections::HashMap;
use std::sync::LazyLock;

macro_rules! tables {
    ($($file:literal)*) => {
        &[ $( (
            concat!($file, ".toml"),
            include_str!(concat!("../../../isa/intrinsics/", $file, ".toml"))
        ), )* ]
    };
}

/// The tables: file name and text.
pub const TABLES: &[(&str, &str)] = tables! {
    "load_store" "segment" "integer" "fixed_point" "floating_point" "reduction" "mask" "permutation" "utility"
    "bf16_arithmetic" "bf16_convert" "zvbb" "zvbc" "zvkg" "zvkned" "zvknh" "zvksed" "zvksh"
};

/// The sections of the official lists.
pub const SECTIONS: &[&str] = &[
    "vector_loads_and_stores_intrinsics",
    "vector_loads_and_stores_segment_intrinsics",
    "vector_integer_arithmetic_intrinsics",
    "vector_fixed-point_arithmetic_intrinsics",
    "vector_floating-point_intrinsics",
    "vector_reduction_operations",
    "vector_mask_intrinsics",
    "vector_permutation_intrinsics",
    "miscellaneous_vector_utility_intrinsics",
    "bfloat16_vector_loads_and_stores_intrinsics",
    "bfloat16_vector_loads_and_stores_segment_intrinsics",
    "bfloat16_arithmetic_intrinsics",
    "bfloat16_convert_intrinsics",
    "bfloat16_vector_permutation_intrinsics",
    "bfloat16_miscellaneous_vector_utility_intrinsics",
    "zvbb_-_vector_bit-manipulation_used_in_cryptography",
    "zvbc_-_vector_carryless_multiplication",
    "zvkg_-_vector_gcm_gmac",
    "zvkned_-_nist_suite:_vector_aes_block_cipher",
    "zvknh_-_nist_suite:_vector_sha-2_secure_hash",
    "zvksed_-_shangmi_suite:_sm4_block_cipher",
    "zvksh_-_shangmi_suite:_sm3_secure_hash",
];

static ALL: LazyLock<Vec<Intrinsic>> = LazyLock::new(|| match expand(TABLES) {
    Ok(all) => all,
    // The tables are part of the program; a test expands them.
    Err(error) => panic!("{error}"),
});

static BY_NAME: LazyLock<HashMap<&'static str, u32>> =
    LazyLock::new(|| all().iter().map(|i| (&*i.name, i.id)).collect());

/// All intrinsics with an explicit name, with and without policy.
///
/// The order is that of [`TABLES`], and in a file that of its families; then come the form (by name), the
/// type T (by element, fields and LMUL), S and EEW where there are, and the variant: plain, `_m`, `_tu`,
/// `_tum`, `_tumu`, `_mu`, and the same again with `_rm`.
pub fn all() -> &'static [Intrinsic] {
    &ALL
}

/// The intrinsic with this explicit name: `__riscv_vadd_vv_i32m1_tum`.
pub fn by_name(name: &str) -> Option<&'static Intrinsic> {
    BY_NAME.get(name).map(|id| &all()[*id as usize])
}
