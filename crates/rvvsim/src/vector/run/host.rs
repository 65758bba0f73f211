//! What the host has, as a value. Who holds an [`Avx`] may use AVX2 and FMA: it is made by detection only,
//! and in functions that are compiled for these features.

/// A host that kernels are compiled for.
pub trait Host: Copy {
    /// It has wide registers, a fused multiply-add, and instructions that round to integers.
    const BETTER: bool;

    /// The proof that AVX2 and FMA may be used, if this host has them.
    #[cfg(target_arch = "x86_64")]
    fn avx(self) -> Option<Avx>;
}

/// Any host of this architecture.
#[derive(Clone, Copy)]
pub struct AnyHost;

impl Host for AnyHost {
    const BETTER: bool = cfg!(target_arch = "aarch64");

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn avx(self) -> Option<Avx> {
        None
    }
}

/// The proof that this host has AVX2 and FMA, and what else [`avx_features`](super::kernel) lists.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx(());

#[cfg(target_arch = "x86_64")]
impl Host for Avx {
    const BETTER: bool = true;

    #[inline(always)]
    fn avx(self) -> Option<Avx> {
        Some(self)
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx {
    /// # Safety
    /// The caller must be compiled for the features.
    #[inline(always)]
    pub(super) unsafe fn of_caller() -> Avx {
        Avx(())
    }
}

/// The features of [`Avx`], in one list: what kernels for it are compiled for, and what is looked for.
macro_rules! avx_features {
    ($with:ident!) => {
        $with! { "avx2", "fma", "bmi2", "lzcnt", "popcnt" }
    };
}
pub(super) use avx_features;

#[cfg(target_arch = "x86_64")]
macro_rules! detect {
    ($($feature:tt),+) => {
        impl Avx {
            /// The proof, if this host has all of the features.
            pub fn detect() -> Option<Avx> {
                ($(std::arch::is_x86_feature_detected!($feature))&&+).then_some(Avx(()))
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
avx_features! { detect! }
