//! Lengths of time as people write them.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo, Unit};

/// Seconds of a year, in which nobody counts leap days.
pub const YEAR: f64 = 365.25 * 86_400.0;

/// Length of `90` (seconds), `60s`, `1.5h`, `10min`, `1h 30min`, `90d` or `5y`. A day has 24 hours.
///
/// # Errors
/// Text that is no length of time; a negative one; one of more than 30,000 years.
pub fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let seconds = text.parse().ok().or_else(|| of_units(text));
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| time.as_secs_f64() < 3e4 * YEAR)
        .ok_or_else(|| format!("`{text}` is no time; write one such as 90, 60s, 10min, 2h or 90d"))
}

/// Seconds of numbers with units.
fn of_units(text: &str) -> Option<f64> {
    let span: Span = text.parse().ok()?;
    let years = f64::from(span.get_years());
    let rest = span.years(0);
    let day = SpanRelativeTo::days_are_24_hours();
    Some(years * YEAR + rest.total((Unit::Second, day)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_are_not_negative() {
        for (text, seconds) in [
            ("90", Some(90.0)),
            ("0.25", Some(0.25)),
            ("60s", Some(60.0)),
            ("250ms", Some(0.25)),
            ("10 min", Some(600.0)),
            ("2h", Some(7_200.0)),
            ("1.5h", Some(5_400.0)),
            ("1h 30min", Some(5_400.0)),
            ("36h", Some(129_600.0)),
            ("2d", Some(172_800.0)),
            ("1w", Some(604_800.0)),
            ("5y", Some(5.0 * YEAR)),
            ("0", Some(0.0)),
            ("-1s", None),
            ("-1", None),
            ("inf", None),
            ("nan", None),
            ("1e30", None),
            ("5 moons", None),
            ("soon", None),
            ("", None),
        ] {
            let found = parse(text).ok().map(|time| time.as_secs_f64());
            assert_eq!(found, seconds, "{text}");
        }
    }
}
