//! What was measured, as the MPI itself reads it.
//!
//! * Open MPI: a file of rules, version 1, which all versions read (`coll_tuned_dynamic_file.c`):
//!   operations, sizes of communicators, bytes from which an algorithm holds. A size of
//!   communicator holds up to the next one, and the first one for smaller ones too, so that a rule
//!   `0` is before and after each: what was not measured stays as it is. Over several hosts Open
//!   MPI 5 asks HAN first, which leaves to `tuned` what a file of rules of its own says
//!   (`coll_han_dynamic_file.c`).
//! * MPICH: variables, which hold for all sizes. An algorithm is named where it was never slower
//!   than the default.
//! * Intel MPI: variables with ranges of bytes and ranks.

use std::collections::BTreeMap;

use super::{Row, Tuning};
use crate::collective::Operation;
use crate::collective::native::knobs::{Component, Knob, Maker, Setting};

/// A file of rules, where a tuning is written to a directory: of which component, and its name.
pub const RULES_FILES: [(Component, &str); 2] = [
    (Component::Tuned, "openmpi.rules"),
    (Component::Han, "openmpi-han.rules"),
];

/// A way that is this part slower than the default somewhere is no choice for all sizes.
const SLOWER: f64 = 1.02;

/// An MPI's own tuning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MpiTuning {
    /// The texts of files of rules, if this MPI has such and they are needed.
    pub rules: Vec<(Component, String)>,
    /// What goes into the environment, but for the file's name.
    pub settings: Vec<Setting>,
    /// Operations and sizes that have a winner that this MPI cannot be told: rows of the tuning.
    pub left_out: Vec<usize>,
}

impl MpiTuning {
    /// Whether the MPI is told nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.settings.is_empty()
    }
}

/// The MPI's own tuning, of the operations for which `wanted` holds.
pub fn mpi_tuning(tuning: &Tuning, wanted: impl Fn(Operation) -> bool) -> MpiTuning {
    let groups: Vec<&[Row]> = tuning
        .groups()
        .filter(|rows| wanted(rows[0].operation))
        .collect();
    let mut made = match tuning.library.maker {
        Maker::OpenMpi => of_open_mpi(tuning, &groups),
        Maker::Mpich => of_mpich(tuning, &groups),
        Maker::IntelMpi => of_intel(tuning, &groups),
    };
    made.left_out = (0..tuning.rows.len())
        .filter(|place| {
            let row = &tuning.rows[*place];
            row.algorithm.is_some() && wanted(row.operation) && !is_told(tuning, row)
        })
        .collect();
    made
}

/// The knob that a row names, if the library has it; such rows are checked before.
fn knob_of(tuning: &Tuning, row: &Row) -> Option<Knob> {
    let name = row.algorithm.as_deref()?;
    tuning.library.knob(row.operation, name).ok()
}

/// Whether the MPI can be told what a row says.
fn is_told(tuning: &Tuning, row: &Row) -> bool {
    let same = |other: &&Row| other.operation == row.operation;
    let rows: Vec<&Row> = match tuning.library.maker {
        Maker::IntelMpi => return true,
        Maker::OpenMpi if goes_by_bytes(row.operation) => return true,
        Maker::OpenMpi => {
            let rows = tuning.rows.iter().filter(same);
            rows.filter(|other| other.ranks == row.ranks).collect()
        }
        Maker::Mpich => tuning.rows.iter().filter(same).collect(),
    };
    for_all(&rows) == row.algorithm.as_deref()
}

