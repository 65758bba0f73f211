//! A flame graph as a picture that needs no other tool: who called nobody knows, so there are three rows,
//! from all instructions to symbols to blocks. (`inferno` draws call stacks, and its licence is the CDDL.)

use std::fmt::Write;

/// One box of a row: what it is called, and how many instructions it represents.
pub struct Frame {
    pub symbol: String,
    pub block: String,
    pub instructions: u64,
}

const WIDTH: f64 = 1200.0;
const ROW: f64 = 20.0;

/// The blocks, hottest symbol first, as SVG.
pub fn graph(mut frames: Vec<Frame>) -> String {
    let total = frames.iter().map(|frame| frame.instructions).sum::<u64>().max(1);
    let mut symbols: Vec<(String, u64)> = Vec::new();
    for frame in &frames {
        match symbols.iter_mut().find(|(name, _)| *name == frame.symbol) {
            Some((_, n)) => *n += frame.instructions,
            None => symbols.push((frame.symbol.clone(), frame.instructions)),
        }
    }
    symbols.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rank = |symbol: &str| symbols.iter().position(|(name, _)| name == symbol);
    frames.sort_by_key(|frame| (rank(&frame.symbol), std::cmp::Reverse(frame.instructions)));

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{}\" font-family=\"monospace\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        3.0 * ROW
    );
    row(&mut svg, 2, total, [("all".to_owned(), total)].into_iter());
    row(&mut svg, 1, total, symbols.iter().cloned());
    let blocks = frames.iter().map(|frame| (frame.block.clone(), frame.instructions));
    row(&mut svg, 0, total, blocks);
    svg += "</svg>\n";
    svg
}

/// Boxes side by side, each as wide as its share.
fn row(svg: &mut String, row: u8, total: u64, boxes: impl Iterator<Item = (String, u64)>) {
    let mut left = 0.0;
    for (i, (name, instructions)) in boxes.enumerate() {
        let width = instructions as f64 / total as f64 * WIDTH;
        let share = 100.0 * instructions as f64 / total as f64;
        let name = name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let colour = ["#f28e2b", "#ffbe7d", "#e15759", "#ff9d9a"][i % 4];
        let y = f64::from(row) * ROW;
        let _ = writeln!(
            svg,
            "<g><title>{name}: {instructions} instructions, {share:.1} %</title><rect x=\"{left:.2}\" y=\"{y}\" \
             width=\"{width:.2}\" height=\"{}\" fill=\"{colour}\"/>",
            ROW - 1.0
        );
        // As much of the name as there is place for.
        let letters = (width / 7.5) as usize;
        if letters > 2 {
            let label: String = name.chars().take(letters).collect();
            let _ = writeln!(svg, "<text x=\"{:.2}\" y=\"{}\">{label}</text>", left + 2.0, y + 14.0);
        }
        svg.push_str("</g>\n");
        left += width;
    }
}
