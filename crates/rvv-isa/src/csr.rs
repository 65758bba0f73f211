//! Control and status registers: a constant for each number, and the names.

include!(concat!(env!("OUT_DIR"), "/csrs.rs"));

/// The name of the register of this number.
pub fn name(number: u16) -> Option<&'static str> {
    BY_NUMBER.binary_search_by_key(&number, |&(number, _)| number).ok().map(|i| BY_NUMBER[i].1)
}

/// The number of the register of this name.
pub fn number(name: &str) -> Option<u16> {
    BY_NUMBER.iter().find(|csr| csr.1 == name).map(|csr| csr.0)
}

/// All registers, by number.
pub fn all() -> impl ExactSizeIterator<Item = (u16, &'static str)> + Clone {
    BY_NUMBER.iter().copied()
}
