//! Time in MPI by call class: calls, bytes, seconds, share.

use serde::Serialize;
use treepie_base::{List, Rank};
use treepie_profile::Profile;
use treepie_traffic::times::CallTime;

use super::table::Table;
use super::units;
use super::words::pluralize;

/// Maximum number of ranks listed: those with the longest time in MPI.
const MOST_RANKS: usize = 16;

/// Time in MPI.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimesSummary {
    /// Seconds from `MPI_Init` to `MPI_Finalize`, by rank.
    pub elapsed_seconds: List<Rank, f64>,
    /// Seconds in MPI, by rank.
    pub mpi_seconds: List<Rank, f64>,
    /// Each call class, the one with the longest time first.
    pub classes: Vec<ClassSummary>,
}

/// Time in one call class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassSummary {
    /// Name of the class.
    pub class: String,
    /// Number of calls of all ranks.
    pub calls: u64,
    /// Bytes moved by these calls, of all ranks; 0 for calls that move no data.
    pub bytes: u64,
    /// Seconds of all ranks.
    pub seconds: f64,
    /// Number of calls by rank.
    pub calls_of_rank: List<Rank, u64>,
    /// Bytes by rank.
    pub bytes_of_rank: List<Rank, u64>,
    /// Seconds by rank.
    pub seconds_of_rank: List<Rank, f64>,
}

/// The times of a profile, if it has any.
pub fn for_profile(profile: &Profile) -> Option<TimesSummary> {
    let times = profile.times.as_ref()?;
    let mut mpi_seconds: List<Rank, f64> = vec![0.0; profile.ranks].into();
    let mut classes = Vec::new();
    for (&class, of_rank) in &times.classes {
        for (sum, time) in mpi_seconds.iter_mut().zip(of_rank) {
            *sum += seconds(time.nanoseconds);
        }
        let bytes = profile.bytes_of_class(class);
        let mut all = CallTime::default();
        of_rank.iter().for_each(|&time| all += time);
        classes.push(ClassSummary {
            class: class.to_string(),
            calls: all.calls,
            bytes: bytes.iter().fold(0, |sum: u64, &b| sum.saturating_add(b)),
            seconds: seconds(all.nanoseconds),
            calls_of_rank: of_rank.iter().map(|time| time.calls).collect(),
            bytes_of_rank: bytes,
            seconds_of_rank: of_rank.iter().map(|t| seconds(t.nanoseconds)).collect(),
        });
    }
    classes.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    Some(TimesSummary {
        elapsed_seconds: times.elapsed.iter().copied().map(seconds).collect(),
        mpi_seconds,
        classes,
    })
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Change of the time between two runs of a job.
pub fn change(before: &TimesSummary, after: &TimesSummary) -> Table {
    let longest = |seconds: &List<Rank, f64>| seconds.iter().copied().fold(0.0, f64::max);
    let mut table = Table::new(["time of the slowest rank", "before", "after", "change"]);
    for (name, first, second) in [
        (
            "from MPI_Init to MPI_Finalize",
            &before.elapsed_seconds,
            &after.elapsed_seconds,
        ),
        ("in MPI", &before.mpi_seconds, &after.mpi_seconds),
    ] {
        let (first, second) = (longest(first), longest(second));
        table.row([
            name.to_owned(),
            units::seconds(first),
            units::seconds(second),
            units::change(first, second),
        ]);
    }
    table
}

impl TimesSummary {
    /// Seconds of the rank that took longest.
    pub fn longest_seconds(&self) -> f64 {
        self.elapsed_seconds.iter().copied().fold(0.0, f64::max)
    }

    /// Formats two tables: by call class, and by rank.
    pub fn text(&self) -> String {
        let mpi: f64 = self.mpi_seconds.iter().sum();
        let elapsed: f64 = self.elapsed_seconds.iter().sum();
        let mut text = format!(
            "time in MPI: {} of {}, {}, all ranks together\n",
            units::seconds(mpi),
            units::seconds(elapsed),
            units::share(mpi, elapsed)
        );
        text += &self.class_table().text();
        text + "\n" + &self.rank_table()
    }

    /// Time by call class.
    pub(crate) fn class_table(&self) -> Table {
        let mpi: f64 = self.mpi_seconds.iter().sum();
        let elapsed: f64 = self.elapsed_seconds.iter().sum();
        let mut table = Table::new([
            "calls", "number", "bytes", "seconds", "of MPI", "of all", "least", "most", "at rank",
        ]);
        for class in &self.classes {
            let (mut least, mut most) = (Rank(0), Rank(0));
            for (rank, time) in class.seconds_of_rank.iter_enumerated() {
                if *time < class.seconds_of_rank[least] {
                    least = rank;
                }
                if *time > class.seconds_of_rank[most] {
                    most = rank;
                }
            }
            table.row([
                class.class.clone(),
                units::count(class.calls as f64),
                units::bytes(class.bytes as f64),
                format!("{:.3}", class.seconds),
                units::share(class.seconds, mpi),
                units::share(class.seconds, elapsed),
                format!("{:.3}", class.seconds_of_rank[least]),
                format!("{:.3}", class.seconds_of_rank[most]),
                most.to_string(),
            ]);
        }
        table
    }

    fn rank_table(&self) -> String {
        let mut ranks: Vec<Rank> = self.mpi_seconds.keys().collect();
        let all = ranks.len();
        if all > MOST_RANKS {
            ranks.sort_by(|&a, &b| self.mpi_seconds[b].total_cmp(&self.mpi_seconds[a]));
            ranks.truncate(MOST_RANKS);
        }
        let mut table = Table::new(["rank", "seconds", "in MPI", "share"]);
        for &rank in &ranks {
            let (elapsed, mpi) = (self.elapsed_seconds[rank], self.mpi_seconds[rank]);
            table.row([
                rank.to_string(),
                format!("{elapsed:.3}"),
                format!("{mpi:.3}"),
                units::share(mpi, elapsed),
            ]);
        }
        let mut text = table.text();
        if all > ranks.len() {
            let others = pluralize(ranks.len(), "rank");
            text += &format!("  the {others} that were longest in MPI; all with --json\n");
        }
        text
    }
}

/// Share of the ranks' time in MPI, if measured.
pub(crate) fn share_in_mpi(profile: &Profile) -> Option<f64> {
    let times = profile.times.as_ref()?;
    let of_classes = times.classes.values().flatten();
    let in_mpi: f64 = of_classes.map(|time| time.nanoseconds as f64).sum();
    let all: f64 = times.elapsed.iter().map(|&elapsed| elapsed as f64).sum();
    (all > 0.0).then_some(in_mpi / all)
}
