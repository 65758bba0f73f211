//! Functions of the published ciphers and hashes, which scalar and vector instructions share.

pub(crate) mod aes;
pub(crate) mod sha2;
pub(crate) mod sm3;
pub(crate) mod sm4;
