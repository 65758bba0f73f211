//! What programs are like, in figures.

use crate::learn::compare;
use crate::options::StatsOptions;
use crate::progress::Progress;
use rvv_cli::{figures, out};
use rvv_ir::VlChoice;
use rvv_ir::c::emit_function;
use rvvgen::csource::{Files, read_text};
use rvvgen::learn::{SECTIONS, Table, learn};
use rvvgen::{Human, Plan, Settings, Stats, Weights, generate};
use std::collections::BTreeMap;

/// Sums over many programs.
#[derive(Default)]
struct Sums {
    programs: u64,
    operations: usize,
    accesses: usize,
    edges: usize,
    /// How many programs have a longest chain of this length.
    chains: BTreeMap<usize, u64>,
    /// How many have so many operations.
    sizes: BTreeMap<usize, u64>,
    /// How many have so many strip loops.
    strips: BTreeMap<usize, u64>,
    /// How many have a function with so many ratios.
    ratios: BTreeMap<usize, u64>,
    /// By VLEN: how many strip loops run 0, 1, 2, 3 to 7 times, and more often.
    iterations: Vec<(u32, [u64; 5])>,
    control: BTreeMap<&'static str, (usize, u64)>,
    repairs: usize,
}

/// Counts and prints.
pub fn run(options: &StatsOptions) -> Result<(), String> {
    if options.beside {
        return beside(options);
    }
    let settings = options.style.settings(options.vlen.clone(), VlChoice::Max)?;
    let plan =
        Plan::new(options.style.seed, &settings.selection, options.style.ops, settings.smallest_vlen());
    let mut sums =
        Sums { iterations: settings.vlens.iter().map(|&v| (v, [0; 5])).collect(), ..Sums::default() };
    let mut progress = Progress::new("programs", options.count);
    for k in 0..options.count {
        let generated = generate(&plan, k, &settings).map_err(|e| e.to_string())?;
        sums.add(&Stats::of(&generated.program), generated.repairs);
        progress.show(k + 1);
    }
    drop(progress);
    if let Some(document) = &options.markdown {
        let rows: Vec<String> = sums.rows().iter().map(|(what, n)| format!("| {what} | {n} |\n")).collect();
        let table = format!("| measure | value |\n| --- | ---: |\n{}", rows.concat());
        figures::update(document, "rvvgen stats", "rvvgen", &table).map_err(|e| e.to_string())?;
    }
    out!("{}", if options.json { sums.json() } else { sums.text() });
    Ok(())
}

/// What people do, and what programs do that are read like theirs.
fn beside(options: &StatsOptions) -> Result<(), String> {
    let settings = options.style.settings(options.vlen.clone(), VlChoice::Max)?;
    let table = settings.human.clone().unwrap_or_else(Human::built_in);
    let mut progress = Progress::new("programs", 2 * options.count);
    let mut tables = Vec::new();
    for (n, weights) in [settings.weights.clone(), Weights::default()].into_iter().enumerate() {
        let settings = Settings { weights, ..settings.clone() };
        let plan =
            Plan::new(options.style.seed, &settings.selection, options.style.ops, settings.smallest_vlen());
        let mut learned = Table::default();
        for k in 0..options.count {
            let program = generate(&plan, k, &settings).map_err(|e| e.to_string())?.program;
            let unit = read_text(&mut Files::default(), "program.c", &emit_function(&program))
                .map_err(|e| e.to_string())?;
            learned.join(&learn(&unit).table);
            progress.show(n as u64 * options.count + k + 1);
        }
        tables.push(learned);
    }
    drop(progress);
    let [mine, default] = &tables[..] else { return Ok(()) };
    let name =
        if options.style.policy.is_empty() { "default".to_string() } else { options.style.policy.join(",") };
    if let Some(document) = &options.markdown {
        let mut rows = format!("| what | {name} | default |\n| --- | ---: | ---: |\n");
        for (section, what, _) in SECTIONS {
            let distance = |of: &Table| table.table().distance(of, section);
            rows += &format!("| {what} | {:.2} | {:.2} |\n", distance(mine), distance(default));
        }
        figures::update(document, "rvvgen stats --beside", "rvvgen", &rows).map_err(|e| e.to_string())?;
    }
    out!("{}", compare(&name, mine, "people", table.table()));
    Ok(())
}

/// Programs whose number is at least this, in percent.
fn at_least(counts: &BTreeMap<usize, u64>, least: usize) -> f64 {
    let all: u64 = counts.values().sum();
    let some: u64 = counts.range(least..).map(|(_, n)| n).sum();
    100.0 * some as f64 / all.max(1) as f64
}

fn mean(counts: &BTreeMap<usize, u64>) -> f64 {
    let all: u64 = counts.values().sum();
    let sum: u64 = counts.iter().map(|(size, n)| *size as u64 * n).sum();
    sum as f64 / all.max(1) as f64
}

