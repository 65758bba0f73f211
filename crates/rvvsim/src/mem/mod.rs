//! Guest memory: RAM, and the software TLB in front of it.

mod guard;
mod ram;
mod tlb;

pub use ram::{Ram, Saved, SharedPage};
pub(crate) use tlb::HostTlb;
pub use tlb::{PAGE, Tlb};

/// What an access wants to do; picks the TLB and the permission bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// A load.
    Load,
    /// A store, or the write half of an AMO.
    Store,
    /// An instruction fetch.
    Fetch,
}

/// Where an address leads once translated and permitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// An offset into [`Ram`].
    Ram(usize),
    /// A device register, by physical address.
    Device(u64),
}

/// The values scalar loads and stores move.
pub trait Scalar: Copy + 'static {
    /// Bytes.
    const SIZE: usize;
    /// Reads one at `offset`; `None` past the end.
    fn get(bytes: &[u8], offset: usize) -> Option<Self>;
    /// Writes one at `offset`; `None` past the end.
    fn put(self, bytes: &mut [u8], offset: usize) -> Option<()>;
    /// Itself on a host that is little-endian, as memory is, and with its bytes the other way round on
    /// another.
    fn little_endian(self) -> Self;
    /// Truncates.
    fn from_u64(v: u64) -> Self;
    /// Zero-extends.
    fn to_u64(self) -> u64;
}

macro_rules! scalar {
    ($($t:ty),*) => {$(
        impl Scalar for $t {
            const SIZE: usize = size_of::<$t>();
            #[inline(always)]
            fn get(bytes: &[u8], offset: usize) -> Option<Self> {
                Some(<$t>::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
            }
            #[inline(always)]
            fn put(self, bytes: &mut [u8], offset: usize) -> Option<()> {
                *bytes.get_mut(offset..)?.first_chunk_mut()? = self.to_le_bytes();
                Some(())
            }
            #[inline(always)]
            fn little_endian(self) -> Self {
                self.to_le()
            }
            #[inline(always)]
            fn from_u64(v: u64) -> Self {
                v as $t
            }
            #[inline(always)]
            fn to_u64(self) -> u64 {
                u64::from(self)
            }
        }
    )*};
}
scalar!(u8, u16, u32, u64);
