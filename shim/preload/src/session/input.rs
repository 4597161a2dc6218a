//! Standard input under a permutation. A launcher passes its input to some processes, most often to
//! process 0 alone, and the rank that reads it must be there. Bytes that were read before
//! `MPI_Init`, or that wait in a buffer of C, Fortran or Python, can't be handed to another
//! process; so the process keeps the rank of its number, and the others make room.

use serde::{Deserialize, Serialize};
use treepie_base::{Process, Rank, Slice, list};
use treepie_placement::seat::{Change, Seats, keep};
use treepie_process::log;
use treepie_process::machine::{StandardInput, standard_input};
use treepie_profile::settings::Stdin;

use super::launched::launcher;

/// What standard input brings to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Nothing.
    Nothing,
    /// It may bring something yet. Hydra leaves it open on processes that get nothing, too.
    Open,
    /// Data, or there were some before `MPI_Init`.
    Data,
}

impl Input {
    /// What it brings to this process. A stream that has ended may have been read before
    /// `MPI_Init`, unless the launcher had nothing to pass on. A terminal counts as nothing.
    pub fn here() -> Input {
        let launcher_has_none =
            || launcher(std::process::id()).is_some_and(|launcher| launcher.has_no_input());
        match standard_input() {
            StandardInput::Nothing => Input::Nothing,
            StandardInput::Data => Input::Data,
            StandardInput::Open | StandardInput::Ended if launcher_has_none() => Input::Nothing,
            StandardInput::Open => Input::Open,
            StandardInput::Ended => Input::Data,
        }
    }
}

/// A way out for those who did not mean it so.
const UNLESS: &str = " (not with < /dev/null or TREEPIE_STDIN=ignore)";

/// The processes that keep the ranks of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seated(Vec<Process>);

impl Seated {
    /// Those that input arrives at, as the setting has it.
    pub fn new(setting: Stdin, inputs: &Slice<Process, Input>) -> Seated {
        Seated(match setting {
            Stdin::Auto => fed(inputs),
            Stdin::Keep => vec![Process(0)],
            Stdin::Ignore => Vec::new(),
        })
    }

    /// None.
    pub fn none() -> Seated {
        Seated(Vec::new())
    }

    /// The processes.
    pub fn processes(&self) -> &[Process] {
        &self.0
    }

    /// Has them keep their ranks. What it took, unless they have them.
    pub fn keep(&self, new_rank: &mut Slice<Process, Rank>, seats: Option<Seats>) -> Option<Kept> {
        let changes = self.0.iter();
        let changes = changes.map(|&process| (process, keep(new_rank, process, seats)));
        let changes: Vec<_> = changes
            .filter(|(_, change)| *change != Change::Nothing)
            .collect();
        (!changes.is_empty()).then_some(Kept {
            changes,
            costs: None,
        })
    }
}

/// The processes that input arrives at; none where all have it. Where none has any yet, it comes
/// to process 0 if that may be.
fn fed(inputs: &Slice<Process, Input>) -> Vec<Process> {
    let with = |wanted: Input| {
        let known = inputs.iter_enumerated();
        let with = known.filter(move |(_, input)| **input == wanted);
        with.map(|(process, _)| process).collect::<Vec<Process>>()
    };
    let (data, open) = (with(Input::Data), with(Input::Open));
    match () {
        () if data.len() == inputs.len() => Vec::new(),
        () if !data.is_empty() => data,
        () if open.first() == Some(&Process(0)) => vec![Process(0)],
        () => open,
    }
}

/// Processes that kept their ranks against a placement.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    changes: Vec<(Process, Change)>,
    /// Cost without and with it, where that is known.
    pub costs: Option<(f64, f64)>,
}

impl Kept {
    /// Whether ranks were exchanged that are not alike.
    pub fn exchanges(&self) -> bool {
        let mut changes = self.changes.iter();
        changes.any(|(_, change)| matches!(change, Change::Exchange(_)))
    }

    /// Says it of a placement; what costs nothing to those only who ask for it.
    pub fn tell(&self) {
        let how = match self.costs {
            _ if !self.exchanges() => {
                let why = "like parts of the machine changed places, which costs nothing";
                return log::info(&format!("{}; {why}", self.begin()));
            }
            Some((without, with)) if with <= without => "which costs nothing".to_owned(),
            Some((without, with)) => format!(
                "which costs {:.1} % ({without} -> {with})",
                100.0 * (with / without - 1.0)
            ),
            None => self.exchanged(),
        };
        log::warn(&format!("{}; {how}{UNLESS}", self.begin()));
    }

    /// Says it of a permutation that is not applied as the user gave it.
    pub fn tell_of_asked(&self) {
        let mut changes = self.changes.iter();
        let how = match changes.any(|(_, change)| *change == Change::LikeParts) {
            true => "its host and the one that rank was to be on changed places".to_owned(),
            false => self.exchanged(),
        };
        log::warn(&format!("{}; {how}{UNLESS}", self.begin()));
    }

    fn begin(&self) -> String {
        let processes: Vec<Process> = self.changes.iter().map(|(process, _)| *process).collect();
        let numbers = list::to_text(&processes);
        match processes.len() {
            1 => format!("standard input: process {numbers} has it and stays rank {numbers}"),
            _ => format!("standard input: processes {numbers} have it and stay these ranks"),
        }
    }

    fn exchanged(&self) -> String {
        let exchanges = self.changes.iter().filter_map(|(process, change)| {
            let (Change::Exchange(other) | Change::OnLeaf(other)) = change else {
                return None;
            };
            Some(format!("ranks {process} and {other} changed places"))
        });
        exchanges.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::Input::{Data, Nothing, Open};
    use super::*;

    #[test]
    fn input_is_where_data_are_or_else_may_come() {
        for (inputs, expected, launcher) in [
            (&[Data, Nothing, Nothing][..], &[0][..], "Open MPI"),
            (&[Open, Nothing, Nothing], &[0], "Open MPI, late"),
            (&[Nothing, Data, Nothing], &[1], "Open MPI, --stdin 1"),
            (&[Nothing, Open, Nothing], &[1], "the same, late"),
            (&[Nothing, Nothing, Nothing], &[], "no input"),
            (&[Data, Open, Open], &[0], "Hydra"),
            (&[Open, Open, Open], &[0], "Hydra, late"),
            (&[Data, Open, Data], &[0, 2], "Hydra, -s 0,2"),
            (&[Data, Data, Data], &[], "Slurm: all"),
        ] {
            let expected: Vec<Process> = expected.iter().copied().map(Process).collect();
            assert_eq!(fed(Slice::from_ref(inputs)), expected, "{launcher}");
        }
    }
}