/// The algorithm that is the quickest choice for all these rows together, and slower than the
/// default in none.
fn for_all<'a>(rows: &[&'a Row]) -> Option<&'a str> {
    let mut gains: BTreeMap<&str, f64> = BTreeMap::new();
    for name in rows.iter().filter_map(|row| row.algorithm.as_deref()) {
        let ratio = |row: &&Row| Some(row.seconds_of(name)? / row.native_seconds);
        let ratios: Option<Vec<f64>> = rows.iter().map(ratio).collect();
        if let Some(ratios) = ratios
            && ratios.iter().all(|ratio| *ratio <= SLOWER)
        {
            gains.insert(
                name,
                -ratios.iter().map(|ratio| libm::log(*ratio)).sum::<f64>(),
            );
        }
    }
    let best = gains
        .into_iter()
        .max_by(|one, other| one.1.total_cmp(&other.1));
    best.map(|(name, _)| name)
}

/// Whether Open MPI can tell by rules how long such a call is, alike on all ranks. In the others it
/// looks at arguments that MPI ignores on some ranks: they would take different algorithms.
fn goes_by_bytes(operation: Operation) -> bool {
    use Operation::*;
    !matches!(operation, Gather | Scatter | Allgatherv | Barrier)
}

/// Open MPI's number of an operation (`coll_base_functions.h`, `COLLTYPE`).
fn open_mpi_number(operation: Operation) -> Option<u32> {
    use Operation::*;
    Some(match operation {
        Allgather => 0,
        Allgatherv => 1,
        Allreduce => 2,
        Alltoall => 3,
        Alltoallv => 4,
        Barrier => 6,
        Bcast => 7,
        Exscan => 8,
        Gather => 9,
        Reduce => 11,
        ReduceScatter => 12,
        ReduceScatterBlock => 13,
        Scan => 14,
        Scatter => 15,
        // Those of neighbours have no rules.
        _ => return None,
    })
}

/// What Open MPI compares with the bytes of a rule, for a row's bytes.
fn open_mpi_bytes(operation: Operation, ranks: usize, bytes: u64) -> u64 {
    use Operation::*;
    match operation {
        Allgather | Alltoall | ReduceScatter | ReduceScatterBlock => {
            bytes.saturating_mul(ranks as u64)
        }
        _ => bytes,
    }
}

/// Lines of one size of communicator: from how many bytes of a message or block on, which number; 0
/// stands for the default.
type Lines = Vec<(u64, u32)>;

fn lines_of(tuning: &Tuning, rows: &[Row]) -> Lines {
    let number = |row: &Row| knob_of(tuning, row).map_or(0, |knob| knob.number);
    let operation = rows[0].operation;
    if !goes_by_bytes(operation) {
        let all: Vec<&Row> = rows.iter().collect();
        let chosen = for_all(&all).and_then(|name| tuning.library.knob(operation, name).ok());
        return vec![(0, chosen.map_or(0, |knob| knob.number))];
    }
    // The first must be for 0 bytes; what was not measured stays as it is.
    let mut lines: Lines = vec![(0, 0)];
    for row in rows {
        lines.retain(|line| line.0 != row.from_bytes);
        lines.push((row.from_bytes, number(row)));
    }
    lines.dedup_by_key(|line| line.1);
    lines
}

/// The rules of an operation: for each size of communicator.
type Sizes = BTreeMap<usize, Lines>;

fn of_open_mpi(tuning: &Tuning, groups: &[&[Row]]) -> MpiTuning {
    let mut operations: BTreeMap<u32, (Operation, Sizes)> = BTreeMap::new();
    for rows in groups {
        let operation = rows[0].operation;
        let lines = lines_of(tuning, rows);
        let Some(number) = open_mpi_number(operation) else {
            continue;
        };
        if lines.iter().any(|line| line.1 > 0) {
            let entry = operations.entry(number);
            let (_, sizes) = entry.or_insert((operation, BTreeMap::new()));
            sizes.insert(rows[0].ranks, lines);
        }
    }
    for (_, sizes) in operations.values_mut() {
        for ranks in sizes.keys().copied().collect::<Vec<_>>() {
            sizes.entry(ranks + 1).or_insert_with(|| vec![(0, 0)]);
        }
        // Smaller communicators than the first size would take its rules.
        sizes.insert(1, vec![(0, 0)]);
    }
    let mut rules = Vec::new();
    if !operations.is_empty() {
        rules.push((Component::Tuned, of_tuned(tuning, &operations)));
    }
    operations.retain(|_, (operation, _)| tuning.library.han_has(*operation));
    if !operations.is_empty() && tuning.hosts > 1 {
        rules.push((Component::Han, of_han(tuning, &operations)));
    }
    MpiTuning {
        rules,
        ..MpiTuning::default()
    }
}

