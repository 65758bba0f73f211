//! Register names.

use std::fmt;

const X_NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
    "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

const F_NAMES: [&str; 32] = [
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3", "fa4",
    "fa5", "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8",
    "ft9", "ft10", "ft11",
];

/// An integer register, below 32. Prints as its ABI name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct XReg(pub u8);

/// A floating-point register, below 32. Prints as its ABI name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FReg(pub u8);

/// A vector register, below 32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VReg(pub u8);

fn numbered(name: &str, prefix: char) -> Option<u8> {
    let digits = name.strip_prefix(prefix)?;
    let number: u8 = digits.parse().ok()?;
    // One spelling each: no `x01`, no `x+1`.
    (number < 32 && number.to_string() == digits).then_some(number)
}

fn position(names: &[&str; 32], name: &str) -> Option<u8> {
    names.iter().position(|n| *n == name).map(|i| i as u8)
}

impl XReg {
    /// The ABI name. A number that is no register's is reduced to one.
    pub fn name(self) -> &'static str {
        X_NAMES[usize::from(self.0 & 31)]
    }

    /// From an ABI name, `fp`, or `x` and a number.
    pub fn from_name(name: &str) -> Option<XReg> {
        let fp = (name == "fp").then_some(8);
        position(&X_NAMES, name).or(fp).or_else(|| numbered(name, 'x')).map(XReg)
    }
}

impl FReg {
    /// The ABI name. A number that is no register's is reduced to one.
    pub fn name(self) -> &'static str {
        F_NAMES[usize::from(self.0 & 31)]
    }

    /// From an ABI name, or `f` and a number.
    pub fn from_name(name: &str) -> Option<FReg> {
        position(&F_NAMES, name).or_else(|| numbered(name, 'f')).map(FReg)
    }
}

impl VReg {
    /// From `v` and a number.
    pub fn from_name(name: &str) -> Option<VReg> {
        numbered(name, 'v').map(VReg)
    }
}

impl fmt::Display for XReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for FReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for VReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for i in 0..32 {
            assert_eq!(XReg::from_name(&XReg(i).to_string()), Some(XReg(i)));
            assert_eq!(XReg::from_name(&format!("x{i}")), Some(XReg(i)));
            assert_eq!(FReg::from_name(&FReg(i).to_string()), Some(FReg(i)));
            assert_eq!(FReg::from_name(&format!("f{i}")), Some(FReg(i)));
            assert_eq!(VReg::from_name(&VReg(i).to_string()), Some(VReg(i)));
        }
        assert_eq!(XReg::from_name("fp"), Some(XReg(8)));
        for name in ["x32", "x01", "x+1", "", "a8", "v0"] {
            assert_eq!(XReg::from_name(name), None, "{name}");
        }
    }
}
