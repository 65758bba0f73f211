//! What of the selected calls has been made.

use crate::{Category, Choice, Selection, exists_at};
use rvv_intrinsics::{Extension, Intrinsic, SECTIONS, Type, all};
use std::collections::BTreeMap;

/// Which of the selected calls have been made.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// By the intrinsic's id, then by spelling: selected, and made.
    selected: Vec<[bool; 2]>,
    made: Vec<[bool; 2]>,
    total: usize,
    covered: usize,
}

/// Calls made, of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Count {
    /// Made.
    pub covered: usize,
    /// In all.
    pub total: usize,
}

impl Count {
    /// From 0 to 100.
    pub fn percent(self) -> f64 {
        if self.total == 0 { 100.0 } else { self.covered as f64 * 100.0 / self.total as f64 }
    }
}

/// What calls are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// The official list.
    Extension,
    /// The section of the list.
    Section,
    /// Explicit or overloaded, with or without policy.
    Category,
    /// The width of the elements of the type that the name shows.
    Sew,
    /// The LMUL of that type.
    Lmul,
}

impl Group {
    /// All of them.
    pub const ALL: [Group; 5] = [Group::Extension, Group::Section, Group::Category, Group::Sew, Group::Lmul];

    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            Group::Extension => "extension",
            Group::Section => "section",
            Group::Category => "category",
            Group::Sew => "sew",
            Group::Lmul => "lmul",
        }
    }

    /// Where a call belongs: a number to sort by, and a name.
    fn of(self, intrinsic: &Intrinsic, overloaded: bool) -> (i32, String) {
        match self {
            Group::Extension => {
                let place = Extension::ALL.iter().position(|e| *e == intrinsic.extension);
                (place.unwrap_or(0) as i32, intrinsic.extension.name().to_string())
            }
            Group::Section => {
                let section = SECTIONS.get(usize::from(intrinsic.section)).copied().unwrap_or("?");
                (intrinsic.section.into(), section.to_string())
            }
            Group::Category => {
                let category = Category::of(intrinsic, overloaded);
                (category as i32, category.name().to_string())
            }
            Group::Sew => match intrinsic.ty {
                Type::Vector(v) => (v.elem.bits() as i32, v.elem.bits().to_string()),
                _ => (0, "mask".to_string()),
            },
            Group::Lmul => match intrinsic.ty {
                Type::Vector(v) => (v.lmul.log2(), v.lmul.to_string()),
                _ => (-9, "mask".to_string()),
            },
        }
    }
}

impl Coverage {
    /// None of what is selected has been made.
    pub fn new(selection: &Selection) -> Coverage {
        Coverage::of(|i, overloaded| selection.wants(i, overloaded))
    }

    /// The same of what has a meaning at a VLEN: some element groups do not fit into a fraction of a
    /// register.
    pub fn at(selection: &Selection, vlen: u32) -> Coverage {
        Coverage::of(|i, overloaded| exists_at(i, vlen) && selection.wants(i, overloaded))
    }

    fn of(wants: impl Fn(&Intrinsic, bool) -> bool) -> Coverage {
        let selected: Vec<[bool; 2]> =
            all().iter().map(|i| [false, true].map(|overloaded| wants(i, overloaded))).collect();
        let total = selected.iter().flatten().filter(|s| **s).count();
        Coverage { made: vec![[false; 2]; selected.len()], selected, total, covered: 0 }
    }

    /// These calls have been made. True if one of them was news.
    pub fn add<'c>(&mut self, calls: impl IntoIterator<Item = &'c Choice>) -> bool {
        let before = self.covered;
        for call in calls {
            let (id, spelling) = (call.intrinsic.id as usize, usize::from(call.overloaded));
            if self.selected[id][spelling] && !self.made[id][spelling] {
                self.made[id][spelling] = true;
                self.covered += 1;
            }
        }
        self.covered > before
    }

    /// In all.
    pub fn count(&self) -> Count {
        Count { covered: self.covered, total: self.total }
    }

    /// In groups.
    pub fn by(&self, group: Group) -> Vec<(String, Count)> {
        let mut groups: BTreeMap<(i32, String), Count> = BTreeMap::new();
        for intrinsic in all() {
            for overloaded in [false, true] {
                let (id, spelling) = (intrinsic.id as usize, usize::from(overloaded));
                if self.selected[id][spelling] {
                    let count = groups.entry(group.of(intrinsic, overloaded)).or_default();
                    count.total += 1;
                    count.covered += usize::from(self.made[id][spelling]);
                }
            }
        }
        groups.into_iter().map(|((_, name), count)| (name, count)).collect()
    }

    /// What has not been made yet.
    pub fn missing(&self) -> impl Iterator<Item = Choice> {
        all().iter().flat_map(|intrinsic| {
            let id = intrinsic.id as usize;
            let missing = |s: &usize| self.selected[id][*s] && !self.made[id][*s];
            let spellings: Vec<usize> = (0..2).filter(missing).collect();
            spellings.into_iter().map(move |s| Choice { intrinsic, overloaded: s == 1 })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    #[test]
    fn what_can_be_covered_is_what_is_planned() {
        let selection = Selection::default();
        let [small, large] = [128, 512].map(|vlen| Coverage::at(&selection, vlen).count().total);
        assert_eq!(small, Plan::new(1, &selection, 10, 128).len());
        assert_eq!(large, Plan::new(1, &selection, 10, 512).len());
        // The groups of vsm3me have 256 bits: half a register of less than 512 is too small.
        assert!(small < large && large == Coverage::new(&selection).count().total);
    }
}
