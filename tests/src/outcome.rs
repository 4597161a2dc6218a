//! Result of a job.

use std::process::ExitStatus;

/// Maximum number of differing lines shown.
const MOST_DIFFERENCES: usize = 8;

/// A job that ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Description of the job, for messages.
    pub description: String,
    /// The launcher's exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Files left in the job's directory, by name.
    pub files: Vec<String>,
}

impl Outcome {
    /// Returns this outcome, if the job succeeded.
    ///
    /// # Panics
    /// Panics if it did not.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert!(self.status.success(), "{}", self.told());
        self
    }

    /// Returns this outcome, if the library printed nothing.
    ///
    /// # Panics
    /// Panics if it did.
    #[track_caller]
    pub fn silent(self) -> Self {
        assert!(
            self.messages().is_empty(),
            "the library speaks: {}",
            self.told()
        );
        self
    }

    /// The lines that the library or the command wrote to standard error.
    pub fn messages(&self) -> Vec<&str> {
        self.stderr
            .lines()
            .filter(|line| line.starts_with("treepie"))
            .collect()
    }

    /// Standard error without the messages of a launcher that crashes itself: Open MPI 4.1's does
    /// so in `PMIx_server_finalize`, once in some hundred jobs that it has to end.
    pub fn stderr_of_ranks(&self) -> String {
        let process = |line: &str| {
            let (head, _) = line.strip_prefix('[')?.split_once(']')?;
            Some(head.to_owned())
        };
        let launchers: Vec<String> = self
            .stderr
            .lines()
            .filter(|line| line.contains("/mpirun"))
            .filter_map(process)
            .collect();
        let of_ranks = |line: &&str| process(line).is_none_or(|one| !launchers.contains(&one));
        self.stderr
            .lines()
            .filter(of_ranks)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The whole outcome, for a message.
    pub fn told(&self) -> String {
        format!(
            "{}: {}\n--- standard output\n{}\n--- standard error\n{}",
            self.description, self.status, self.stdout, self.stderr
        )
    }
}

/// Checks that two runs ended alike and printed the same to standard output.
///
/// # Panics
/// Panics if they did not, with the first lines that differ.
#[track_caller]
pub fn assert_same_output(one: &Outcome, other: &Outcome) {
    assert_eq!(
        one.status.code(),
        other.status.code(),
        "exit status differs\n{}\n\n{}",
        one.told(),
        other.told()
    );
    let (left, right): (Vec<&str>, Vec<&str>) =
        (one.stdout.lines().collect(), other.stdout.lines().collect());
    let line_of = |lines: &[&str], line: usize| {
        lines
            .get(line)
            .copied()
            .unwrap_or("(no such line)")
            .to_owned()
    };
    let differences: Vec<String> = (0..left.len().max(right.len()))
        .filter(|&line| left.get(line) != right.get(line))
        .map(|line| {
            format!(
                "line {}\n  one:   {}\n  other: {}",
                line + 1,
                line_of(&left, line),
                line_of(&right, line)
            )
        })
        .collect();
    assert!(
        differences.is_empty(),
        "output differs in {} lines\n  one:   {}\n  other: {}\n{}\n--- standard error of the other\n{}",
        differences.len(),
        one.description,
        other.description,
        differences[..differences.len().min(MOST_DIFFERENCES)].join("\n"),
        other.stderr
    );
}
