//! Flattened device trees (Devicetree Specification, chapter 5), enough to describe this platform.

/// Writes a tree: nodes are opened and closed, properties belong to the open node.
#[derive(Default)]
pub struct Fdt {
    structure: Vec<u8>,
    strings: Vec<u8>,
}

const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROP: u32 = 3;
const END: u32 = 9;

const HEADER: usize = 40;
/// One empty entry: no memory is reserved.
const RESERVATIONS: usize = 16;

impl Fdt {
    fn word(&mut self, word: u32) {
        self.structure.extend(word.to_be_bytes());
    }

    fn pad(&mut self) {
        self.structure.resize(self.structure.len().next_multiple_of(4), 0);
    }

    /// A node with its properties and children, which `inside` adds.
    pub fn node(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.word(BEGIN_NODE);
        self.structure.extend(name.as_bytes());
        self.structure.push(0);
        self.pad();
        inside(self);
        self.word(END_NODE);
    }

    /// A property.
    pub fn bytes(&mut self, name: &str, value: &[u8]) {
        let at = self.strings.len() as u32;
        self.strings.extend(name.as_bytes());
        self.strings.push(0);
        self.word(PROP);
        self.word(value.len() as u32);
        self.word(at);
        self.structure.extend(value);
        self.pad();
    }

    /// A property of 32-bit cells.
    pub fn cells(&mut self, name: &str, cells: &[u32]) {
        let value: Vec<u8> = cells.iter().flat_map(|cell| cell.to_be_bytes()).collect();
        self.bytes(name, &value);
    }

    /// A property of one or more strings, each but the last followed by a `\0`.
    pub fn text(&mut self, name: &str, text: &str) {
        let mut value = text.as_bytes().to_vec();
        value.push(0);
        self.bytes(name, &value);
    }

    /// The tree as a blob.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.word(END);
        let structure_at = HEADER + RESERVATIONS;
        let strings_at = structure_at + self.structure.len();
        let total = strings_at + self.strings.len();
        let header = [
            0xd00d_feed,
            total,
            structure_at,
            strings_at,
            HEADER,
            17, // Version, and the oldest one it is compatible with.
            16,
            0, // The hart that boots.
            self.strings.len(),
            self.structure.len(),
        ];
        let mut blob: Vec<u8> = header.iter().flat_map(|&word| (word as u32).to_be_bytes()).collect();
        blob.resize(structure_at, 0);
        blob.extend(self.structure);
        blob.extend(self.strings);
        blob
    }
}
