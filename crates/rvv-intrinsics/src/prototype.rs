//! The official lists, line by line.

use crate::{Extension, Intrinsic, SECTIONS, all};
use std::fmt::Write;

/// The four lists of each extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// `__riscv_vadd_vv_i32m1`
    Explicit,
    /// `__riscv_vadd_vv_i32m1_tum`
    ExplicitPolicy,
    /// `__riscv_vadd`
    Overloaded,
    /// `__riscv_vadd_tum`
    OverloadedPolicy,
}

impl Category {
    /// All of them.
    pub const ALL: [Category; 4] =
        [Category::Explicit, Category::ExplicitPolicy, Category::Overloaded, Category::OverloadedPolicy];

    /// As the official lists call it: `overloaded-policy`.
    pub fn name(self) -> &'static str {
        match self {
            Category::Explicit => "explicit",
            Category::ExplicitPolicy => "explicit-policy",
            Category::Overloaded => "overloaded",
            Category::OverloadedPolicy => "overloaded-policy",
        }
    }

    /// From [`Category::name`].
    pub fn from_name(name: &str) -> Option<Category> {
        Category::ALL.into_iter().find(|c| c.name() == name)
    }

    /// The list that has this intrinsic under its explicit or its overloaded name.
    pub fn of(intrinsic: &Intrinsic, overloaded: bool) -> Category {
        match (intrinsic.has_policy(), overloaded) {
            (false, false) => Category::Explicit,
            (true, false) => Category::ExplicitPolicy,
            (false, true) => Category::Overloaded,
            (true, true) => Category::OverloadedPolicy,
        }
    }
}

/// One line of an official list: an intrinsic under one of its names.
#[derive(Clone, Copy, Debug)]
pub struct Prototype {
    /// Which list.
    pub category: Category,
    /// What it declares.
    pub intrinsic: &'static Intrinsic,
}

impl Prototype {
    /// The list's extension.
    pub fn extension(&self) -> Extension {
        self.intrinsic.extension
    }

    /// The list's section.
    pub fn section(&self) -> &'static str {
        SECTIONS[usize::from(self.intrinsic.section)]
    }

    /// The name, explicit or overloaded.
    pub fn name(&self) -> &'static str {
        match self.category {
            Category::Explicit | Category::ExplicitPolicy => &self.intrinsic.name,
            _ => self.intrinsic.overloaded.as_deref().unwrap_or_default(),
        }
    }

    /// The parameters, as C declares them; the overloaded name has the same.
    pub fn parameters(&self) -> String {
        let mut text = String::new();
        for p in &self.intrinsic.params {
            let comma = if text.is_empty() { "" } else { ", " };
            let space = if p.ty.is_pointer() { "" } else { " " };
            // Writing to a String cannot fail.
            let _ = write!(text, "{comma}{}{space}{}", p.ty, p.name);
        }
        text
    }

    /// The line, its columns separated by tabs: extension, category, section, result, name, parameters.
    pub fn line(&self) -> String {
        format!(
            "{}\t{}\t{}\t{}\t{}\t{}",
            self.extension().name(),
            self.category.name(),
            self.section(),
            self.intrinsic.ret,
            self.name(),
            self.parameters()
        )
    }
}

/// All lines of the official lists of `v`, `bf16` and `crypto`.
pub fn prototypes() -> impl Iterator<Item = Prototype> {
    all().iter().flat_map(|intrinsic| {
        let (explicit, overloaded) = match intrinsic.has_policy() {
            false => (Category::Explicit, Category::Overloaded),
            true => (Category::ExplicitPolicy, Category::OverloadedPolicy),
        };
        let overloaded =
            intrinsic.overloaded.is_some().then_some(Prototype { category: overloaded, intrinsic });
        std::iter::once(Prototype { category: explicit, intrinsic }).chain(overloaded)
    })
}
