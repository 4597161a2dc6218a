//! The checkpoint from which a restart begins, and the progress of an attempt.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::supervision::decide::Progress;

/// A file or directory from which an application restarts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its path.
    pub path: PathBuf,
    /// Time of its last modification.
    pub modified: SystemTime,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The checkpoints of a supervised job.
#[derive(Debug, Clone, Default)]
pub struct Checkpoints {
    /// Checkpoints of other runs, from before the first attempt.
    others: Vec<Checkpoint>,
    /// Checkpoints from which a restart made no progress.
    suspect: Vec<Checkpoint>,
}

impl Checkpoints {
    /// Starts with the checkpoints found before the first attempt.
    pub fn new(found: Vec<Checkpoint>) -> Self {
        Checkpoints {
            others: found,
            suspect: Vec::new(),
        }
    }

    /// The newest checkpoint of this job among those found, without suspect and empty ones. Of two
    /// with the same time, the later name.
    pub fn newest<'a>(&self, found: &'a [Checkpoint]) -> Option<&'a Checkpoint> {
        let own = found.iter().filter(|one| {
            one.bytes > 0 && !self.others.contains(one) && !self.suspect.contains(one)
        });
        own.max_by_key(|one| (one.modified, one.path.as_os_str().len(), &one.path))
    }

    /// Progress of an attempt: made if there is a checkpoint that did not exist `before` it.
    pub fn progress(&self, before: &[Checkpoint], after: &[Checkpoint]) -> Progress {
        let is_new = |one: &Checkpoint| one.bytes > 0 && !before.contains(one);
        if after.iter().any(is_new) {
            Progress::Made
        } else {
            Progress::None
        }
    }

    /// Marks a checkpoint from which a restart made no progress: the next restart uses the one
    /// before, since this one may be truncated.
    pub fn suspect(&mut self, checkpoint: Checkpoint) {
        self.suspect.push(checkpoint);
    }
}

/// True if a name matches a pattern, in which `*` matches any characters and `?` a single one. As
/// in shells, a name that begins with a dot needs a pattern that does.
pub fn fits(name: &str, pattern: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let pattern: Vec<char> = pattern.chars().collect();
    if name.first() == Some(&'.') && pattern.first() != Some(&'.') {
        return false;
    }
    // True for each length of a prefix of the name that the pattern matches so far: the time is at
    // most the product of both lengths.
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
