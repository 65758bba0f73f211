//! The result of a sweep, for people and for programs.

use super::Result;
use super::judge::{Pair, Verdict};
use super::plan::Axis;
use super::seen::{Difference, Group};
use rvvsim::config::VlChoice;
use std::fmt::Write;

impl Result<'_> {
    /// The table, a sentence, and the first difference on each axis.
    pub fn text(&self, verdicts: &[Verdict]) -> String {
        let mut text = String::new();
        let values: Vec<_> = verdicts.iter().map(|v| v.axis.values(&self.sweep.vlens).join(" ")).collect();
        let width = values.iter().map(String::len).max().unwrap_or(0);
        let _ = writeln!(text, "{:4}  {:width$}  output", "", "values");
        for (verdict, values) in verdicts.iter().zip(values) {
            let _ = writeln!(text, "{:4}  {values:width$}  {}", verdict.axis.name(), word(verdict));
        }
        let _ =
            writeln!(text, "\n{} runs in {:.1} s. {}", self.plan.len(), self.seconds(), sentence(verdicts));
        let _ = writeln!(text, "{}", self.freedom());
        if self.fails_everywhere() {
            let all = if self.distinct.len() == 1 { "every run" } else { "the first run" };
            let _ = writeln!(text, "The program fails everywhere; {all} ended so: {}", self.ending(0));
        }
        for verdict in plainest(verdicts) {
            if let Some(pair) = verdict.differs {
                self.text_of(&mut text, verdict.axis, pair);
            }
        }
        text
    }

    fn text_of(&self, text: &mut String, axis: Axis, pair: Pair) {
        let (base, other) = (self.plan[pair.base].value(axis), self.plan[pair.other].value(axis));
        let width = base.len().max(other.len());
        let _ = writeln!(text, "\n{}: {other} differs from {base}", axis.name());
        for d in self.differences(pair) {
            let _ = writeln!(text, "  {}", d.place);
            let _ = writeln!(text, "    {base:width$}  {}", d.base);
            let _ = writeln!(text, "    {other:width$}  {}", d.other);
        }
        let input = if self.fed { ", with the same standard input" } else { "" };
        let _ = writeln!(text, "  to reproduce{input}");
        let _ = writeln!(text, "    {}", self.command(pair.base));
        let _ = writeln!(text, "    {}", self.command(pair.other));
    }

    /// Which vl were tried, and why those.
    fn freedom(&self) -> String {
        let Group { size, of } = self.group;
        match self.multiple {
            n if n != size => format!("vl was VLMAX or a multiple of {n}, as --vl-multiple says."),
            1 => "vl was any from AVL/2 to VLMAX: no element-group instruction was executed.".to_owned(),
            n => format!("vl was VLMAX or a multiple of {n}: {of} was executed (norm:egs_vl_avl)."),
        }
    }

    /// One object.
    pub fn json(&self, verdicts: &[Verdict]) -> String {
        let axes: Vec<_> = verdicts.iter().map(|v| self.json_of(v)).collect();
        let portable = self.distinct.len() == 1;
        format!(
            "{{\"program\":{},\"same\":{portable},\"runs\":{},\"seconds\":{:.3},\"ending\":{},\"failed\":{},\
             \"vl_multiple\":{},\"axes\":[{}]}}\n",
            quoted(self.name),
            self.plan.len(),
            self.seconds(),
            quoted(&self.ending(0)),
            self.fails_everywhere(),
            self.multiple,
            axes.join(",")
        )
    }

    fn json_of(&self, verdict: &Verdict) -> String {
        let list = |words: &[String]| words.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(",");
        let values = list(&verdict.axis.values(&self.sweep.vlens));
        let mut text = format!(
            "{{\"axis\":{},\"values\":[{values}],\"compared\":{},\"same\":{}",
            quoted(verdict.axis.name()),
            verdict.compared,
            verdict.differs.is_none()
        );
        if let Some(pair) = verdict.differs {
            let found: Vec<_> = self.differences(pair).iter().map(json_difference).collect();
            let side = |run: usize| {
                let (value, command) = (self.plan[run].value(verdict.axis), self.command(run));
                format!("{{\"value\":{},\"command\":{}}}", quoted(&value), quoted(&command))
            };
            let _ = write!(
                text,
                ",\"only_with\":[{}],\"base\":{},\"other\":{},\"differences\":[{}]",
                list(&verdict.only_with),
                side(pair.base),
                side(pair.other),
                found.join(",")
            );
        }
        text + "}"
    }

    fn seconds(&self) -> f64 {
        self.time.as_secs_f64()
    }

    /// How a run ended, and why.
    fn ending(&self, run: usize) -> String {
        let ending = &self.distinct[self.shown[run]].ending;
        match &self.why[run] {
            Some(why) => format!("{ending}: {why}"),
            None => ending.clone(),
        }
    }

    fn differences(&self, pair: Pair) -> Vec<Difference> {
        let seen = |run: usize| &self.distinct[self.shown[run]];
        let mut found = seen(pair.base).differences(seen(pair.other));
        if let Some(ending) = found.iter_mut().find(|d| d.place == "ending") {
            (ending.base, ending.other) = (self.ending(pair.base), self.ending(pair.other));
        }
        found
    }

    /// The command that makes one of the runs: the user's own, with the choice in the sweep's place.
    fn command(&self, run: usize) -> String {
        let mut options = self.plan[run].options();
        if self.plan[run].vl != VlChoice::Max && self.multiple != self.usual_multiple {
            options.extend(["--vl-multiple".to_owned(), self.multiple.to_string()]);
        }
        if let Some(seed) = self.seed.filter(|_| !self.bare) {
            options.extend(["--seed".to_owned(), seed.to_string()]);
        }
        // Who tries it should not have to wait for ever.
        if let Some(limit) = self.limit.filter(|_| self.stopped[run]) {
            options.extend(["--max-insns".to_owned(), limit.to_string()]);
        }
        let mut words = vec!["rvvsim".to_owned()];
        let mut given = self.sweep.words.iter().skip(1).map(|w| w.to_string_lossy());
        while let Some(word) = given.next() {
            if word == "--" {
                words.append(&mut options);
                words.push("--".to_owned());
                break;
            }
            match word.split_once('=').map_or(&*word, |(option, _)| option) {
                "--json" | "--sweep" => {}
                "--ignore" | "--compare" if word.contains('=') => {}
                "--ignore" | "--compare" => drop(given.next()),
                _ => words.push(shell(&word)),
            }
        }
        words.extend(given.map(|word| shell(&word)));
        words.append(&mut options);
        words.join(" ")
    }
}

