//! How vector instructions run: the register file, the elements of a group, and kernels that compute them.
//!
//! * [`elements`]: prestart, active, inactive, body and tail, once for all instructions; [`float_elements`]:
//!   the same where results raise flags;
//! * [`kernel`]: a kernel and its operands; [`input`]: what it gets besides them; [`host`]: what it is
//!   compiled for; [`maps`] and [`float_kernels`] have the kernels;
//! * [`chosen`]: copies of the elements that a mask chooses;
//! * [`fast_path`]: shortcuts for `vl` = VLMAX and `vstart` = 0;
//! * [`host_float`], [`host_float_avx`]: floating point on the host's FPU.

pub(in crate::vector) mod chosen;
pub(crate) mod copy;
pub(in crate::vector) mod element;
pub(in crate::vector) mod elements;
pub(in crate::vector) mod fast_path;
#[cfg(test)]
mod fast_path_tests;
pub(in crate::vector) mod float_elements;
pub(in crate::vector) mod float_kernels;
pub(in crate::vector) mod host;
#[cfg(test)]
mod host_code_tests;
pub(in crate::vector) mod host_float;
#[cfg(target_arch = "x86_64")]
pub(in crate::vector) mod host_float_avx;
pub(in crate::vector) mod input;
pub(in crate::vector) mod kernel;
#[cfg(test)]
mod kernel_tests;
pub(in crate::vector) mod maps;
pub(in crate::vector) mod registers;
