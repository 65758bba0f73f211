//! Charts for documents, as SVG files. Their colours suit a light and a dark page.

use rvv_tools::junit::escape;
use std::fmt::Write;

const STYLE: &str = "<style>text{font:12px system-ui,sans-serif;fill:#57606a}.axis{stroke:#8b949e;stroke-width:1}\
                     .line{fill:none;stroke-width:2}</style>";

/// Distinct enough for most eyes, on white and on black.
const COLOURS: [&str; 9] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8b5cf6", "#6b7280", "#b91c1c"];

/// A line of a chart.
pub struct Line {
    /// What it is.
    pub name: String,
    /// Its points, in order; a value holds until the next.
    pub points: Vec<(f64, f64)>,
}

/// A round number at or above this.
fn round_up(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 4.0, 5.0, 8.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|m| *m >= value * 0.999)
        .unwrap_or(value)
}

fn number(value: f64) -> String {
    if value == value.round() { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// Lines over a common axis.
pub fn lines(title: &str, x_unit: &str, y_unit: &str, lines: &[Line]) -> String {
    let (width, height, left, top) = (720.0, 320.0, 48.0, 28.0);
    let (right, bottom) = (width - 200.0, height - 40.0);
    let all = || lines.iter().flat_map(|l| &l.points);
    let end = round_up(all().map(|p| p.0).fold(0.0, f64::max));
    let most = round_up(all().map(|p| p.1).fold(0.0, f64::max));
    let x = |v: f64| left + (right - left) * (v / end).clamp(0.0, 1.0);
    let y = |v: f64| bottom - (bottom - top) * (v / most).clamp(0.0, 1.0);
    let mut out = head(title, width, height);
    for n in 0..=4 {
        let (vx, vy) = (end * f64::from(n) / 4.0, most * f64::from(n) / 4.0);
        let _ = write!(
            out,
            "<line class=\"axis\" x1=\"{left}\" x2=\"{right}\" y1=\"{0:.1}\" y2=\"{0:.1}\" opacity=\"0.3\"/>\
             <text x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>\
             <text x=\"{4:.1}\" y=\"{5}\" text-anchor=\"middle\">{6}</text>",
            y(vy),
            left - 6.0,
            y(vy) + 4.0,
            number(vy),
            x(vx),
            bottom + 16.0,
            number(vx)
        );
    }
    let _ = write!(
        out,
        "<text x=\"{left}\" y=\"16\">{}</text><text x=\"{right}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        escape(y_unit),
        height - 6.0,
        escape(x_unit)
    );
    for (n, line) in lines.iter().enumerate() {
        let colour = COLOURS[n % COLOURS.len()];
        let mut path = String::new();
        let mut last = 0.0;
        for (i, &(vx, vy)) in line.points.iter().enumerate() {
            let _ = match i {
                0 => write!(path, "M{:.1} {:.1}", x(vx), y(vy)),
                _ => write!(path, "L{:.1} {:.1}L{:.1} {:.1}", x(vx), y(last), x(vx), y(vy)),
            };
            last = vy;
        }
        let at = top + 10.0 + 20.0 * n as f64;
        let _ = write!(
            out,
            "<path class=\"line\" stroke=\"{colour}\" d=\"{path}\"/><rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" \
             fill=\"{colour}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            right + 12.0,
            at - 10.0,
            right + 30.0,
            at,
            escape(&line.name)
        );
    }
    out + "</svg>\n"
}

/// Horizontal bars of stacked parts: each row has a name and a value for each of the parts.
pub fn bars(title: &str, unit: &str, parts: &[&str], rows: &[(String, Vec<f64>)]) -> String {
    let (width, left, top, step) = (720.0, 210.0, 52.0, 24.0);
    let right = width - 20.0;
    let height = top + step * rows.len() as f64 + 36.0;
    let most = round_up(rows.iter().map(|(_, v)| v.iter().sum::<f64>()).fold(0.0, f64::max));
    let scale = |v: f64| (right - left) * (v / most).clamp(0.0, 1.0);
    let mut out = head(title, width, height);
    for (n, part) in parts.iter().enumerate() {
        let at = 10.0 + 140.0 * n as f64;
        let _ = write!(
            out,
            "<rect x=\"{at}\" y=\"12\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{}\" y=\"22\">{}</text>",
            COLOURS[n % COLOURS.len()],
            at + 18.0,
            escape(part)
        );
    }
    for (n, (name, values)) in rows.iter().enumerate() {
        let y = top + step * n as f64;
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            y + 12.0,
            escape(name)
        );
        let mut x = left;
        for (part, value) in values.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            let _ = write!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"16\" fill=\"{}\"/>",
                scale(*value).max(0.5),
                COLOURS[part % COLOURS.len()]
            );
            x += scale(*value);
        }
    }
    let bottom = top + step * rows.len() as f64 + 4.0;
    for n in 0..=4 {
        let value = most * f64::from(n) / 4.0;
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            left + scale(value),
            bottom + 12.0,
            number(value)
        );
    }
    let _ = write!(out, "<text x=\"{left}\" y=\"{}\">{}</text>", bottom + 28.0, escape(unit));
    out + "</svg>\n"
}

fn head(title: &str, width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{}\">{STYLE}",
        escape(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_are_xml_whatever_is_in_them() {
        let nasty = "a <b> & \"c\"".to_string();
        let points = vec![(0.0, 0.0), (1.5, 2.0), (f64::NAN, 1.0)];
        for chart in [
            lines(&nasty, "x", "y", &[Line { name: nasty.clone(), points }]),
            lines("", "", "", &[]),
            bars(&nasty, "x", &["a", "b"], &[(nasty.clone(), vec![1.0, 0.0]), ("y".into(), vec![])]),
            bars("", "", &[], &[]),
        ] {
            roxmltree::Document::parse(&chart).unwrap();
        }
        assert_eq!([0.0, 3.0, 11.0, 480.0, f64::INFINITY].map(round_up), [1.0, 4.0, 20.0, 500.0, 1.0]);
    }
}
