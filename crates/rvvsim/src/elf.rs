//! Reading ELF files: everything the loaders need, checked, so that they need not doubt it.

/// A checked ELF file.
pub struct Image {}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {}
