//! A program that is kept.

use rvv_ir::Node;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The longest text of a program that is kept, in bytes.
pub const LONGEST: usize = 256 << 10;
/// The most features of one program that count.
pub const MOST_FEATURES: usize = 16 << 10;
/// The most places of a program that are remembered.
const MOST_PLACES: usize = 64;

/// A statement's place, as it is stored: the function, and the way to the statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place(pub usize, pub Vec<usize>);

impl From<&Node> for Place {
    fn from(node: &Node) -> Place {
        Place(node.function, node.path.clone())
    }
}

impl From<&Place> for Node {
    fn from(place: &Place) -> Node {
        Node { function: place.0, path: place.1.clone() }
    }
}

/// A program that may be kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its number in the campaign.
    pub number: u64,
    /// Its text.
    pub ir: String,
    /// What compilers did with it, as numbers of features.
    pub features: BTreeSet<u64>,
    /// The entry that it was made of.
    pub parent: Option<u64>,
    /// How it was made of it.
    pub mutator: Option<String>,
    /// What was changed then: its statements by their places.
    pub touched: Vec<Place>,
    /// How near it comes to what the campaign is directed at, from 0 to 1.
    pub near: f64,
}

impl Candidate {
    /// The same within bounds: what comes from a file need not be trusted. `None` if nothing of it can be
    /// kept.
    pub(super) fn bounded(mut self) -> Option<Candidate> {
        if self.ir.is_empty() || self.ir.len() > LONGEST {
            return None;
        }
        while self.features.len() > MOST_FEATURES {
            self.features.pop_last();
        }
        self.touched.truncate(MOST_PLACES);
        self.near = if self.near.is_finite() { self.near.clamp(0.0, 1.0) } else { 0.0 };
        Some(self)
    }
}

/// A program that is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number in the corpus: later ones are larger.
    pub id: u64,
    /// What it is.
    #[serde(flatten)]
    pub program: Candidate,
    /// Features that nothing before it had.
    pub added: usize,
    /// How often it was chosen.
    pub chosen: u64,
    /// Programs made of it that were kept.
    pub finds: u64,
    /// The most features that one of those added.
    pub best: usize,
}

impl Entry {
    /// The bytes that it counts for.
    pub(super) fn bytes(&self) -> usize {
        self.program.ir.len() + 8 * self.program.features.len()
    }
}
