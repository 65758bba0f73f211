//! Coverage for people and programs: instruction by SEW and LMUL, as text, JSON and HTML.

use super::coverage::{Coverage, column, subjects};
use rvv_isa::{Lmul, Op, Sew};
use serde_json::{Value, json};
use std::fmt::Write;

/// The types, in order: each SEW with each LMUL that it has.
fn types() -> impl Iterator<Item = (Sew, Lmul)> {
    Sew::ALL.into_iter().flat_map(|sew| {
        // LMUL >= SEW/ELEN.
        let has = move |lmul: &Lmul| lmul.log2() >= sew.encoding() as i32 - 3;
        Lmul::ALL.into_iter().filter(has).map(move |lmul| (sew, lmul))
    })
}

/// How many instruction-type pairs were reached, of the vector instructions.
fn cells(coverage: &Coverage) -> usize {
    let reached =
        |op: Op| types().filter(move |&(s, l)| coverage.counts.retired(op, column(s, l)) > 0).count();
    subjects().filter(|op| op.is_vector()).map(reached).sum()
}

/// The table as text: a row for each instruction, a column for each type, the count's order of magnitude in
/// it.
#[must_use]
pub fn text(coverage: &Coverage) -> String {
    let mut out = format!(
        "{} of {} instructions reached; {} pairs of vector instruction and type; {} circumstances.\n\
         A digit is the order of magnitude of how often the instruction completed; t if it only trapped, . if neither.\n\n",
        coverage.reached(),
        subjects().count(),
        cells(coverage),
        coverage.keys.len()
    );
    let _ = write!(out, "{:<16}{:>10} ", "", "completed");
    for sew in Sew::ALL {
        let columns = types().filter(|(s, _)| *s == sew).count();
        let _ = write!(out, " {:<columns$}", sew.to_string());
    }
    out.push('\n');
    for op in subjects() {
        let reached = if coverage.counts.reached(op) { ' ' } else { '!' };
        let _ = write!(out, "{reached}{:<15}{:>10} ", op.name(), coverage.counts.total(op));
        let mut last = None;
        for (sew, lmul) in types().filter(|_| op.is_vector()) {
            if last != Some(sew) {
                out.push(' ');
                last = Some(sew);
            }
            let at = column(sew, lmul);
            let (retired, trapped) = (coverage.counts.retired(op, at), coverage.counts.trapped(op, at));
            out.push(match (retired, trapped) {
                (0, 0) => '.',
                (0, _) => 't',
                (n, _) => char::from(b'0' + n.ilog10().min(9) as u8),
            });
        }
        while out.ends_with(' ') {
            out.pop();
        }
        out.push('\n');
    }
    out
}

/// All counts.
#[must_use]
pub fn json(coverage: &Coverage) -> Value {
    let instruction = |op: Op| {
        let under: Vec<Value> = types()
            .filter_map(|(sew, lmul)| {
                let at = column(sew, lmul);
                let (retired, trapped) = (coverage.counts.retired(op, at), coverage.counts.trapped(op, at));
                (retired + trapped > 0).then(|| {
                    json!({ "sew": sew.bits(), "lmul": lmul.to_string(), "completed": retired, "trapped": trapped })
                })
            })
            .collect();
        json!({
            "name": op.name(),
            "extension": op.info().extension,
            "reached": coverage.counts.reached(op),
            "completed": coverage.counts.total(op),
            "types": under,
        })
    };
    json!({
        "instructions": subjects().count(),
        "reached": coverage.reached(),
        "pairs": cells(coverage),
        "circumstances": coverage.keys.len(),
        "table": subjects().map(instruction).collect::<Vec<_>>(),
    })
}

const STYLE: &str = "body{font:14px system-ui,sans-serif;margin:2em}table{border-collapse:collapse}\
th,td{padding:1px 5px;text-align:right;font-variant-numeric:tabular-nums}td:first-child,th:first-child{text-align:left;\
font-family:monospace}thead th{position:sticky;top:0;background:#fff}tr:hover td{outline:1px solid #888}\
.n{color:#bbb}.t{background:#fde7c8}.h{background:#f7b7b7}";

/// A page that needs nothing else.
#[must_use]
pub fn html(coverage: &Coverage) -> String {
    let mut out = format!(
        "<!doctype html><meta charset=utf-8><title>rvvfuzz isa: coverage</title><style>{STYLE}</style>\
         <h1>Coverage</h1><p>{} of {} instructions reached, {} pairs of vector instruction and type, {} circumstances. A \
         number is how often the instruction completed; orange where it only trapped, red where it was never reached.</p>\
         <table><thead><tr><th>instruction<th>completed",
        coverage.reached(),
        subjects().count(),
        cells(coverage),
        coverage.keys.len()
    );
    for (sew, lmul) in types() {
        let _ = write!(out, "<th>{sew}<br>{lmul}");
    }
    out += "</thead><tbody>\n";
    for op in subjects() {
        let class = if coverage.counts.reached(op) { "" } else { " class=h" };
        let _ = write!(out, "<tr><td{class}>{}<td>{}", op.name(), coverage.counts.total(op));
        for (sew, lmul) in types().filter(|_| op.is_vector()) {
            let at = column(sew, lmul);
            let _ = match (coverage.counts.retired(op, at), coverage.counts.trapped(op, at)) {
                (0, 0) => write!(out, "<td class=n>·"),
                (0, t) => write!(out, "<td class=t title=\"{t} traps\">t"),
                (n, t) => {
                    // The more, the greener.
                    let light = 95 - 6 * n.ilog10().min(6);
                    write!(out, "<td style=\"background:hsl(120 60% {light}%)\" title=\"{t} traps\">{n}")
                }
            };
        }
        out.push('\n');
    }
    out += "</tbody></table>\n";
    out
}
