//! What programs reach.

use crate::options::CoverageOptions;
use crate::progress::Progress;
use rvv_cli::out;
use rvv_ir::VlChoice;
use rvvgen::{Count, Coverage, Group, PairCoverage, Plan, Stats, generate};

/// Counts and reports.
pub fn run(options: &CoverageOptions) -> Result<(), String> {
    let settings = options.style.settings(vec![options.vlen], VlChoice::Max)?;
    let plan = Plan::new(options.style.seed, &settings.selection, options.style.ops, options.vlen);
    let mut coverage = Coverage::at(&settings.selection, options.vlen);
    let elsewhere = Coverage::new(&settings.selection).count().total - coverage.count().total;
    let mut progress = Progress::new("programs", options.count);
    for k in 0..options.count {
        let generated = generate(&plan, k, &settings).map_err(|e| e.to_string())?;
        coverage.add(&generated.executed);
        progress.show(k + 1);
    }
    drop(progress);
    if options.json {
        let head = format!("\"programs\":{}", options.count);
        out!("{}", json(&coverage, &head));
        return Ok(());
    }
    let count = coverage.count();
    let mut head = format!(
        "{} programs execute {} of {} prototypes: {:.2} %\n",
        options.count,
        count.covered,
        count.total,
        count.percent()
    );
    if elsewhere > 0 {
        head += &format!("{elsewhere} more need a VLEN above {}\n", options.vlen);
    }
    out!("{head}{}", tables(&coverage));
    Ok(())
}

/// Counts and reports def-use pairs.
pub fn pairs(options: &CoverageOptions) -> Result<(), String> {
    let settings = options.style.settings(vec![options.vlen], VlChoice::Max)?;
    let plan = Plan::new(options.style.seed, &settings.selection, options.style.ops, options.vlen);
    let mut coverage = PairCoverage::new(&settings.selection);
    let mut progress = Progress::new("programs", options.count);
    for k in 0..options.count {
        let generated = generate(&plan, k, &settings).map_err(|e| e.to_string())?;
        coverage.add(Stats::of(&generated.program).pairs(&generated.executed));
        progress.show(k + 1);
    }
    drop(progress);
    let groups = [("section", coverage.by_section()), ("operand", coverage.by_role())];
    let count = coverage.count();
    if options.json {
        let count = |c: Count| format!("{{\"covered\":{},\"total\":{}}}", c.covered, c.total);
        let mut text = format!("{{\"programs\":{},\"all\":{}", options.count, count(coverage.count()));
        for (group, rows) in groups {
            let rows: Vec<String> =
                rows.iter().map(|(name, c)| format!("\"{name}\":{}", count(*c))).collect();
            text += &format!(",\"{group}\":{{{}}}", rows.join(","));
        }
        out!("{text}}}\n");
        return Ok(());
    }
    let mut text = format!(
        "{} programs make {} of {} def-use pairs: {:.2} %\n",
        options.count,
        count.covered,
        count.total,
        count.percent()
    );
    for (group, rows) in groups {
        text += &format!("\n{group:60} {:>7} {:>7} {:>8}\n", "made", "of", "%");
        for (name, count) in rows {
            let (made, of, percent) = (count.covered, count.total, count.percent());
            text += &format!("  {name:58} {made:7} {of:7} {percent:8.2}\n");
        }
    }
    for pair in coverage.missing().iter().take(10) {
        text += &format!("missing: {} -> {} {:?}\n", pair.producer, pair.consumer, pair.role);
    }
    out!("{text}");
    Ok(())
}

/// Tables by all groups.
pub fn tables(coverage: &Coverage) -> String {
    let mut text = String::new();
    for group in Group::ALL {
        text += &format!("\n{:60} {:>7} {:>7} {:>8}\n", group.name(), "covered", "of", "%");
        for (name, Count { covered, total }) in coverage.by(group) {
            let percent = Count { covered, total }.percent();
            text += &format!("  {name:58} {covered:7} {total:7} {percent:8.2}\n");
        }
    }
    text
}

/// The same as JSON, with `head` before.
pub fn json(coverage: &Coverage, head: &str) -> String {
    let count = |c: Count| format!("{{\"covered\":{},\"total\":{}}}", c.covered, c.total);
    let mut text = format!("{{{head},\"all\":{}", count(coverage.count()));
    for group in Group::ALL {
        // Names of groups have nothing in them that JSON would want escaped.
        let rows: Vec<String> =
            coverage.by(group).into_iter().map(|(name, c)| format!("\"{name}\":{}", count(c))).collect();
        text += &format!(",\"{}\":{{{}}}", group.name(), rows.join(","));
    }
    text + "}\n"
}
