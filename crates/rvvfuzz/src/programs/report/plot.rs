//! Plots as inline SVG. Colours come from the page's style, so they suit light and dark; `plotters` writes
//! fixed ones into each line it draws.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 36.0;
const TOP: f64 = 12.0;
const RIGHT: f64 = 16.0;

/// A line over time.
pub struct Plot<'a> {
    /// What it shows, for those who cannot see it.
    pub title: &'a str,
    /// What the vertical axis counts.
    pub unit: &'a str,
    /// The top of the vertical axis; the largest value if there is none.
    pub top: Option<f64>,
    /// The end of the horizontal axis, in seconds.
    pub end: f64,
    /// Seconds and values, in order.
    pub points: &'a [(f64, f64)],
    /// Values hold until the next one.
    pub steps: bool,
}

/// A round number at or above this.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|m| *m >= value * 0.999).unwrap_or(value)
}

pub(super) fn number(value: f64) -> String {
    if value >= 1000.0 {
        let digits = format!("{value:.0}");
        let mut text = String::new();
        for (n, digit) in digits.chars().enumerate() {
            if n > 0 && (digits.len() - n).is_multiple_of(3) {
                text.push('\u{202f}');
            }
            text.push(digit);
        }
        text
    } else if value == value.round() {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

impl Plot<'_> {
    /// As SVG.
    pub fn svg(&self) -> String {
        let largest = self.points.iter().map(|p| p.1).fold(0.0, f64::max);
        let top = self.top.unwrap_or_else(|| round_up(largest)).max(f64::MIN_POSITIVE);
        let end = if self.end > 0.0 { self.end } else { 1.0 };
        let x = |t: f64| LEFT + (WIDTH - LEFT - RIGHT) * (t / end).clamp(0.0, 1.0);
        let y = |v: f64| HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (v / top).clamp(0.0, 1.0);
        let mut out = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            rvv_tools::junit::escape(self.title)
        );
        for n in 0..=4 {
            let value = top * f64::from(n) / 4.0;
            let _ = write!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{:.1}\" y2=\"{:.1}\"/><text x=\"{}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                y(value),
                y(value),
                LEFT - 6.0,
                y(value) + 4.0,
                number(value)
            );
            let time = end * f64::from(n) / 4.0;
            let anchor = if n == 4 { "end" } else { "middle" };
            let _ = write!(
                out,
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
                x(time),
                HEIGHT - BOTTOM + 16.0,
                super::live::duration(time)
            );
        }
        let _ = write!(
            out,
            "<text x=\"4\" y=\"{}\">{}</text>",
            HEIGHT - 4.0,
            rvv_tools::junit::escape(self.unit)
        );
        let mut path = String::new();
        let mut last: Option<f64> = None;
        for &(t, v) in self.points {
            if path.is_empty() {
                let _ = write!(path, "M{:.1} {:.1}", x(t), y(v));
            } else {
                if let Some(before) = last.filter(|_| self.steps) {
                    let _ = write!(path, "L{:.1} {:.1}", x(t), y(before));
                }
                let _ = write!(path, "L{:.1} {:.1}", x(t), y(v));
            }
            last = Some(v);
        }
        let _ = write!(out, "<path class=\"line\" d=\"{path}\"/></svg>");
        out
    }
}

/// A bar from 0 to 1.
pub fn bar(share: f64, bad: bool) -> String {
    let width = 160.0 * share.clamp(0.0, 1.0);
    let class = if bad { "full bad" } else { "full" };
    format!(
        "<svg width=\"160\" height=\"12\" viewBox=\"0 0 160 12\" aria-hidden=\"true\"><rect class=\"rest\" width=\"160\" \
         height=\"12\" rx=\"3\"/><rect class=\"{class}\" width=\"{width:.1}\" height=\"12\" rx=\"3\"/></svg>"
    )
}

/// At most so many of the points, evenly chosen, the last one always.
pub fn thin(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most || most < 2 {
        return points.to_vec();
    }
    (0..most).map(|n| points[n * (points.len() - 1) / (most - 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_of_nothing_and_of_one_point_are_plots() {
        for points in [&[][..], &[(0.0, 0.0)], &[(1.0, f64::NAN)]] {
            let plot = Plot { title: "a<b", unit: "x", top: None, end: 0.0, points, steps: true };
            let svg = plot.svg();
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>") && svg.contains("a&lt;b"));
            roxmltree::Document::parse(&svg).unwrap();
        }
    }

    #[test]
    fn numbers_are_round() {
        assert_eq!([0.0, 3.0, 11.0, 480.0].map(round_up), [1.0, 5.0, 20.0, 500.0]);
        assert_eq!(number(1234567.0), "1\u{202f}234\u{202f}567");
        assert_eq!(thin(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)], 2), [(0.0, 0.0), (2.0, 2.0)]);
    }
}