impl Sums {
    fn add(&mut self, stats: &Stats, repairs: usize) {
        self.programs += 1;
        self.operations += stats.operations;
        self.accesses += stats.accesses;
        self.edges += stats.edges;
        self.repairs += repairs;
        *self.chains.entry(stats.chain).or_default() += 1;
        *self.sizes.entry(stats.operations).or_default() += 1;
        *self.strips.entry(stats.strips.len()).or_default() += 1;
        *self.ratios.entry(stats.ratios).or_default() += 1;
        for (vlen, times) in &mut self.iterations {
            for n in stats.strips.iter().filter_map(|s| s.iterations(*vlen)) {
                times[match n {
                    0..=2 => n as usize,
                    3..=7 => 3,
                    _ => 4,
                }] += 1;
            }
        }
        for (what, n) in &stats.control {
            let (sum, programs) = self.control.entry(what).or_default();
            *sum += n;
            *programs += 1;
        }
    }

    /// The figures that matter most, with their names.
    fn rows(&self) -> Vec<(String, String)> {
        let each = |n: usize| n as f64 / self.programs.max(1) as f64;
        let mut rows = vec![
            ("programs".to_string(), self.programs.to_string()),
            ("operations per program".to_string(), format!("{:.1}", each(self.operations))),
            ("loads and stores per program".to_string(), format!("{:.1}", each(self.accesses))),
            (
                "edges from a result to another computation, per operation".to_string(),
                format!("{:.2}", self.edges as f64 / self.operations.max(1) as f64),
            ),
            ("longest chain, mean".to_string(), format!("{:.2}", mean(&self.chains))),
            ("programs with two strip loops or more".to_string(), percent(at_least(&self.strips, 2))),
            (
                "programs with strip loops of different SEW/LMUL in one function".to_string(),
                percent(at_least(&self.ratios, 2)),
            ),
        ];
        for (vlen, times) in &self.iterations {
            let all: u64 = times.iter().sum();
            let twice: u64 = times[2..].iter().sum();
            let share = 100.0 * twice as f64 / all.max(1) as f64;
            rows.push((format!("strip loops that run twice or more at VLEN {vlen}"), percent(share)));
        }
        rows
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (what, value) in self.rows() {
            text += &format!("{what:64} {value:>9}\n");
        }
        text += &format!("{:64} {:>9}\n", "statements taken out again", self.repairs);
        text += "\nprograms with at least          2     5    10    20    50\n";
        for (what, counts) in [("operations", &self.sizes), ("chain", &self.chains)] {
            text += &format!("  {what:24}");
            for least in [2, 5, 10, 20, 50] {
                text += &format!(" {:>3.0} %", at_least(counts, least));
            }
            text.push('\n');
        }
        text += "\nstrip loops by iterations         0       1       2     3-7      8-\n";
        for (vlen, times) in &self.iterations {
            let all: u64 = times.iter().sum();
            text += &format!("  VLEN {vlen:5}              ");
            for n in times {
                text += &format!(" {:>5.1} %", 100.0 * *n as f64 / all.max(1) as f64);
            }
            text.push('\n');
        }
        text += &format!("\n{:44} {:>8} {:>12}\n", "control flow", "in all", "programs");
        for (what, (sum, programs)) in &self.control {
            let share = 100.0 * *programs as f64 / self.programs.max(1) as f64;
            text += &format!("  {what:42} {sum:8} {:>12}\n", percent(share));
        }
        text
    }

    fn json(&self) -> String {
        let map = |counts: &BTreeMap<usize, u64>| {
            let rows: Vec<String> = counts.iter().map(|(size, n)| format!("\"{size}\":{n}")).collect();
            format!("{{{}}}", rows.join(","))
        };
        let iterations: Vec<String> =
            self.iterations.iter().map(|(vlen, times)| format!("\"{vlen}\":{times:?}")).collect();
        let control: Vec<String> = self
            .control
            .iter()
            .map(|(what, (sum, programs))| format!("\"{what}\":{{\"all\":{sum},\"programs\":{programs}}}"))
            .collect();
        format!(
            "{{\"programs\":{},\"operations\":{},\"accesses\":{},\"edges\":{},\"repairs\":{},\"chains\":{},\
             \"sizes\":{},\"strips\":{},\"ratios\":{},\"iterations\":{{{}}},\"control\":{{{}}}}}\n",
            self.programs,
            self.operations,
            self.accesses,
            self.edges,
            self.repairs,
            map(&self.chains),
            map(&self.sizes),
            map(&self.strips),
            map(&self.ratios),
            iterations.join(","),
            control.join(",")
        )
    }
}

fn percent(value: f64) -> String {
    format!("{value:.1} %")
}
