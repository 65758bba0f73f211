//! Records: buffers that C has as the fields of one array of structures.
//!
//! `record a, b` says that element `i` of both is in one structure, `record[i].a` and `record[i].b`. Fields
//! of one structure do not overlap, so a program means the same without it; compilers see strides,
//! padding, and groups of accesses of different widths.

use crate::loops::{Lane, Lanes};
use crate::{Arg, BufferKind, Program, Stmt};
use std::collections::HashSet;

/// The most fields of a record.
pub const MOST_FIELDS: usize = 16;

impl Program {
    /// The record that a buffer is a field of, by its place in [`Program::records`].
    pub fn record_of(&self, buffer: usize) -> Option<usize> {
        self.records.iter().position(|fields| fields.contains(&buffer))
    }

    /// Whether a buffer may be the field of a record: it has one dimension, it is no constant, and only
    /// statements on single elements touch it.
    pub fn may_be_field(&self, buffer: usize) -> bool {
        let fits = |b: &crate::Buffer| b.dims.is_empty() && b.kind != BufferKind::Const && b.len > 0;
        self.buffers.get(buffer).is_some_and(fits) && !self.used_whole().contains(&buffer)
    }

    /// The same, after a buffer was taken out: later ones have moved up.
    pub fn forget_field(&mut self, buffer: usize) {
        for fields in &mut self.records {
            fields.retain(|&b| b != buffer);
            fields.iter_mut().for_each(|b| *b -= usize::from(*b > buffer));
        }
        self.records.retain(|fields| fields.len() > 1);
    }

    /// What is wrong with the records.
    pub(crate) fn check_records(&self) -> Result<(), String> {
        let whole = if self.records.is_empty() { HashSet::new() } else { self.used_whole() };
        let mut seen = HashSet::new();
        for fields in &self.records {
            if !(2..=MOST_FIELDS).contains(&fields.len()) {
                return Err(format!("a record has 2 to {MOST_FIELDS} fields, not {}", fields.len()));
            }
            for &number in fields {
                let Some(buffer) = self.buffers.get(number) else {
                    return Err("a record has a field that is no buffer".to_string());
                };
                let name = &buffer.name;
                if !seen.insert(number) {
                    return Err(format!("`{name}` is a field twice"));
                }
                if !buffer.dims.is_empty() || buffer.kind == BufferKind::Const || buffer.len == 0 {
                    return Err(format!(
                        "`{name}` is a field: it must have one dimension, an element, and be no `const`"
                    ));
                }
                if whole.contains(&number) {
                    return Err(format!(
                        "`{name}` is a field: only `set` and expressions of plain C may use it"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Buffers of which more than single elements are used: by intrinsics, and as vectors of fixed length.
    fn used_whole(&self) -> HashSet<usize> {
        fn lane(of: &Lane, found: &mut HashSet<usize>) {
            if let Lane::Load(buffer, _) = of {
                found.insert(*buffer);
            }
            of.parts().into_iter().for_each(|part| lane(part, found));
        }
        fn walk(body: &[Stmt], found: &mut HashSet<usize>) {
            for stmt in body {
                match stmt {
                    Stmt::Call(call) => found.extend(call.args.iter().filter_map(|a| match a {
                        Arg::Addr(buffer, _) => Some(*buffer),
                        _ => None,
                    })),
                    Stmt::Put { buffer, .. } => {
                        found.insert(*buffer);
                    }
                    Stmt::Lanes(of) => {
                        let Lanes { buffer, value, .. } = &**of;
                        found.insert(*buffer);
                        lane(value, found);
                    }
                    _ => {}
                }
                stmt.blocks().into_iter().for_each(|block| walk(block, found));
            }
        }
        let mut found = HashSet::new();
        self.functions.iter().chain([&self.main]).for_each(|f| walk(&f.body, &mut found));
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::Program;
    use crate::c::{COptions, emit};

    const TEXT: &str = "rvv-ir 1
data a: i8[5] = seed 0x1 bits
data b: f64[7] = seed 0x2 small
out c: i16[5] = zero
out d: f32[4] = zero
record a, b, c

global fn f() restrict {
  var i: i32
  loop i = i32(0) while < i32(5) step 1 {
    set c[i] = (a[i] + i16(b[i]))
    set d[i32(2)] = f32(b[i])
  }
}

main {
  call f()
}
";

    #[test]
    fn fields_are_in_one_array_of_structures() {
        let program: Program = TEXT.parse().unwrap_or_else(|e| panic!("{e}"));
        program.check().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(program.to_string(), TEXT);
        assert_eq!((program.record_of(1), program.record_of(3)), (Some(0), None));
        let text = emit(&[&program], &COptions::default());
        for part in [
            "struct record0 {\n    int8_t a;\n    double b;\n    int16_t c;\n};",
            "static struct record0 records0[7];",
            "f(struct record0 *restrict records0, float *restrict d)",
            "records0[i].c = records0[i].a + (int16_t)records0[i].b;",
            "for (size_t k_ = 0; k_ < 7; k_++) records0[k_].b = b.f[k_];",
            "for (size_t k_ = 0; k_ < 5; k_++) c[k_] = records0[k_].c;",
            "f(records0, d.f);",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn what_cannot_be_a_field_is_refused_with_a_reason() {
        let fails = |from: &str, to: &str| {
            let text = TEXT.replace(from, to);
            match text.parse::<Program>() {
                Err(error) => error.to_string(),
                Ok(program) => program.check().unwrap_err().to_string(),
            }
        };
        assert!(fails("record a, b, c", "record a").contains("2 to 16 fields"));
        assert!(fails("record a, b, c", "record a, a").contains("a field twice"));
        assert!(fails("record a, b, c", "record a, x").contains("no buffer `x`"));
        assert!(fails("data a: i8[5]", "const a: i8[5]").contains("be no `const`"));
        assert!(fails("data b: f64[7]", "data b: f64[7, 1]").contains("one dimension"));
        let lanes = fails("    set d[i32(2)] = f32(b[i])", "    lanes 2 b[i32(0)] = -(b[i32(0)])");
        assert!(lanes.contains("`set` and expressions"), "{lanes}");
    }

    #[test]
    fn a_record_loses_a_buffer_that_is_taken_out() {
        let mut program: Program = TEXT.parse().unwrap_or_else(|e| panic!("{e}"));
        program.forget_field(0);
        assert_eq!(program.records, [[0, 1]]);
        program.forget_field(0);
        assert!(program.records.is_empty());
    }
}
