//! Measurement of all cells, and the tuning that is written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use treepie_base::Header;
use treepie_collective::{Algorithm, Operation};
use treepie_mpi::native::{Controls, Native};
use treepie_mpi::program::{Communicator, Mpi};
use treepie_native::knobs::{Knob, Library, Maker, WITHOUT_HAN};
use treepie_native::tuning::file::TuningFile;
use treepie_native::tuning::{Budget, Cell, Clock, Row, Selection, Tuning, emulations, measure};

use crate::measured_algorithm::{Caller, Kind, MeasuredAlgorithm, row, set};
use crate::request::Request;

/// The measurement on one rank.
pub struct Tuner<'a> {
    world: Communicator<'a>,
    request: Request,
    library: Library,
    controls: Controls,
    hosts: Vec<String>,
    /// True if the library is loaded; it runs plans on communicators with particular names.
    has_plans: bool,
    began: Instant,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl<'a> Tuner<'a> {
    pub fn new(mpi: &Mpi, world: Communicator<'a>, request: Request) -> Result<Self, String> {
        let said = mpi.library_version();
        let library = Library::from_version_text(&said).map_err(|error| error.to_string())?;
        let native = Native::load().map_err(|error| error.to_string())?;
        let controls =
            Controls::start(native).ok_or("the MPI's variables of algorithms are not found")?;
        let mut host = mpi.processor_name().into_bytes();
        host.resize(256, 0);
        let hosts = world.all_gather(&host);
        let hosts = hosts.chunks_exact(256);
        let hosts = hosts
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        let size = world.size();
        let notes = request.left_out.iter().map(|cell| {
            format!(
                "{} on {} ranks of {} bytes was not measured: the job has {size} ranks, and buffers \
                 have 256 MiB at most",
                cell.operation, cell.ranks, cell.bytes
            )
        });
        let notes: Vec<String> = notes.collect();
        if let ([], [first, ..]) = (&request.cells[..], &notes[..]) {
            return Err(format!("nothing is left to measure: {first}"));
        }
        let tuner = Tuner {
            world,
            request,
            library,
            controls,
            hosts,
            has_plans: std::env::var("TREEPIE_COLLECTIVES").is_ok_and(|value| value == "by-name"),
            began: Instant::now(),
            rows: Vec::new(),
            notes,
        };
        tuner.check()?;
        Ok(tuner)
    }

    /// Settings without which this MPI cannot be measured.
    fn check(&self) -> Result<(), String> {
        if self.library.maker == Maker::IntelMpi {
            return Err(format!(
                "{}: it takes algorithms from the environment only, at its start; measure jobs \
                 with I_MPI_ADJUST_... by `treepie prove`",
                self.library
            ));
        }
        for (name, value) in self.library.prerequisites() {
            if std::env::var(&name).as_deref() != Ok(&value) {
                return Err(format!(
                    "{name} is not {value}; start this by `treepie tune`"
                ));
            }
        }
        Ok(())
    }

    pub fn run(mut self) -> Result<(), String> {
        let decided = self.decided_by_user();
        let cells = self.request.cells.clone();
        let cells: Vec<Cell> = cells
            .into_iter()
            .filter(|cell| !decided.contains(&cell.operation))
            .collect();
        let mut left = &cells[..];
        for group in cells.chunk_by(|one, other| one.ranks == other.ranks) {
            let ranks = group[0].ranks;
            let members = self.world.first(ranks);
            if self.world.rank() < ranks {
                self.group(&members, group, left);
            }
            self.world.barrier_at_leisure();
            members.free();
            left = &left[group.len()..];
        }
        match self.world.rank() {
            0 => self.write(),
            _ => Ok(()),
        }
    }

    /// The operations whose algorithms the user has set, as seen by rank 0.
    fn decided_by_user(&mut self) -> BTreeSet<Operation> {
        let operations: Vec<Operation> = Operation::all().collect();
        let is_set = |name: &str| std::env::var_os(name).is_some();
        let mut flags = vec![0_u8; operations.len()];
        for (operation, flag) in operations.iter().zip(&mut flags) {
            let asked = self
                .request
                .cells
                .iter()
                .any(|cell| cell.operation == *operation);
            if let Some(name) = self
                .library
                .decided_by_user(*operation, is_set)
                .filter(|_| asked)
            {
                *flag = 1;
                self.notes
                    .push(format!("{operation} was not measured: {name} is set"));
            }
        }
        self.world.broadcast(&mut flags);
        let decided = operations
            .into_iter()
            .zip(flags)
            .filter(|(_, flag)| *flag > 0);
        decided.map(|(operation, _)| operation).collect()
    }

    /// True if Open MPI's HAN does the collectives of a communicator of the first `ranks` ranks.
    fn is_behind_han(&self, ranks: usize) -> bool {
        let read = |name: &str| {
            let variable = self.controls.find(name)?;
            self.controls.read(variable)
        };
        let several_hosts = self.hosts[..ranks]
            .iter()
            .any(|host| *host != self.hosts[0]);
        self.library.maker == Maker::OpenMpi
            && several_hosts
            && read("coll_han_priority") > read("coll_tuned_priority")
    }

    /// Measures the cells of one size of communicator, the first of those that are `left`.
    fn group(&mut self, members: &Communicator<'a>, cells: &[Cell], mut left: &[Cell]) {
        let is_behind_han = self.is_behind_han(members.size());
        for of_operation in cells.chunk_by(|one, other| one.operation == other.operation) {
            let ways = self.ways(members, of_operation[0].operation, is_behind_han);
            for cell in of_operation {
                let mut caller = Caller::new(members, &self.controls, &ways, cell, self.began);
                // The same on all ranks, which leave the cell after the same round.
                let mut now = [caller.elapsed()];
                caller.largest(&mut now);
                let share = cell.time_share() / left.iter().map(Cell::time_share).sum::<f64>();
                let until = now[0] + (self.request.seconds - now[0]) * share;
                let budget = Budget {
                    until,
                    seed: 0x7265_6569 + left.len() as u64,
                };
                if let Some(found) = measure(&mut caller, ways.len(), budget) {
                    self.rows.push(row(cell, &ways, &found));
                } else {
                    let Cell {
                        operation,
                        ranks,
                        bytes,
                    } = cell;
                    let place = format!("{operation} of {bytes} bytes on {ranks} ranks");
                    self.notes
                        .push(format!("{place} was not measured: the time was over"));
                }
                left = &left[1..];
            }
            for way in ways {
                way.communicator.free();
            }
        }
    }

    /// The candidates for an operation, the default first.
    fn ways(
        &self,
        members: &Communicator<'a>,
        operation: Operation,
        is_behind_han: bool,
    ) -> Vec<MeasuredAlgorithm<'a>> {
        let mut ways = vec![MeasuredAlgorithm::native(members, operation)];
        for knob in self.library.knobs(operation) {
            let is_wrong =
                knob.reorders() && !self.library.checks_order() && !self.request.commutative;
            if knob.allows(members.size()) && !is_wrong {
                ways.extend(self.way(members, knob, is_behind_han));
            }
        }
        if self.has_plans {
            let plans = Algorithm::of(operation).filter(|plan| self.serves(plan, members.size()));
            ways.extend(plans.map(|plan| MeasuredAlgorithm::plan(members, operation, plan.name)));
        }
        ways.extend(
            emulations(operation)
                .into_iter()
                .map(|emulation| MeasuredAlgorithm {
                    kind: Kind::Emulation(emulation),
                    ..MeasuredAlgorithm::native(members, operation)
                }),
        );
        ways
    }

    /// True if a plan differs from others here: plans for clusters do if there are several hosts.
    fn serves(&self, plan: &Algorithm, ranks: usize) -> bool {
        let hosts: BTreeSet<&String> = self.hosts[..ranks].iter().collect();
        (plan.is_by_rank() || hosts.len() > 1) && plan.allows(ranks)
    }

    fn way(
        &self,
        members: &Communicator<'a>,
        knob: Knob,
        is_behind_han: bool,
    ) -> Option<MeasuredAlgorithm<'a>> {
        let mut controls = Vec::new();
        for (name, value) in self.library.controls(&knob)? {
            let variable = self.controls.find(&name)?;
            let usual = self.controls.read(variable)?;
            // True if it can be set at all, which is the same on all ranks.
            let is_set = self.controls.write(variable, value).is_ok()
                && self.controls.read(variable) == Some(value);
            // If it cannot be set, it still has the usual value.
            let _ = self.controls.write(variable, usual);
            if !is_set {
                return None;
            }
            controls.push((variable, value, usual));
        }
        let mut way = MeasuredAlgorithm {
            kind: Kind::Knob(knob),
            controls,
            ..MeasuredAlgorithm::native(members, Operation::Barrier)
        };
        if self.library.maker == Maker::OpenMpi {
            way.communicator.free();
            set(&self.controls, &way.controls, true);
            way.communicator = match is_behind_han {
                true => members.duplicate_with(WITHOUT_HAN),
                false => members.duplicate(),
            };
            set(&self.controls, &way.controls, false);
            way.controls.clear();
        }
        Some(way)
    }

    fn write(mut self) -> Result<(), String> {
        let hosts: BTreeSet<&String> = self.hosts.iter().collect();
        let mut tuning = Tuning {
            library: self.library,
            ranks: self.world.size(),
            hosts: hosts.len(),
            commutative: self.request.commutative,
            library_file: match self.library.maker {
                Maker::Mpich => library_file(),
                Maker::OpenMpi | Maker::IntelMpi => None,
            },
            notes: self.notes,
            rows: std::mem::take(&mut self.rows),
        };
        tuning.sort();
        let file = TuningFile {
            header: Header::now(format!("treepie {}", env!("CARGO_PKG_VERSION"))),
            body: tuning,
        };
        let output: &Path = &self.request.output;
        file.write(output).map_err(|error| error.to_string())
    }
}

/// The file of MPICH's library, which is mapped into this process and has a collective selection.
fn library_file() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let is_of_mpi = |path: &&Path| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with("libmpi"))
    };
    let files: BTreeSet<&Path> = paths.filter(is_of_mpi).collect();
    let has_selection = |path: &&Path| Selection::of_library(path).is_some();
    files.into_iter().find(has_selection).map(Path::to_owned)
}
