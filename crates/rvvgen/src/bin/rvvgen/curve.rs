//! How coverage grows with the number of programs, as a table and as a drawing. The drawing is a few SVG
//! elements: a plotting crate would be more to build than to save.

use crate::options::CoverageOptions;
use crate::progress::Progress;
use rvv_cli::{figures, out};
use rvv_ir::VlChoice;
use rvvgen::{Category, Coverage, Plan, generate};

/// Coverage after so many programs, in percent.
type Point = (u64, f64);

/// Counts, prints, draws. False never: a curve is what it is.
pub fn run(options: &CoverageOptions) -> Result<bool, String> {
    let settings = options.style.settings(vec![options.vlen], VlChoice::Max)?;
    let marks = marks(options.count);
    let mut curves: Vec<(Category, Vec<Point>)> = Vec::new();
    let categories = settings.selection.categories.clone();
    let mut progress = Progress::new("programs", options.count * categories.len() as u64);
    for category in categories {
        let mut settings = settings.clone();
        settings.selection.categories = vec![category];
        let plan = Plan::new(options.style.seed, &settings.selection, options.style.ops, options.vlen);
        let mut coverage = Coverage::at(&settings.selection, options.vlen);
        let mut points = Vec::new();
        for k in 0..options.count {
            let generated = generate(&plan, k, &settings).map_err(|e| e.to_string())?;
            coverage.add(&generated.executed);
            if marks.contains(&(k + 1)) {
                points.push((k + 1, coverage.count().percent()));
            }
            progress.show(curves.len() as u64 * options.count + k + 1);
        }
        curves.push((category, points));
    }
    drop(progress);
    if let Some(path) = &options.svg {
        let drawn = draw(&curves, options.count);
        std::fs::write(path, drawn).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    if let Some(document) = &options.markdown {
        figures::update(document, "rvvgen coverage", "rvvgen", &markdown(&curves))
            .map_err(|e| e.to_string())?;
    }
    out!("{}", if options.json { json(&curves) } else { table(&curves) });
    Ok(true)
}

/// 1, 2, 5, 10, … and the last.
fn marks(count: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(1u64), |p| p.checked_mul(10)).take_while(|p| *p <= count);
    let mut marks: Vec<u64> = powers.flat_map(|p| [p, 2 * p, 5 * p]).filter(|m| *m < count).collect();
    marks.push(count);
    marks
}

fn table(curves: &[(Category, Vec<Point>)]) -> String {
    let mut text = format!("{:>9}", "programs");
    for (category, _) in curves {
        text += &format!(" {:>18}", category.name());
    }
    text.push('\n');
    for (row, &(programs, _)) in curves.first().map_or(&[][..], |(_, points)| points).iter().enumerate() {
        text += &format!("{programs:9}");
        for (_, points) in curves {
            text += &format!(" {:>16.2} %", points[row].1);
        }
        text.push('\n');
    }
    text
}

/// The decades from a hundred programs, in Markdown, beside what RVISmith reports.
fn markdown(curves: &[(Category, Vec<Point>)]) -> String {
    let names: Vec<&str> = curves.iter().map(|(category, _)| category.name()).collect();
    let rule = " ---: |".repeat(names.len() + 2);
    let mut text = format!("| programs | {} | RVISmith, all |\n|{rule}\n", names.join(" | "));
    let points = curves.first().map_or(&[][..], |(_, points)| points);
    for (row, &(programs, _)) in points.iter().enumerate() {
        let Some((_, theirs)) = RVISMITH.iter().find(|(n, _)| *n == programs) else { continue };
        text += &format!("| {programs} |");
        for (_, points) in curves {
            text += &format!(" {:.1} % |", points[row].1);
        }
        text += &format!(" {theirs:.1} % |\n");
    }
    text
}

fn json(curves: &[(Category, Vec<Point>)]) -> String {
    let rows = curves.iter().map(|(category, points)| {
        let points: Vec<String> = points.iter().map(|(n, p)| format!("[{n},{p:.3}]")).collect();
        format!("\"{}\":[{}]", category.name(), points.join(","))
    });
    format!("{{{}}}\n", rows.collect::<Vec<_>>().join(","))
}

/// What RVISmith reports for sequence and data length 10.
const RVISMITH: [Point; 3] = [(100, 5.7), (1_000, 33.8), (10_000, 68.3)];

/// A drawing with the number of programs on a logarithmic axis.
fn draw(curves: &[(Category, Vec<Point>)], count: u64) -> String {
    let (w, h, left, top) = (560.0, 300.0, 56.0, 16.0);
    let decades = (count.max(10) as f64).log10();
    let x = |n: u64| left + w * (n as f64).log10() / decades;
    let y = |percent: f64| top + h * (1.0 - percent / 100.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        left + w + 24.0,
        top + h + 48.0
    );
    let line = |x1: f64, y1: f64, x2: f64, y2: f64| {
        format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#ddd\"/>\n")
    };
    for percent in [0.0, 25.0, 50.0, 75.0, 100.0] {
        svg += &line(left, y(percent), left + w, y(percent));
        svg += &format!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{percent} %</text>\n",
            left - 6.0,
            y(percent) + 4.0
        );
    }
    for n in (0..).map(|d| 10u64.pow(d)).take_while(|n| *n <= count) {
        svg += &line(x(n), top, x(n), top + h);
        svg +=
            &format!("<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{n}</text>\n", x(n), top + h + 16.0);
    }
    svg += &format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">programs</text>\n",
        left + w / 2.0,
        top + h + 36.0
    );
    let plot = |name: &str, points: &[Point], colour: &str, dash: &str, row: usize| {
        let path: Vec<String> = points.iter().map(|&(n, p)| format!("{:.1},{:.1}", x(n), y(p))).collect();
        let at = top + 18.0 + 18.0 * row as f64;
        let (from, to, label, base) = (left + 14.0, left + 40.0, left + 46.0, at + 4.0);
        let style = format!("stroke=\"{colour}\" stroke-width=\"2\"{dash}");
        format!(
            "<polyline points=\"{}\" fill=\"none\" {style}/>\n\
             <line x1=\"{from}\" y1=\"{at}\" x2=\"{to}\" y2=\"{at}\" {style}/>\n\
             <text x=\"{label}\" y=\"{base}\">{name}</text>\n",
            path.join(" ")
        )
    };
    let colours = ["#1b6ca8", "#c0392b", "#1e8449", "#8e44ad"];
    for (row, (category, points)) in curves.iter().enumerate() {
        let dash = if row >= 2 { " stroke-dasharray=\"6 3\"" } else { "" };
        svg += &plot(category.name(), points, colours[row % colours.len()], dash, row);
    }
    let theirs: Vec<Point> = RVISMITH.into_iter().filter(|(n, _)| *n <= count).collect();
    svg += &plot("RVISmith (all)", &theirs, "#888", " stroke-dasharray=\"2 3\"", curves.len());
    svg + "</svg>\n"
}
