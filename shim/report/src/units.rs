//! Numbers in readable form. Bytes in powers of 1024, like MPI tools.

use treepie_base::time::YEAR;

/// Names of the powers of 1024.
const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// A number of bytes: `0 B`, `512 B`, `1.50 KiB`, `16 MiB`.
pub fn bytes(value: f64) -> String {
    let mut scaled = value;
    let mut power = 0;
    while rounded(scaled) >= 1024.0 && power + 1 < BINARY.len() {
        scaled /= 1024.0;
        power += 1;
    }
    format!("{} {}", three_digits(scaled), BINARY[power])
}

/// A count: `0`, `999`, `12 345`, `1.23e15`.
pub fn count(value: f64) -> String {
    if value.abs() >= 1e15 {
        return format!("{value:.2e}");
    }
    if value.fract() != 0.0 {
        return three_digits(value);
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A time: `0 s`, `51.2 us`, `-10.1 ms`, `1.25 s`.
pub fn seconds(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        amount if amount < 0.999_5e-3 => (value * 1e6, "us"),
        amount if amount < 0.999_5 => (value * 1e3, "ms"),
        _ => (value, "s"),
    };
    match scaled {
        0.0 => "0 s".to_owned(),
        scaled => format!("{} {unit}", three_digits(scaled)),
    }
}

/// A time in the unit that makes it readable: `45 s`, `71.7 min`, `28.5 d`, `5.00 y`.
pub fn span(value: f64) -> String {
    let (scale, unit) = match value {
        value if value < 120.0 => return seconds(value),
        value if value < 7_200.0 => (60.0, "min"),
        value if value < 172_800.0 => (3_600.0, "h"),
        value if value < 2.0 * YEAR => (86_400.0, "d"),
        _ => (YEAR, "y"),
    };
    format!("{} {unit}", three_digits(value / scale))
}

/// A time with the precision for marks `step` seconds apart: `1.020 s`, `990 ms`.
pub(crate) fn seconds_by(value: f64, step: f64) -> String {
    let (scale, unit) = match value.abs() {
        value if value < 0.999_5e-3 => (1e6, "us"),
        value if value < 0.999_5 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    let digits = digits_for(step * scale);
    format!("{:.digits$} {unit}", value * scale)
}

/// A change in per cent with the precision for marks `step` per cent apart: `-2.5 %`.
pub(crate) fn percent_by(value: f64, step: f64) -> String {
    let digits = digits_for(step);
    if value.abs() < step / 2.0 {
        "0 %".to_owned()
    } else {
        format!("{value:+.digits$} %")
    }
}

/// Number of decimals that distinguish multiples of a round number.
fn digits_for(step: f64) -> usize {
    // A thousandth for steps that are not exact powers of ten.
    let digits = -(step.log10() + 1e-3).floor();
    digits.clamp(0.0, 9.0) as usize
}

/// A part of a whole: `25.0 %`; `-` if the whole is 0.
pub fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.1} %", 100.0 * part / whole)
    } else {
        "-".to_owned()
    }
}

/// More than this many times as much is no change in per cent that one can imagine.
const MOST_TIMES: f64 = 11.0;

/// Relative change from `before`: `-62.5 %`, `+3.1 %`, `0 %`, `12.5×`.
pub fn change(before: f64, after: f64) -> String {
    if before == after {
        "0 %".to_owned()
    } else if before > 0.0 && after > MOST_TIMES * before {
        format!("{}×", three_digits(after / before))
    } else if before > 0.0 {
        format!("{:+.1} %", 100.0 * (after - before) / before)
    } else {
        "new".to_owned()
    }
}

/// Rounds like [`three_digits`].
fn rounded(value: f64) -> f64 {
    if value >= 100.0 { value.round() } else { value }
}

/// Formats three significant digits: `1.25`, `12.5`, `125`; whole numbers stay whole.
fn three_digits(value: f64) -> String {
    let amount = value.abs();
    if value.fract() == 0.0 || amount >= 100.0 {
        format!("{value:.0}")
    } else if amount >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_three_digits_and_a_unit() {
        for (value, text) in [
            (0.0, "0 B"),
            (512.0, "512 B"),
            (1536.0, "1.50 KiB"),
            (16777216.0, "16 MiB"),
            (1048575.0, "1.00 MiB"),
            (126_543.0, "124 KiB"),
            (2.0_f64.powi(80), "1048576 EiB"),
        ] {
            assert_eq!(bytes(value), text);
        }
    }

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (value, text) in [
            (0.0, "0 s"),
            (1.4e-6, "1.40 us"),
            (51.23e-6, "51.2 us"),
            (10.13e-3, "10.1 ms"),
            (0.999_9, "1.00 s"),
            (125.2, "125 s"),
        ] {
            assert_eq!(seconds(value), text);
        }
    }

    #[test]
    fn long_times_have_larger_units() {
        for (value, text) in [
            (0.0, "0 s"),
            (119.0, "119 s"),
            (4_300.0, "71.7 min"),
            (17_200.0, "4.78 h"),
            (2_465_438.0, "28.5 d"),
            (5.0 * YEAR, "5 y"),
        ] {
            assert_eq!(span(value), text);
        }
    }

    #[test]
    fn marks_are_as_exact_as_their_distance() {
        assert_eq!(seconds_by(1.02, 0.005), "1.020 s");
        assert_eq!(seconds_by(0.99, 0.01), "990 ms");
        assert_eq!(seconds_by(0.9905, 0.0005), "990.5 ms");
        assert_eq!(seconds_by(12.0, 2.0), "12 s");
        assert_eq!(percent_by(-2.5, 0.5), "-2.5 %");
        assert_eq!(percent_by(10.0, 5.0), "+10 %");
        assert_eq!(percent_by(-1e-17, 1.0), "0 %");
    }

    #[test]
    fn counts_are_grouped_in_threes() {
        for (value, text) in [
            (0.0, "0"),
            (999.0, "999"),
            (1000.0, "1 000"),
            (1234567.0, "1 234 567"),
            (2.5, "2.50"),
            (1.5e12, "1 500 000 000 000"),
            (1.5e15, "1.50e15"),
        ] {
            assert_eq!(count(value), text);
        }
    }

    #[test]
    fn shares_and_changes_of_nothing_are_not_numbers() {
        assert_eq!(share(1.0, 4.0), "25.0 %");
        assert_eq!(share(0.0, 0.0), "-");
        assert_eq!(change(8.0, 3.0), "-62.5 %");
        assert_eq!(change(1.0, 11.0), "+1000.0 %");
        assert_eq!(change(2.0, 25.0), "12.5×");
        assert_eq!(change(0.0, 3.0), "new");
        assert_eq!(change(0.0, 0.0), "0 %");
    }
}
