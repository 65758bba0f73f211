//! Judges a run.

use crate::options::CheckOptions;
use rvv_cli::out;
use rvv_ir::{Expected, Mismatch, Program, element_text, float_text};
use rvv_oracle::{Options, evaluate};
use std::io::Read;
use std::path::Path;

/// Whether what was printed is right.
pub fn run(options: &CheckOptions) -> Result<bool, String> {
    let name = options.program.display();
    let program: Program = text(&options.program)?.parse().map_err(|e| format!("{name}: {e}"))?;
    program.check().map_err(|e| format!("{name}: {e}"))?;
    let expected = match (&options.expected, options.vlen) {
        (Some(path), _) => {
            let text = text(path)?;
            Expected::from_text(&program, &text).map_err(|e| format!("{}: {e}", path.display()))?
        }
        (None, Some(vlen)) => {
            let options = Options { vl: options.vl, ..Options::new(vlen) };
            evaluate(&program, &options).map_err(|e| format!("{name}: no meaning at VLEN {vlen}: {e}"))?
        }
        (None, None) => return Err("give --vlen or --expected".to_string()),
    };
    let mut printed = Vec::new();
    // One byte more than is right is enough to see that it is too much.
    let limit = expected.len() as u64 + 1;
    let read = match &options.output {
        Some(path) => std::fs::File::open(path).and_then(|f| f.take(limit).read_to_end(&mut printed)),
        None => std::io::stdin().lock().take(limit).read_to_end(&mut printed),
    };
    read.map_err(|e| match &options.output {
        Some(path) => format!("cannot read {}: {e}", path.display()),
        None => format!("cannot read the output from standard input: {e}"),
    })?;
    match expected.judge(&program, &printed) {
        None => Ok(true),
        Some(mismatch) => {
            out!("{}", describe(&program, &expected, &printed, &mismatch));
            Ok(false)
        }
    }
}

fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

/// The wrong element in words.
fn describe(program: &Program, expected: &Expected, printed: &[u8], mismatch: &Mismatch) -> String {
    let mut start = 0;
    for ((number, buffer), contents) in program.outputs().zip(&expected.outputs) {
        if number != mismatch.buffer {
            start += contents.bytes.len();
            continue;
        }
        let size = buffer.elem.bytes() as usize;
        let at = mismatch.element * size;
        let name = format!("{}[{}] ({})", buffer.name, mismatch.element, buffer.elem.short());
        let Some(bytes) = contents.bytes.get(at..at + size) else { break };
        let wanted = element_text(bytes, &contents.defined[at..at + size]);
        return match printed.get(start + at..start + at + size) {
            Some(printed_element) => {
                let got = printed_element;
                // Bits beside bits, digits beside digits.
                let got = if wanted.starts_with("0b") && wanted.len() > 2 * size {
                    let bits: String = got.iter().rev().map(|b| format!("{b:08b}")).collect();
                    format!("0b{bits}")
                } else {
                    element_text(got, &vec![0xff; size])
                };
                let value = |bytes: &[u8]| {
                    let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
                    float_text(buffer.elem, bits).map_or(String::new(), |text| format!(" ({text})"))
                };
                let whole = contents.defined[at..at + size].iter().all(|defined| *defined == 0xff);
                let meant = if whole { value(bytes) } else { String::new() };
                format!("{name}: expected {wanted}{meant}, got {got}{}\n", value(printed_element))
            }
            None => format!(
                "{name}: expected {wanted}, got nothing: the output ends after {} of {} bytes\n",
                printed.len(),
                expected.len()
            ),
        };
    }
    format!("more than the {} bytes expected were printed\n", expected.len())
}
