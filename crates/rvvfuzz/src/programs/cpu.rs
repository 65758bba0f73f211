//! CPU time: what a campaign costs, whatever else the machine does.

/// CPU time of this process and of its children that have ended, in seconds.
///
/// # Errors
/// When the system does not say.
pub fn seconds() -> Result<f64, String> {
    let text = std::fs::read_to_string("/proc/self/stat").map_err(|e| format!("/proc/self/stat: {e}"))?;
    parse_stat(&text).ok_or_else(|| "/proc/self/stat is not as proc(5) describes it".to_string())
}

/// Fields 14 to 17: utime, stime, cutime, cstime, in hundredths of a second. The second field, in
/// parentheses, may contain anything.
fn parse_stat(text: &str) -> Option<f64> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks: Vec<f64> = fields.get(11..15)?.iter().filter_map(|f| f.parse().ok()).collect();
    (ticks.len() == 4).then(|| ticks.iter().sum::<f64>() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_whatever_the_name() {
        let text = "1 (a) b) S 2 3 4 5 6 7 8 9 10 11 100 50 25 25 20 0 1 0 0";
        assert_eq!(parse_stat(text), Some(2.0));
        assert!(parse_stat("").is_none());
        assert!(seconds().unwrap() >= 0.0);
    }
}