/// The first lines of a file of rules.
fn heading(tuning: &Tuning, what: &str, operations: usize) -> String {
    let (library, ranks) = (tuning.library, tuning.ranks);
    format!("# {what}, measured with {library} on {ranks} ranks.\n{operations} # operations\n")
}

fn of_tuned(tuning: &Tuning, operations: &BTreeMap<u32, (Operation, Sizes)>) -> String {
    let mut text = heading(tuning, "Algorithms of collectives", operations.len());
    for (number, (operation, sizes)) in operations {
        let count = sizes.len();
        text += &format!("{number} # {operation}\n{count} # sizes of communicators\n");
        for (ranks, lines) in sizes {
            let count = lines.len();
            text += &format!("{ranks} # ranks\n{count} # lines: bytes, algorithm, 0, 0\n");
            for (bytes, algorithm) in lines {
                let bytes = open_mpi_bytes(*operation, *ranks, *bytes);
                text += &format!("{bytes} {algorithm} 0 0\n");
            }
        }
    }
    text
}

/// What HAN is to leave to `tuned`, where an algorithm of that was the quickest.
fn of_han(tuning: &Tuning, operations: &BTreeMap<u32, (Operation, Sizes)>) -> String {
    let mut text = heading(
        tuning,
        "Who does collectives over several hosts",
        operations.len(),
    );
    for (number, (operation, sizes)) in operations {
        let count = sizes.len();
        text += &format!(
            "{number} # {operation}\n1 # level\nglobal_communicator\n{count} # sizes of \
             communicators\n"
        );
        for (ranks, lines) in sizes {
            let count = lines.len();
            text += &format!("{ranks} # ranks\n{count} # lines: bytes, component\n");
            for (bytes, algorithm) in lines {
                let component = if *algorithm > 0 { "tuned" } else { "han" };
                text += &format!("{bytes} {component}\n");
            }
        }
    }
    text
}

fn of_mpich(tuning: &Tuning, groups: &[&[Row]]) -> MpiTuning {
    let mut by_operation: BTreeMap<Operation, Vec<&Row>> = BTreeMap::new();
    for rows in groups {
        by_operation
            .entry(rows[0].operation)
            .or_default()
            .extend(rows.iter());
    }
    let mut made = MpiTuning::default();
    for (operation, rows) in by_operation {
        let knob = for_all(&rows).and_then(|name| tuning.library.knob(operation, name).ok());
        if let Some(knob) = knob {
            made.settings.extend(tuning.library.settings(&knob));
        }
    }
    made
}

/// The largest number of bytes in a range.
const MOST_BYTES: u64 = i32::MAX as u64;

