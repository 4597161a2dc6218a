//! A tuning as tables, findings, JSON and a picture.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use treepie_native::tuning::file::TuningFile;
use treepie_native::tuning::{Row, Tuning};

use super::table::Table;
use super::units;
use super::words::pluralize;
use crate::picture::axis::Axis;
use crate::picture::chart::{Chart, Series, Style};

/// Formats the tables of a tuning.
pub fn text(name: &str, file: &TuningFile) -> String {
    let tuning = &file.body;
    let mut text = format!(
        "{name}: {}, {} on {}\n\n",
        tuning.library,
        pluralize(tuning.ranks, "rank"),
        pluralize(tuning.hosts, "host")
    );
    let mut table = Table::new([
        "operation",
        "ranks",
        "from",
        "algorithm",
        "default",
        "with it",
        "factor",
        "plan",
        "factor",
    ]);
    for row in &tuning.rows {
        let undecided = if row.undecided { " (open)" } else { "" };
        let none = if row.undecided { "open" } else { "-" };
        table.row([
            row.operation.to_string(),
            row.ranks.to_string(),
            units::bytes(row.from_bytes as f64),
            row.algorithm
                .clone()
                .unwrap_or_else(|| format!("default{undecided}")),
            units::seconds(row.native_seconds),
            units::seconds(row.seconds),
            format!("{:.2}", row.factor()),
            row.plan_factor().map_or(none, |(name, _)| name).to_owned(),
            row.plan_factor()
                .map_or("-".to_owned(), |(_, factor)| format!("{factor:.2}")),
        ]);
    }
    text += &table.text();
    text += "\n";
    for line in findings(tuning).iter().chain(&file.notes) {
        text += &format!("{line}\n");
    }
    let open = tuning.rows.iter().filter(|row| row.undecided).count();
    if open > 0 {
        let rows = pluralize(open, "row");
        text += &format!("open: {rows}; with a longer --time-limit the order may become clear\n");
    }
    text
}

/// Operations that take longer than equivalent ones.
fn findings(tuning: &Tuning) -> Vec<String> {
    let of_row = |row: &Row| {
        let (operation, ranks, bytes) = (row.operation, row.ranks, row.from_bytes);
        let native = row.native_seconds;
        let lines = row.slower_than.iter().map(move |(name, seconds)| {
            format!(
                "finding: {operation} of {} on {ranks} ranks takes {}, {name} does the same in {}",
                units::bytes(bytes as f64),
                units::seconds(native),
                units::seconds(*seconds)
            )
        });
        lines.collect::<Vec<_>>()
    };
    tuning.rows.iter().flat_map(of_row).collect()
}

/// Converts the tuning to JSON.
pub fn json(file: &TuningFile) -> Value {
    let tuning = &file.body;
    let row = |row: &Row| {
        json!({
            "operation": row.operation.to_string(),
            "ranks": row.ranks,
            "from_bytes": row.from_bytes,
            "algorithm": row.algorithm,
            "seconds": row.seconds,
            "native_seconds": row.native_seconds,
            "factor": row.factor(),
            "undecided": row.undecided,
            "others": row.others,
            "plan": row.plan,
            "plan_factor": row.plan_factor().map(|(_, factor)| factor),
            "plans": row.plans,
            "slower_than": row.slower_than,
        })
    };
    json!({
        "mpi": tuning.library.to_string(),
        "ranks": tuning.ranks,
        "hosts": tuning.hosts,
        "commutative": tuning.commutative,
        "notes": file.notes,
        "rows": tuning.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

/// Draws the gain of the best algorithm or plan of each operation, over bytes.
pub fn chart(tuning: &Tuning) -> Chart {
    let mut curves: BTreeMap<(String, usize), Vec<(f64, f64)>> = BTreeMap::new();
    for row in &tuning.rows {
        let curve = curves.entry((row.operation.to_string(), row.ranks));
        let bytes = row.from_bytes.max(1) as f64;
        curve.or_default().push((bytes, row.best_factor()));
    }
    let series = curves.into_iter().enumerate();
    Chart {
        title: format!("{}: the default's time over the best one's", tuning.library),
        across: Axis {
            name: "bytes of the message or block",
            logarithmic: true,
            mark: units::bytes,
        },
        upwards: Axis {
            name: "factor",
            logarithmic: false,
            mark: |value| format!("{value:.1}"),
        },
        series: series
            .map(|(colour, ((operation, ranks), points))| Series {
                name: format!("{operation}, {ranks} ranks"),
                points,
                style: Style::Marked,
                colour,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_base::Header;

    #[test]
    fn an_operation_that_takes_longer_than_others_that_do_the_same_is_a_finding() {
        let row = Row {
            operation: treepie_collective::Operation::Allreduce,
            ranks: 16,
            from_bytes: 8,
            algorithm: None,
            seconds: 3e-3,
            native_seconds: 3e-3,
            undecided: false,
            others: BTreeMap::new(),
            plan: None,
            plans: BTreeMap::new(),
            slower_than: BTreeMap::from([("reduce+bcast".to_owned(), 1e-3)]),
        };
        let file = TuningFile {
            header: Header::default(),
            body: Tuning {
                library: "open-mpi 5.0.11".parse().expect("a known version"),
                ranks: 16,
                hosts: 8,
                commutative: false,
                library_file: None,
                notes: Vec::new(),
                rows: vec![row],
            },
        };
        let text = text("a.tuning.yaml", &file);
        let finding = "finding: allreduce of 8 B on 16 ranks takes 3 ms, reduce+bcast does the \
                       same in 1 ms";
        assert!(text.lines().any(|line| line == finding), "{text}");
    }
}
