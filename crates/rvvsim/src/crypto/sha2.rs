//! The sigma functions of SHA-256 and SHA-512 (FIPS 180-4).

/// A word of SHA-256 (32 bits) or SHA-512 (64 bits): sections 4.1.2 and 4.1.3.
pub(crate) trait Sigma: Copy {
    /// The capital sigmas.
    fn sum0(self) -> Self;
    fn sum1(self) -> Self;
    /// The small sigmas.
    fn sig0(self) -> Self;
    fn sig1(self) -> Self;
}

macro_rules! sigma {
    ($($t:ty: $sum0:expr, $sum1:expr, $sig0:expr, $sig1:expr;)*) => {$(
        impl Sigma for $t {
            fn sum0(self) -> Self {
                $sum0.iter().fold(0, |sum, &n: &u32| sum ^ self.rotate_right(n))
            }
            fn sum1(self) -> Self {
                $sum1.iter().fold(0, |sum, &n: &u32| sum ^ self.rotate_right(n))
            }
            fn sig0(self) -> Self {
                let (a, b, shift): (u32, u32, u32) = $sig0;
                self.rotate_right(a) ^ self.rotate_right(b) ^ self >> shift
            }
            fn sig1(self) -> Self {
                let (a, b, shift): (u32, u32, u32) = $sig1;
                self.rotate_right(a) ^ self.rotate_right(b) ^ self >> shift
            }
        }
    )*};
}

sigma! {
    u32: [2, 13, 22], [6, 11, 25], (7, 18, 3), (17, 19, 10);
    u64: [28, 34, 39], [14, 18, 41], (1, 8, 7), (19, 61, 6);
}
