//! A table as distributions to draw from.

use crate::learn::{REST, ROLES, Table, TableError, policy_name};
use crate::rng::Rng;
use rvv_intrinsics::{Intrinsic, Role, Type, all};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

/// What people do, ready to be drawn from.
#[derive(Debug)]
pub struct Human {
    table: Table,
    /// By what made a value: what takes it, as what, and how often.
    pub(super) uses: HashMap<&'static str, Vec<(&'static str, &'static str, u64)>>,
    /// By what takes a value, and as what: what made it.
    pub(super) makers: HashMap<(&'static str, &'static str), Vec<(&'static str, u64)>>,
    /// Families of intrinsics, with how often they are called.
    pub(super) families: BTreeMap<&'static str, u64>,
}

impl PartialEq for Human {
    fn eq(&self, other: &Human) -> bool {
        self.table == other.table
    }
}

/// All intrinsics by family.
static FAMILIES: LazyLock<HashMap<&'static str, Vec<&'static Intrinsic>>> = LazyLock::new(|| {
    let mut found: HashMap<&'static str, Vec<&'static Intrinsic>> = HashMap::new();
    for intrinsic in all() {
        found.entry(intrinsic.family).or_default().push(intrinsic);
    }
    found
});

static BUILT_IN: LazyLock<Arc<Human>> = LazyLock::new(|| Arc::new(Human::new(Table::human().clone())));

/// The intrinsics of a family.
pub fn members(family: &str) -> &'static [&'static Intrinsic] {
    FAMILIES.get(family).map_or(&[], |found| found)
}

/// The name of a role in tables.
pub fn role_name(role: Role) -> &'static str {
    ROLES.iter().find(|(r, _)| *r == role).map_or("part", |(_, name)| name)
}

impl Human {
    /// What public libraries do.
    pub fn built_in() -> Arc<Human> {
        BUILT_IN.clone()
    }

    /// From the text of a table.
    ///
    /// # Errors
    /// See [`TableError`].
    pub fn read(text: &str) -> Result<Human, TableError> {
        Table::from_toml(text).map(Human::new)
    }

    /// From a table. Families that are not known are left out.
    pub fn new(table: Table) -> Human {
        let known = |name: &str| FAMILIES.get_key_value(name).map(|(name, _)| *name);
        let families = table.section("families").filter_map(|(name, n)| Some((known(name)?, n))).collect();
        let mut uses: HashMap<_, Vec<_>> = HashMap::new();
        let mut makers: HashMap<_, Vec<_>> = HashMap::new();
        for (pair, n) in table.section("pairs") {
            let Some((from, to)) = pair.split_once(" > ") else { continue };
            let Some((to, role)) = to.split_once(' ') else { continue };
            let role = ROLES.iter().find(|(_, name)| *name == role).map(|(_, name)| *name);
            if let (Some(from), Some(to), Some(role)) = (known(from), known(to), role) {
                uses.entry(from).or_default().push((to, role, n));
                makers.entry((to, role)).or_default().push((from, n));
            }
        }
        Human { table, uses, makers, families }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// A name of a section, by its share; `None` if the section is empty.
    pub(super) fn draw(&self, section: &str, rng: &mut Rng) -> Option<&str> {
        let names: Vec<(&str, u64)> = self.table.section(section).filter(|(n, _)| *n != REST).collect();
        weighted(&names, |(_, n)| *n, rng).map(|(name, _)| *name)
    }

    /// A number of a section of numbers in steps that double.
    pub(super) fn number(&self, section: &str, rng: &mut Rng) -> usize {
        let Some(range) = self.draw(section, rng) else { return 1 };
        let (least, most) = match range.split_once('-') {
            Some((least, "")) => (least.parse().unwrap_or(1), 2 * least.parse().unwrap_or(1)),
            Some((least, most)) => (least.parse().unwrap_or(1), most.parse().unwrap_or(1)),
            None => (range.parse().unwrap_or(1), range.parse().unwrap_or(1)),
        };
        let least: usize = least;
        least.min(100) + rng.below(usize::min(most, 200).saturating_sub(least) + 1)
    }

    /// How common a call's type and policy are.
    pub(super) fn weight(&self, intrinsic: &Intrinsic) -> u64 {
        let ty = match intrinsic.ty {
            Type::Vector(v) => self.table.count("types", &v.short()),
            Type::Mask(n) => self.table.count("types", &format!("b{n}")),
            _ => 1,
        };
        ty.saturating_mul(self.table.count("policies", policy_name(intrinsic)))
    }
}

/// One of them, by weight; none if all weights are 0.
pub fn weighted<'a, T>(items: &'a [T], weight: impl Fn(&T) -> u64, rng: &mut Rng) -> Option<&'a T> {
    let total = items.iter().fold(0u64, |sum, item| sum.saturating_add(weight(item)));
    if total == 0 {
        return None;
    }
    let mut at = rng.below(usize::try_from(total).unwrap_or(usize::MAX)) as u64;
    items.iter().find(|item| {
        let weight = weight(item);
        let found = at < weight;
        at = at.saturating_sub(weight);
        found
    })
}