/// The verdict on an axis in the table.
fn word(verdict: &Verdict) -> String {
    match (verdict.differs, &verdict.only_with[..]) {
        (None, _) => "same".to_owned(),
        (Some(_), []) => "differs".to_owned(),
        (Some(_), with) => format!("differs with {}", with.join(" ")),
    }
}

/// The differences that need no other choice; if there are none, all.
fn plainest(verdicts: &[Verdict]) -> impl Iterator<Item = &Verdict> {
    let plain = |v: &&Verdict| v.differs.is_some() && v.only_with.is_empty();
    let any = verdicts.iter().any(|v| plain(&v));
    verdicts.iter().filter(move |v| if any { plain(v) } else { v.differs.is_some() })
}

fn sentence(verdicts: &[Verdict]) -> String {
    let axes: Vec<_> = plainest(verdicts).map(|v| v.axis).collect();
    match &axes[..] {
        [] => "The output depends on none of these.".to_owned(),
        [Axis::Vlen] => {
            "The output depends on VLEN and on nothing else: as it should if the program prints VLEN \
                         or what follows from it."
                .to_owned()
        }
        [axis] => format!("The output depends on {}.", axis.words()),
        [init @ .., last] => {
            let init: Vec<_> = init.iter().map(|a| a.words()).collect();
            format!("The output depends on {} and {}.", init.join(", "), last.words())
        }
    }
}

pub fn json_difference(d: &Difference) -> String {
    format!("{{\"place\":{},\"base\":{},\"other\":{}}}", quoted(&d.place), quoted(&d.base), quoted(&d.other))
}

/// A JSON string.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

/// A word as a shell takes it.
fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_needed() {
        assert_eq!(quoted("a\"\\\n\u{1}é"), "\"a\\\"\\\\\\n\\u0001é\"");
        assert_eq!(shell("a/b-c=1"), "a/b-c=1");
        assert_eq!(shell("it's"), "'it'\\''s'");
        assert_eq!(shell(""), "''");
    }
}
