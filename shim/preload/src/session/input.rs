//! Standard input under a permutation. A launcher passes its input to some processes, most often to
//! process 0 alone, and the rank that reads it must be there. Bytes that were read before
//! `MPI_Init`, or that are in a buffer of C, Fortran or Python, cannot be moved to another process;
//! so the process keeps the rank equal to its number, and the others are placed around it.

use serde::{Deserialize, Serialize};
use treepie_base::{Process, Rank, Slice, list};
use treepie_placement::seat::{Change, Seats, keep};
use treepie_process::log;
use treepie_process::machine::{StandardInput, standard_input};
use treepie_profile::settings::Stdin;

use super::launched::launcher;

/// State of a process's standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// No data.
    Nothing,
    /// Data may still arrive. Hydra leaves it open also on processes that get none.
    Open,
    /// Data has arrived, or had before `MPI_Init`.
    Data,
}

impl Input {
    /// Returns the state of this process's standard input. A stream that has ended may have been
    /// read before `MPI_Init`, unless the launcher had no input to forward. A terminal counts as no
    /// data.
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

/// Hint for users who did not intend any input.
const UNLESS: &str = " (not with < /dev/null or TREEPIE_STDIN=ignore)";

/// Processes that keep the ranks equal to their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seated(Vec<Process>);

impl Seated {
    /// Selects the processes that get input, according to the setting.
    pub fn new(setting: Stdin, inputs: &Slice<Process, Input>) -> Seated {
        Seated(match setting {
            Stdin::Auto => fed(inputs),
            Stdin::Keep => vec![Process(0)],
            Stdin::Ignore => Vec::new(),
        })
    }

    /// Returns an empty selection.
    pub fn none() -> Seated {
        Seated(Vec::new())
    }

    /// Returns the processes.
    pub fn processes(&self) -> &[Process] {
        &self.0
    }

    /// Gives them the ranks equal to their numbers. Returns the changes that this took, or `None`
    /// if they had these ranks.
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

/// Returns the processes that get input; none if all have it. If none has any yet, it will arrive
/// at process 0 if that one's is open.
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
    /// Cost without and with the change, if known.
    pub costs: Option<(f64, f64)>,
}

impl Kept {
    /// True if ranks were exchanged that are not equivalent.
    pub fn exchanges(&self) -> bool {
        let mut changes = self.changes.iter();
        changes.any(|(_, change)| matches!(change, Change::Exchange(_)))
    }

    /// Reports the changes to a placement; those without a cost only at level `info`.
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

    /// Reports the changes to a permutation that is not applied as the user gave it.
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
