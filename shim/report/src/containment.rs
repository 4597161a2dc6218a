//! Cost of rollback recovery in groups of ranks, by the number of groups.

use serde::Serialize;
use treepie_resilience::containment::{Division, Failures, Logging, Outlook};

use super::redundancy::Redundancy;
use super::table::Table;
use super::units;
use super::words::pluralize;
use crate::picture::axis::Axis;
use crate::picture::chart::{Chart, Series, Style};
use crate::picture::scale::Unit;

/// The report.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    /// Domain that fails as a whole.
    pub domain: &'a str,
    /// True if a host has several of these: a failure of the host takes them all, and is not
    /// counted.
    pub inside_hosts: bool,
    /// Mean seconds between two failures of one domain.
    pub domain_mtbf: f64,
    /// Seconds of the run; without them the size of a log is not known.
    pub run_time: Option<f64>,
    /// Unit of the numbers of bytes.
    #[serde(skip)]
    pub unit: Unit,
    /// The ranks as launched, if the placement differs.
    pub as_launched: Option<Situation>,
    /// The ranks as placed.
    pub as_placed: Situation,
    /// Waves of all ranks compared with logging of all messages, if the time of the run is known.
    pub logging: Option<Logging>,
    /// Sets that protect checkpoints, if requested.
    pub redundancy: Option<Redundancy>,
}

/// Groups for one order of ranks.
#[derive(Debug, Serialize)]
pub struct Situation {
    /// Failure domains that have ranks.
    pub domains: usize,
    /// Failure rate of the domains, and times of a checkpoint and a restart.
    pub failures: Failures,
    /// Divisions by increasing number of groups.
    pub divisions: Vec<Division>,
}

impl Report<'_> {
    /// Formats the report for a terminal.
    pub fn text(&self) -> String {
        let placed = &self.as_placed;
        let mut text = format!(
            "containment: what message logging between groups that roll back together would cost. \
             No checkpoint is made, no message logged.\n  {} that fail at once ({}), each once in \
             {}: a failure in {}; checkpoint {}, restart {}\n",
            pluralize(placed.domains, "domain"),
            self.domain,
            units::span(self.domain_mtbf),
            units::span(placed.failures.mtbf),
            units::span(placed.failures.checkpoint),
            units::span(placed.failures.restart),
        );
        if self.inside_hosts {
            text += "  a host that fails takes all groups that have a rank on it: this counts only \
                     failures inside of hosts\n";
        }
        if self.run_time.is_none() {
            text += "  no time of the run is known, so that logs have no size: give --run-time, or \
                     profile with --times\n";
        }
        if let Some(launched) = &self.as_launched {
            text += "\n  as launched\n";
            text += &self.table(launched);
        }
        text += match self.as_launched {
            Some(_) => "\n  as placed\n",
            None => "\n  as launched, and as placed\n",
        };
        text += &self.table(placed);
        text += "  * no other number of groups logs less, rolls back fewer ranks, and has a smaller \
                 largest log\n  + least loss\n  wait: ranks of other groups wait for those that roll \
                 back, as in a stencil; groups save work then, and no time\n  go on: they do not\n  \
                 valid for programs that send the same messages whatever order others arrive in\n";
        if let Some(logging) = &self.logging {
            text += &logging_text(logging);
        }
        if let Some(redundancy) = &self.redundancy {
            text += &redundancy.text();
        }
        text + "\n"
    }

    fn table(&self, situation: &Situation) -> String {
        let mut table = Table::new([
            "groups",
            "largest",
            "logged",
            "share",
            "messages",
            "rolled back",
            "interval",
            "lost, wait",
            "log",
            "interval",
            "lost, go on",
            "log",
        ]);
        for division in &situation.divisions {
            table.row(self.row(division));
        }
        table.text()
    }

    fn row(&self, division: &Division) -> Vec<String> {
        let cut = &division.cut;
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let mut row = vec![
            format!(
                "{}{}",
                cut.groups(),
                if division.on_front { " *" } else { "" }
            ),
            cut.sizes
                .iter()
                .max()
                .map_or(String::new(), usize::to_string),
            self.unit.text(cut.bytes),
            percent(cut.bytes_share),
            division.messages_share.map_or("-".to_owned(), percent),
            percent(cut.rolled_back_share()),
        ];
        for outlook in [&division.others_wait, &division.others_go_on] {
            row.push(units::span(outlook.interval));
            row.push(format!(
                "{:.2} %{}",
                100.0 * outlook.waste,
                if outlook.least_loss { " +" } else { "" }
            ));
            row.push(self.log(outlook));
        }
        row
    }

    /// The largest log of a rank.
    fn log(&self, outlook: &Outlook) -> String {
        match outlook.largest_log {
            Some(bytes) if outlook.fits => self.unit.text(bytes.round()),
            Some(bytes) => format!("{} too much", self.unit.text(bytes.round())),
            None => "-".to_owned(),
        }
    }

    /// Draws bytes logged against ranks rolled back, a point for each number of groups.
    pub fn chart(&self) -> Chart {
        let series = |(colour, (name, situation)): (usize, (&str, &Situation))| {
            let points = |on_front: bool| {
                let divisions = situation.divisions.iter();
                let chosen = divisions.filter(move |one| !on_front || one.on_front);
                let mut points: Vec<(f64, f64)> = chosen
                    .map(|one| {
                        (
                            100.0 * one.cut.rolled_back_share(),
                            100.0 * one.cut.bytes_share,
                        )
                    })
                    .collect();
                points.sort_by(|one, other| one.0.total_cmp(&other.0));
                points
            };
            let of = |name: String, on_front, style| Series {
                name,
                points: points(on_front),
                style,
                colour,
            };
            [
                of(name.to_owned(), false, Style::Points),
                of(format!("{name}: Pareto front"), true, Style::Line),
            ]
        };
        let launched = self.as_launched.as_ref();
        let launched = launched.map(|situation| ("as launched", situation));
        let all = launched.into_iter().chain([("as placed", &self.as_placed)]);
        let percent = |value: f64| format!("{value:.0} %");
        Chart {
            title: "Bytes logged and ranks rolled back, by the number of groups".to_owned(),
            across: Axis {
                name: "ranks that a failure rolls back",
                logarithmic: false,
                mark: percent,
            },
            upwards: Axis {
                name: "logged",
                logarithmic: false,
                mark: percent,
            },
            series: all.enumerate().flat_map(series).collect(),
        }
    }
}

/// Compares waves with logging, by the failure rate of the machine.
fn logging_text(logging: &Logging) -> String {
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let mut table = Table::new(["a failure in", "interval", "waves lose", "logging loses"]);
    for row in &logging.rows {
        let own = if row.is_own { " <" } else { "" };
        table.row([
            format!("{}{own}", units::span(row.mtbf)),
            units::span(row.interval),
            percent(row.waves),
            percent(row.logging),
        ]);
    }
    let crossing = if logging.crossing.is_finite() {
        format!(
            "waves lose less if a failure comes in more than {}",
            units::span(logging.crossing)
        )
    } else {
        "nothing is logged".to_owned()
    };
    format!(
        "\n  waves of all ranks against logging of all messages, which copies for {} of the time: \
         {crossing}\n{}  < this machine; event loggers are not counted\n",
        percent(logging.slow_down),
        table.text(),
    )
}
