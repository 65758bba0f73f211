//! Def-use pairs: which operation's result can be which operand of which other operation. They are numbered,
//! so that they can be dealt out as single intrinsics are.

use crate::stats::{Pair, is_operation};
use crate::vl_class::Kind;
use crate::{Count, Selection, class};
use rvv_intrinsics::{Intrinsic, Role, SECTIONS, Type, all};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

/// Operations of one family, by what they make and what they take.
pub(crate) struct Family {
    pub name: &'static str,
    section: u8,
    /// It works on element groups.
    groups: bool,
    pub by_result: HashMap<Type, Vec<&'static Intrinsic>>,
    pub operands: Vec<(Role, HashMap<Type, Vec<&'static Intrinsic>>)>,
}

impl Family {
    /// Those that take a value as this operand, by its type.
    pub fn taking(&self, role: Role) -> Option<&HashMap<Type, Vec<&'static Intrinsic>>> {
        self.operands.iter().find(|(r, _)| *r == role).map(|(_, by_type)| by_type)
    }
}

/// A pair, by the places of the families and of the operand.
#[derive(Clone, Copy)]
pub(crate) struct Numbered {
    pub producer: u16,
    pub consumer: u16,
    pub operand: u8,
}

/// All pairs there are.
pub(crate) struct Pairs {
    pub families: Vec<Family>,
    by_name: HashMap<&'static str, usize>,
    /// Those of element groups, and the others.
    pub lists: [Vec<Numbered>; 2],
}

static PAIRS: LazyLock<Pairs> = LazyLock::new(Pairs::new);

/// Whether data flows through an operand of this role.
fn carries(role: Role, ty: Type) -> bool {
    let role = matches!(
        role,
        Role::Mask | Role::Dest | Role::Acc | Role::Vs2 | Role::Vs1 | Role::Scalar | Role::Carry
    );
    role && matches!(ty, Type::Vector(_) | Type::Mask(_) | Type::Scalar(_))
}

impl Pairs {
    /// The one list.
    pub fn get() -> &'static Pairs {
        &PAIRS
    }

    fn new() -> Pairs {
        let mut places: HashMap<&'static str, usize> = HashMap::new();
        let mut families: Vec<Family> = Vec::new();
        let mut types: HashMap<Type, u32> = HashMap::new();
        for intrinsic in all().iter().filter(|i| is_operation(i)) {
            let place = *places.entry(intrinsic.family).or_insert_with(|| {
                families.push(Family {
                    name: intrinsic.family,
                    section: intrinsic.section,
                    groups: matches!(class(intrinsic).kind, Kind::Groups(_)),
                    by_result: HashMap::new(),
                    operands: Vec::new(),
                });
                families.len() - 1
            });
            let family = &mut families[place];
            let mut number = |ty: Type| {
                let next = types.len() as u32;
                types.entry(ty).or_insert(next);
            };
            number(intrinsic.ret);
            family.by_result.entry(intrinsic.ret).or_default().push(intrinsic);
            for param in intrinsic.params.iter().filter(|p| carries(p.role, p.ty)) {
                number(param.ty);
                let operands = &mut family.operands;
                let at = operands.iter().position(|(role, _)| *role == param.role).unwrap_or_else(|| {
                    operands.push((param.role, HashMap::new()));
                    operands.len() - 1
                });
                operands[at].1.entry(param.ty).or_default().push(intrinsic);
            }
        }
        // Types as bits: there are fewer than 256.
        let bits = |of: &mut dyn Iterator<Item = &Type>| {
            of.fold([0u128; 2], |mut bits, ty| {
                let n = types[ty];
                bits[(n / 128 % 2) as usize] |= 1 << (n % 128);
                bits
            })
        };
        let results: Vec<[u128; 2]> = families.iter().map(|f| bits(&mut f.by_result.keys())).collect();
        let mut lists = [Vec::new(), Vec::new()];
        for (consumer, family) in families.iter().enumerate() {
            for (operand, (_, by_type)) in family.operands.iter().enumerate() {
                let wanted = bits(&mut by_type.keys());
                for (producer, made) in results.iter().enumerate() {
                    if made[0] & wanted[0] | made[1] & wanted[1] != 0 {
                        let plain = !(family.groups || families[producer].groups);
                        lists[usize::from(plain)].push(Numbered {
                            producer: producer as u16,
                            consumer: consumer as u16,
                            operand: operand as u8,
                        });
                    }
                }
            }
        }
        Pairs { families, by_name: places, lists }
    }

    /// A family by name.
    pub fn family(&self, name: &str) -> Option<&Family> {
        self.by_name.get(name).map(|&place| &self.families[place])
    }

    fn pair(&self, numbered: Numbered) -> Pair {
        let consumer = &self.families[usize::from(numbered.consumer)];
        Pair {
            producer: self.families[usize::from(numbered.producer)].name,
            consumer: consumer.name,
            role: consumer.operands[usize::from(numbered.operand)].0,
        }
    }
}

