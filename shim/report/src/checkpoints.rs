//! Costs of waves of checkpoints to a job, by protocol, servers and interval.

use std::path::Path;

use serde_json::{Value, json};
use treepie_resilience::checkpoint::{Costs, NeverEnds, Outcome, Program, Protocol, Run, Servers};

use super::table::Table;
use super::units;
use super::words::pluralize;
use crate::picture::axis::Axis;
use crate::picture::chart::{Chart, Series, Style};

/// The report.
#[derive(Debug)]
pub struct Report<'a> {
    /// The file of the platform.
    pub file: &'a Path,
    /// Number of ranks.
    pub ranks: usize,
    /// Number of clusters.
    pub clusters: usize,
    /// Program of the job.
    pub program: Program,
    /// Costs of images, disks and loggers.
    pub costs: Costs,
    /// The results.
    pub rows: Vec<ProtocolRow>,
}

/// Result of one protocol with given servers at an interval.
#[derive(Debug)]
pub struct ProtocolRow {
    /// Seconds between two waves.
    pub interval: f64,
    /// Servers that store images.
    pub servers: Servers,
    /// The protocol and its waves.
    pub outcome: Outcome,
    /// The run with these waves.
    pub run: Result<Run, NeverEnds>,
}

impl Report<'_> {
    /// Formats the report for a terminal.
    pub fn text(&self) -> String {
        let plain = self.rows.first().map_or(0.0, |row| row.outcome.plain);
        let messages = (plain / self.program.iterations as f64 - self.program.compute).max(0.0);
        let mut text = format!(
            "{}: checkpoints in simulation, {} in {}; no checkpoint is made\n  {}: {} iterations of \
             {}, of which messages {}: {} without checkpoints\n  images of {}; disks, daemon and \
             loggers are assumptions where no option gives them\n\n",
            self.file.display(),
            pluralize(self.ranks, "rank"),
            pluralize(self.clusters, "cluster"),
            self.program.pattern,
            self.program.iterations,
            units::seconds(self.program.compute + messages),
            units::seconds(messages),
            units::span(plain),
            units::bytes(self.costs.image),
        );
        text += &self.table().text();
        text += "  wave: from its start until all images are stored; lost: run time that it adds\n";
        if let Some(loggers) = self.rows.iter().find_map(|row| row.outcome.loggers) {
            text += &format!(
                "  logging: {} determinants a second keep {} busy for {:.1} % of the time\n",
                units::count((loggers.rate * loggers.clients as f64).round()),
                pluralize(loggers.loggers, "event logger"),
                100.0 * loggers.utilization(),
            );
        }
        text
    }

    fn table(&self) -> Table {
        let mut table = Table::new([
            "protocol", "servers", "interval", "run time", "added", "waves", "wave", "agree",
            "store", "lost", "limit",
        ]);
        for row in &self.rows {
            table.row(row.cells());
        }
        table
    }

    /// Converts the report to JSON.
    pub fn json(&self) -> Value {
        json!({
            "ranks": self.ranks,
            "clusters": self.clusters,
            "program": self.program,
            "costs": self.costs,
            "rows": self.rows.iter().map(ProtocolRow::json).collect::<Vec<_>>(),
        })
    }

    /// Draws the run time against the interval, or against the number of servers if there is only
    /// one interval.
    pub fn chart(&self) -> Chart {
        let first = &self.rows[0];
        let by_servers = self.rows.iter().all(|row| row.interval == first.interval);
        let servers_differ = self.rows.iter().any(|row| row.servers != first.servers);
        let mut series: Vec<Series> = Vec::new();
        for row in &self.rows {
            let name = if servers_differ && !by_servers {
                format!("{}, {}", row.outcome.protocol, row.servers_in_words())
            } else {
                row.outcome.protocol.to_string()
            };
            let across = if by_servers {
                row.servers_count() as f64
            } else {
                row.interval
            };
            if series.iter().all(|one| one.name != name) {
                series.push(Series {
                    name: name.clone(),
                    points: Vec::new(),
                    style: Style::Marked,
                    colour: series.len(),
                });
            }
            let own = series.iter_mut().find(|one| one.name == name);
            if let (Some(own), Ok(run)) = (own, row.run) {
                own.points.push((across, run.seconds));
            }
        }
        for one in &mut series {
            one.points.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        Chart {
            title: format!(
                "Run time of {} with checkpoints",
                pluralize(self.ranks, "rank")
            ),
            across: if by_servers {
                Axis {
                    name: "servers in each cluster",
                    logarithmic: false,
                    mark: units::count,
                }
            } else {
                Axis {
                    name: "interval",
                    logarithmic: false,
                    mark: units::span,
                }
            },
            upwards: Axis {
                name: "run time",
                logarithmic: false,
                mark: units::span,
            },
            series,
        }
    }
}

impl ProtocolRow {
    fn cells(&self) -> Vec<String> {
        let outcome = &self.outcome;
        let (time, added, waves) = match self.run {
            Ok(run) => (
                units::span(run.seconds),
                match run.seconds / outcome.plain {
                    times if times > 11.0 => format!("{times:.1}×"),
                    times => format!("{:+.2} %", 100.0 * (times - 1.0)),
                },
                run.waves.to_string(),
            ),
            Err(_) => ("never ends".to_owned(), "-".to_owned(), "-".to_owned()),
        };
        vec![
            outcome.protocol.to_string(),
            self.servers_count().to_string(),
            units::span(self.interval),
            time,
            added,
            waves,
            units::seconds(outcome.course.seconds()),
            match outcome.protocol {
                Protocol::Logging => "-".to_owned(),
                _ => units::seconds(outcome.coordination),
            },
            units::seconds(outcome.save),
            units::seconds(outcome.lost().max(0.0)),
            outcome
                .limit
                .map_or("-".to_owned(), |limit| limit.to_string()),
        ]
    }

    /// Number of servers in each cluster, or in total.
    fn servers_count(&self) -> usize {
        match &self.servers {
            Servers::InEachCluster(count) => *count,
            Servers::Hosts(names) => names.len(),
        }
    }

    fn servers_in_words(&self) -> String {
        pluralize(self.servers_count(), "server")
    }

    fn json(&self) -> Value {
        let outcome = &self.outcome;
        json!({
            "protocol": outcome.protocol,
            "interval": self.interval,
            "servers": match &self.servers {
                Servers::InEachCluster(count) => json!(count),
                Servers::Hosts(names) => json!(names),
            },
            "seconds": self.run.ok().map(|run| run.seconds),
            "waves": self.run.ok().map(|run| run.waves),
            "without_checkpoints": outcome.plain,
            "without_waves": outcome.work,
            "wave": {
                "seconds": outcome.course.seconds(),
                "coordination": outcome.coordination,
                "messages": outcome.messages,
                "save": outcome.save,
                "bytes": outcome.bytes,
                "lost": outcome.lost().max(0.0),
                "limit": outcome.limit.map(|limit| limit.to_string()),
            },
            "logged_bytes_per_second": outcome.logged,
            "loggers": outcome.loggers,
        })
    }
}