fn of_intel(tuning: &Tuning, groups: &[&[Row]]) -> MpiTuning {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for rows in groups {
        for (place, row) in rows.iter().enumerate() {
            let Some(knob) = knob_of(tuning, row) else {
                continue;
            };
            let next = rows
                .get(place + 1)
                .map(|next| next.from_bytes.saturating_sub(1));
            let (from, to, ranks) = (row.from_bytes, next.unwrap_or(MOST_BYTES), row.ranks);
            for (name, number) in tuning.library.settings(&knob) {
                let range = format!("{number}:{from}-{to}@{ranks}-{ranks}");
                values.entry(name).or_default().push(range);
            }
        }
    }
    let joined = values.into_iter();
    MpiTuning {
        settings: joined
            .map(|(name, ranges)| (name, ranges.join(";")))
            .collect(),
        ..MpiTuning::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::Operation::*;

    fn row(operation: Operation, bytes: u64, algorithm: &str, seconds: f64) -> Row {
        Row {
            operation,
            ranks: 4,
            from_bytes: bytes,
            algorithm: (algorithm != "default").then(|| algorithm.to_owned()),
            seconds,
            native_seconds: 1.0,
            undecided: false,
            others: BTreeMap::new(),
            plan: None,
            plans: BTreeMap::new(),
            slower_than: BTreeMap::new(),
        }
    }

    fn tuning(library: &str, rows: Vec<Row>) -> Tuning {
        let mut tuning = Tuning {
            library: library.parse().unwrap(),
            ranks: 4,
            hosts: 1,
            commutative: false,
            rows,
        };
        tuning.sort();
        tuning.check().unwrap();
        tuning
    }

    /// Without comments.
    fn bare(text: &str) -> Vec<String> {
        let lines = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or("").trim());
        lines
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn rules_of_open_mpi_hold_for_the_measured_sizes_of_communicators_alone() {
        let rows = vec![
            row(Bcast, 8, "default", 1.0),
            row(Bcast, 1024, "chain", 0.5),
            row(Bcast, 4096, "chain", 0.5),
            row(Allgather, 16, "ring", 0.5),
            row(Allgather, 64, "default", 1.0),
            row(Scan, 8, "default", 1.0),
        ];
        let made = mpi_tuning(&tuning("open-mpi 4.1.4", rows), |_| true);
        let rest = ["5", "1", "0 0 0 0"];
        let first = ["3", "1", "1", "0 0 0 0", "4"];
        let allgather = ["3", "0 0 0 0", "64 4 0 0", "256 0 0 0"];
        let bcast = ["2", "0 0 0 0", "1024 2 0 0"];
        let parts = [
            &["2", "0"][..],
            &first,
            &allgather,
            &rest,
            &["7"],
            &first,
            &bcast,
            &rest,
        ];
        let expected = parts.concat();
        assert_eq!(bare(rules_of(&made, Component::Tuned)), expected);
        assert_eq!(made.rules.len(), 1);
        assert_eq!((made.settings, made.left_out), (vec![], vec![]));
    }

    fn rules_of(made: &MpiTuning, component: Component) -> &str {
        let mut rules = made.rules.iter();
        let found = rules.find(|(of, _)| *of == component);
        &found.unwrap_or_else(|| panic!("{made:?}")).1
    }

    /// Bytes are those of a block there, and an operation that HAN has not is not in its file.
    #[test]
    fn han_leaves_over_several_hosts_what_an_algorithm_of_tuned_is_the_quickest_for() {
        let rows = vec![
            row(Allgather, 16, "ring", 0.5),
            row(Allgather, 64, "default", 1.0),
            row(Alltoall, 8, "pairwise", 0.5),
            row(Bcast, 8, "default", 1.0),
        ];
        let mut tuning = tuning("open-mpi 5.0.11", rows);
        let one_host = mpi_tuning(&tuning, |_| true);
        assert_eq!(one_host.rules.len(), 1);
        tuning.hosts = 2;
        let made = mpi_tuning(&tuning, |_| true);
        let lines = bare(rules_of(&made, Component::Han));
        let sizes = [
            "3", "1", "1", "0 han", "4", "3", "0 han", "16 tuned", "64 han",
        ];
        let expected = [
            &["1", "0", "1", "global_communicator"][..],
            &sizes,
            &["5", "1", "0 han"],
        ];
        assert_eq!(lines, expected.concat());
        let of_tuned = bare(rules_of(&made, Component::Tuned));
        assert!(of_tuned.contains(&"64 4 0 0".to_owned()));
        tuning.library = "open-mpi 4.1.4".parse().unwrap();
        assert_eq!(mpi_tuning(&tuning, |_| true).rules.len(), 1);
    }

    #[test]
    fn a_scatter_has_one_rule_for_all_bytes_since_only_the_root_knows_them() {
        let mut small = row(Scatter, 8, "binomial", 0.5);
        let mut large = row(Scatter, 4096, "default", 1.0);
        large.others.insert("binomial".to_owned(), 1.01);
        let both = tuning("open-mpi 4.1.4", vec![small.clone(), large.clone()]);
        let made = mpi_tuning(&both, |_| true);
        let rules = bare(rules_of(&made, Component::Tuned));
        assert!(rules.contains(&"0 2 0 0".to_owned()));
        // Slower for long blocks: the default stays, and the row is told as left out.
        large.others.insert("binomial".to_owned(), 1.5);
        small.seconds = 0.1;
        let made = mpi_tuning(&tuning("open-mpi 4.1.4", vec![small, large]), |_| true);
        assert_eq!((made.rules, made.left_out), (vec![], vec![0]));
    }

    #[test]
    fn mpich_is_told_an_algorithm_that_is_never_slower() {
        let mut short = row(Bcast, 8, "default", 1.0);
        short.others.insert("binomial".to_owned(), 1.0);
        short.others.insert("nb".to_owned(), 3.0);
        let long = row(Bcast, 1024, "binomial", 0.5);
        let mut longer = row(Bcast, 9999, "nb", 0.2);
        longer.others.insert("binomial".to_owned(), 0.9);
        let rows = vec![short, long, longer, row(Alltoall, 8, "scattered", 0.5)];
        let tuning = tuning("mpich 4.0.2", rows);
        let made = mpi_tuning(&tuning, |_| true);
        let text: Vec<String> = made
            .settings
            .iter()
            .map(|(n, v)| format!("{n}={v}"))
            .collect();
        assert_eq!(
            text,
            [
                "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0",
                "MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial",
                "MPIR_CVAR_ALLTOALL_DEVICE_COLLECTIVE=0",
                "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM=scattered",
            ]
        );
        assert_eq!((made.rules, made.left_out), (vec![], vec![2]));
        let none = mpi_tuning(&tuning, |operation| operation == Scan);
        assert!(none.is_empty());
    }

    #[test]
    fn intel_is_told_ranges_of_bytes_and_ranks() {
        let rows = vec![
            row(Allreduce, 8, "ring", 0.5),
            row(Allreduce, 1024, "default", 1.0),
            row(Allreduce, 4096, "preset-20", 0.5),
        ];
        let made = mpi_tuning(&tuning("intel-mpi 2021.18.1", rows), |_| true);
        let value = "8:8-1023@4-4;20:4096-2147483647@4-4".to_owned();
        assert_eq!(
            made.settings,
            [("I_MPI_ADJUST_ALLREDUCE".to_owned(), value)]
        );
    }

    #[test]
    fn rows_that_would_give_wrong_results_or_none_are_refused() {
        let with = |row: Row, commutative: bool| {
            let tuning = Tuning {
                library: "open-mpi 4.1.4".parse().unwrap(),
                ranks: 4,
                hosts: 1,
                commutative,
                rows: vec![row],
            };
            tuning.check().err().map(|(_, error)| error.to_string())
        };
        let order = with(row(Allreduce, 8, "ring", 0.5), false).unwrap();
        assert!(order.contains("do not commute"), "{order}");
        assert_eq!(with(row(Allreduce, 8, "ring", 0.5), true), None);
        let ranks = with(row(Alltoall, 8, "two_proc", 0.5), true).unwrap();
        assert!(ranks.contains("not for 4 ranks"), "{ranks}");
        let unknown = with(row(Alltoall, 8, "rnig", 0.5), true).unwrap();
        assert!(unknown.contains("no algorithm `rnig`"), "{unknown}");
    }
}
