//! The checkpoint that a restart begins from, and whether an attempt came further.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::supervision::decide::Progress;

/// A file or directory that an application restarts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its path.
    pub path: PathBuf,
    /// When it was last written.
    pub modified: SystemTime,
    /// Its size, in bytes.
    pub bytes: u64,
}

/// The checkpoints of a supervised job.
#[derive(Debug, Clone, Default)]
pub struct Checkpoints {
    /// Checkpoints of other runs, from before the first attempt.
    others: Vec<Checkpoint>,
    /// From these a restart gained nothing.
    suspect: Vec<Checkpoint>,
}

impl Checkpoints {
    /// With what is there before the first attempt.
    pub fn new(found: Vec<Checkpoint>) -> Self {
        Checkpoints {
            others: found,
            suspect: Vec::new(),
        }
    }

    /// The newest checkpoint of this job among those that were found, without those that are
    /// suspect and those that are empty. Of two of one time, the later name.
    pub fn newest<'a>(&self, found: &'a [Checkpoint]) -> Option<&'a Checkpoint> {
        let own = found.iter().filter(|one| {
            one.bytes > 0 && !self.others.contains(one) && !self.suspect.contains(one)
        });
        own.max_by_key(|one| (one.modified, one.path.as_os_str().len(), &one.path))
    }

    /// Whether there is a checkpoint that was not there `before` an attempt.
    pub fn progress(&self, before: &[Checkpoint], after: &[Checkpoint]) -> Progress {
        let is_new = |one: &Checkpoint| one.bytes > 0 && !before.contains(one);
        if after.iter().any(is_new) {
            Progress::Made
        } else {
            Progress::None
        }
    }

    /// A restart from this one gained nothing: the next one takes the one before, since this one
    /// may have been cut off.
    pub fn suspect(&mut self, checkpoint: Checkpoint) {
        self.suspect.push(checkpoint);
    }
}

/// Whether a name fits a pattern, in which `*` stands for any letters and `?` for one. As in
/// shells, a name that begins with a dot needs a pattern that does.
pub fn fits(name: &str, pattern: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    if name.first() == Some(&'.') && pattern.first() != Some(&'.') {
        return false;
    }
    // Whether what was read of the pattern fits the first letters of the name, for each number of
    // them: no pattern takes longer than the product of both lengths.
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for letter in pattern {
        let mut next = vec![false; name.len() + 1];
        for end in 0..=name.len() {
            next[end] = match letter {
                '*' => reached[end] || end > 0 && next[end - 1],
                _ => end > 0 && reached[end - 1] && (letter == '?' || letter == name[end - 1]),
            };
        }
        reached = next;
    }
    reached[name.len()]
}
