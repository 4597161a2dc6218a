//! Tables of figures in Markdown, for the pages.

use std::collections::BTreeMap;

use crate::figures::Figure;
use crate::statistics::{Sorted, median_quotient};

/// The tables of one run: one for each MPI, row and quantity, with a line for each variant; and one
/// of all rows together.
pub(crate) fn of_run(figures: &[Figure]) -> String {
    let mut text = String::new();
    if let Some(Figure { origin, .. }) = figures.first() {
        let (bench, date) = (&origin.bench, &origin.date);
        text += &format!(
            "{bench}, {date}, commit {}, {}\n",
            origin.commit, origin.machine
        );
    }
    for group in groups(figures) {
        let first = group[0];
        let mpi = if first.mpi.is_empty() {
            String::new()
        } else {
            format!("{}, ", first.mpi)
        };
        let values = first.values.len();
        text += &format!(
            "\n{mpi}{}: {}, {values} values\n\n",
            first.row, first.quantity
        );
        text += &of_variants(&group);
    }
    text + &of_rows(figures)
}

/// A line for each MPI, row and quantity: the least value of the first variant, and for each other
/// one the difference and the quotient of its least value to that.
fn of_rows(figures: &[Figure]) -> String {
    let mut text = String::new();
    let mut columns: Vec<&str> = Vec::new();
    for group in groups(figures) {
        let variants: Vec<&str> = group.iter().map(|figure| &*figure.variant).collect();
        if variants != columns {
            text += &format!("\n| MPI | | | {} |\n", variants.join(" | "));
            text += &format!("|---|---|{}\n", "---|".repeat(1 + variants.len()));
            columns = variants;
        }
        let least: Vec<f64> = group
            .iter()
            .filter_map(|figure| Sorted::of(&figure.values).map(|sorted| sorted.least()))
            .collect();
        let Some((plain, others)) = least.split_first() else {
            continue;
        };
        let digits = digits_of(*plain);
        let first = group[0];
        text += &format!(
            "| {} | {} | {} | {plain:.digits$} |",
            first.mpi, first.row, first.quantity
        );
        for other in others {
            text += &format!(" {:+.digits$} ({:.2}) |", other - plain, other / plain);
        }
        text += "\n";
    }
    text
}

/// The figures with one MPI, row and quantity, in the order of measurement.
fn groups(figures: &[Figure]) -> Vec<Vec<&Figure>> {
    let mut groups: Vec<Vec<&Figure>> = Vec::new();
    let mut places = BTreeMap::new();
    for figure in figures {
        let key = (&figure.mpi, &figure.row, &figure.quantity);
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(figure),
            None => groups.push(vec![figure]),
        }
    }
    groups
}

/// For each variant: the least and the median of all values, the width of their middle half, the
/// differences of least and median to the first variant's, the quotients of least and median to
/// those, the median of the quotients of the same rounds, and the difference of the least per call.
/// If Open MPI's monitoring was measured and has a cost, the ratio of the cost of `profile` to it.
fn of_variants(group: &[&Figure]) -> String {
    let mut text =
        "| variant | least | median | half in | +least | +median | of least | of median \
                    | of rounds | +a call |\n|---|---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    let Some(plain) = Sorted::of(&group[0].values) else {
        return text;
    };
    let mut more = BTreeMap::new();
    for figure in group {
        let Some(sorted) = Sorted::of(&figure.values) else {
            continue;
        };
        let of_rounds = median_quotient(&figure.values, &group[0].values).unwrap_or(f64::NAN);
        let more_at_least = sorted.least() - plain.least();
        let digits = digits_of(plain.median());
        text += &format!(
            "| {} | {:.digits$} | {:.digits$} | {:.digits$} | {:+.digits$} | {:+.digits$} | {:.3} | {:.3} | {:.3} | {:+.digits$} |\n",
            figure.variant,
            sorted.least(),
            sorted.median(),
            sorted.half_in(),
            more_at_least,
            sorted.median() - plain.median(),
            sorted.least() / plain.least(),
            sorted.median() / plain.median(),
            of_rounds,
            more_at_least / f64::from(figure.calls),
        );
        more.insert(figure.variant.as_str(), more_at_least);
    }
    if let (Some(counting), Some(monitoring)) = (more.get("profile"), more.get("monitoring"))
        && *monitoring > 0.0
    {
        let part = counting / monitoring;
        text += &format!("\n`profile` costs {part:.2} of what monitoring costs.\n");
    }
    text
}

/// Number of decimals that show a thousandth of a value of this size, at most three.
fn digits_of(value: f64) -> usize {
    match value.abs() {
        value if value >= 1000.0 => 0,
        value if value >= 10.0 => 1,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Origin;

    fn figure(variant: &str, values: &[f64]) -> Figure {
        Figure {
            origin: Origin {
                bench: "overhead".to_owned(),
                date: "2026-11-28T22:00:00Z".to_owned(),
                commit: "0123456789".to_owned(),
                machine: "a processor, 2 cores, Linux".to_owned(),
            },
            mpi: "openmpi".to_owned(),
            row: "isend-self".to_owned(),
            variant: variant.to_owned(),
            quantity: "ns".to_owned(),
            calls: 4,
            values: values.to_vec(),
        }
    }

    #[test]
    fn a_variant_is_compared_with_the_plain_one_and_counting_with_monitoring() {
        let figures = [
            figure("plain", &[100.0, 104.0, 102.0]),
            figure("profile", &[120.0, 130.0, 126.0]),
            figure("monitoring", &[140.0, 141.0, 142.0]),
        ];
        let text = of_run(&figures);
        let head = "overhead, 2026-11-28T22:00:00Z, commit 0123456789, a processor, 2 cores, Linux";
        assert_eq!(text.lines().next(), Some(head));
        let line =
            "| profile | 120.0 | 126.0 | 10.0 | +20.0 | +24.0 | 1.200 | 1.235 | 1.235 | +5.0 |";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("`profile` costs 0.50 of what"), "{text}");
        let row = "| openmpi | isend-self | ns | 100.0 | +20.0 (1.20) | +40.0 (1.40) |";
        assert_eq!(text.lines().last(), Some(row));
    }

    #[test]
    fn figures_are_read_as_they_were_written() {
        let figure = figure("plain", &[1.5]);
        let line = serde_json::to_string(&figure).expect("it can be written");
        assert!(
            line.starts_with("{\"bench\":\"overhead\",\"date\":"),
            "{line}"
        );
        let read: Figure = serde_json::from_str(&line).expect("it can be read");
        assert_eq!(read, figure);
    }
}
