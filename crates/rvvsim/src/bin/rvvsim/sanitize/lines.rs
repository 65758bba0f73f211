//! Source lines and units of translation, from DWARF. The file is a stranger's: what is malformed in it is
//! not there.

use gimli::{AttributeValue, Dwarf, EndianSlice, LittleEndian, SectionId};
use rvvsim::elf::Image;
use rvvsim::sanitize::Units;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub file: String,
    pub line: u32,
    pub column: Option<u32>,
}

/// The lines of a program.
pub struct Lines<'a> {
    context: Option<addr2line::Context<Slice<'a>>>,
    units: Vec<(std::ops::Range<u64>, u32)>,
    bias: u64,
}

/// Units of a file that are looked at.
const MOST_UNITS: u32 = 1 << 16;

fn load<'a>(image: &'a Image) -> Option<Dwarf<Slice<'a>>> {
    let section = |id: SectionId| {
        let bytes = image.section(id.name()).unwrap_or(&[]);
        Ok::<_, gimli::Error>(EndianSlice::new(bytes, LittleEndian))
    };
    Dwarf::load(section).ok()
}

impl<'a> Lines<'a> {
    /// Of a program that was moved by `bias`.
    pub fn new(image: &'a Image, bias: u64) -> Lines<'a> {
        let units = load(image).and_then(|dwarf| units(&dwarf).ok()).unwrap_or_default();
        let context = load(image).and_then(|dwarf| addr2line::Context::from_dwarf(dwarf).ok());
        Lines { context, units, bias }
    }

    /// Which code is of which unit.
    pub fn units(&self) -> Units {
        let moved = |range: &std::ops::Range<u64>| {
            range.start.wrapping_add(self.bias)..range.end.wrapping_add(self.bias)
        };
        Units::new(self.units.iter().map(|(range, unit)| (moved(range), *unit)).collect())
    }

    /// The line of an instruction.
    pub fn line(&self, pc: u64) -> Option<Line> {
        let place = self.context.as_ref()?.find_location(pc.wrapping_sub(self.bias)).ok()??;
        let file: String = place.file?.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        Some(Line { file, line: place.line.filter(|l| *l != 0)?, column: place.column.filter(|c| *c != 0) })
    }
}

fn units(dwarf: &Dwarf<Slice>) -> gimli::Result<Vec<(std::ops::Range<u64>, u32)>> {
    let mut found = Vec::new();
    let mut headers = dwarf.units();
    let mut number = 1;
    while let Some(header) = headers.next()? {
        let Ok(unit) = dwarf.unit(header) else { continue };
        number += 1;
        if number > MOST_UNITS {
            break;
        }
        // Link-time optimisation knows functions across units: they are all one.
        let producer =
            unit.entries().next_dfs().ok().flatten().and_then(|die| die.attr_value(gimli::DW_AT_producer));
        let producer = producer.and_then(|value: AttributeValue<_>| dwarf.attr_string(&unit, value).ok());
        let lto = producer.is_some_and(|p| p.to_string_lossy().contains("GIMPLE"));
        let Ok(mut ranges) = dwarf.unit_ranges(&unit) else { continue };
        while let Ok(Some(range)) = ranges.next() {
            found.push((range.begin..range.end, if lto { 0 } else { number }));
        }
    }
    Ok(found)
}