/// Which of the def-use pairs that types allow have been made.
#[derive(Clone, Debug)]
pub struct PairCoverage {
    /// By pair: the section of the consumer.
    wanted: HashMap<Pair, u8>,
    made: HashSet<Pair>,
}

impl PairCoverage {
    /// None of the pairs has been made whose operations are selected.
    pub fn new(selection: &Selection) -> PairCoverage {
        let pairs = Pairs::get();
        let wants = |i: &&'static Intrinsic| selection.wants(i, false) || selection.wants(i, true);
        let selected: Vec<bool> =
            pairs.families.iter().map(|f| f.by_result.values().flatten().any(wants)).collect();
        let mut wanted = HashMap::new();
        for numbered in pairs.lists.iter().flatten() {
            if selected[usize::from(numbered.producer)] && selected[usize::from(numbered.consumer)] {
                let section = pairs.families[usize::from(numbered.consumer)].section;
                wanted.insert(pairs.pair(*numbered), section);
            }
        }
        PairCoverage { wanted, made: HashSet::new() }
    }

    /// These pairs have been made.
    pub fn add(&mut self, pairs: impl IntoIterator<Item = Pair>) {
        let wanted = &self.wanted;
        self.made.extend(pairs.into_iter().filter(|p| wanted.contains_key(p)));
    }

    /// In all.
    pub fn count(&self) -> Count {
        Count { covered: self.made.len(), total: self.wanted.len() }
    }

    /// By the section of the operation that takes the value.
    pub fn by_section(&self) -> Vec<(&'static str, Count)> {
        self.by(|_, section| (section, SECTIONS.get(usize::from(section)).copied().unwrap_or("?")))
    }

    /// By the operand that the value is.
    pub fn by_role(&self) -> Vec<(&'static str, Count)> {
        self.by(|pair, _| match pair.role {
            Role::Mask => (0, "mask"),
            Role::Dest => (1, "vd, what is not written"),
            Role::Acc => (2, "vd, an operand"),
            Role::Vs2 => (3, "vs2"),
            Role::Vs1 => (4, "vs1"),
            Role::Scalar => (5, "rs1"),
            _ => (6, "v0, a carry or selector"),
        })
    }

    fn by(&self, of: impl Fn(&Pair, u8) -> (u8, &'static str)) -> Vec<(&'static str, Count)> {
        let mut counts: BTreeMap<(u8, &'static str), Count> = BTreeMap::new();
        for (pair, &section) in &self.wanted {
            let count = counts.entry(of(pair, section)).or_default();
            count.total += 1;
            count.covered += usize::from(self.made.contains(pair));
        }
        counts.into_iter().map(|((_, name), count)| (name, count)).collect()
    }

    /// What has not been made yet, in the order of names.
    pub fn missing(&self) -> Vec<Pair> {
        let mut missing: Vec<Pair> = self.wanted.keys().filter(|p| !self.made.contains(p)).copied().collect();
        missing.sort_unstable();
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_those_that_types_allow() {
        let coverage = PairCoverage::new(&Selection::default());
        let has = |producer, consumer, role| coverage.wanted.contains_key(&Pair { producer, consumer, role });
        assert!(has("vadd_vv", "vmul_vv", Role::Vs2));
        assert!(has("vmseq_vv", "vadd_vv", Role::Mask));
        assert!(has("vmseq_vv", "vmerge_vvm", Role::Carry));
        assert!(has("vmv_x_s", "vadd_vx", Role::Scalar));
        assert!(has("vredsum_vs", "vredsum_vs", Role::Vs1));
        assert!(!has("vadd_vv", "vfadd_vv", Role::Vs2), "integers are no floats");
        assert!(!has("vadd_vv", "vmand_mm", Role::Vs2), "vectors are no masks");
        assert!(coverage.count().total > 50_000, "{:?}", coverage.count());
        let sum: usize = coverage.by_section().iter().map(|(_, c)| c.total).sum();
        assert_eq!(sum, coverage.count().total);
    }
}
