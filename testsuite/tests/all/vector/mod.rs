//! All vector instructions in bulk: each form at many types and VLENs, against a model, against itself on one
//! element, or against the answers that a standard publishes. [`rules`](crate::rules) goes by the manual's
//! sentences instead.

mod support;

mod crypto;
mod elements;
mod legality;
mod memory;
