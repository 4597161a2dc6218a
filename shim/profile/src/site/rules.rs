//! Rules about programs: the first whose pattern matches the path decides.

use std::fmt;
use std::path::Path;

use glob::{MatchOptions, Pattern};
use serde::{Serialize, Serializer};

/// Programs that are never meant, though some of them may start an MPI: parts of compilers and of
/// build systems, programs that `configure` and CMake try, launchers, shells and debuggers.
const DENIED: [&str; 45] = [
    "conftest",
    "*-linux-gnu-*",
    "cmTC_*",
    "cmTryCompileExec*",
    "a.out",
    "cc1*",
    "collect2",
    "lto*",
    "as",
    "ld*",
    "gcc*",
    "g++*",
    "gfortran*",
    "cc",
    "c++",
    "clang*",
    "flang*",
    "icc",
    "icx",
    "icpx",
    "ifort",
    "ifx",
    "nvc*",
    "nvfortran",
    "pgcc",
    "cmake*",
    "ctest*",
    "make",
    "gmake",
    "ninja*",
    "meson",
    "mpirun*",
    "mpiexec*",
    "orted",
    "prte*",
    "hydra_*",
    "srun",
    "slurmstepd",
    "flux*",
    "sh",
    "bash",
    "dash",
    "gdb*",
    "strace",
    "valgrind",
];

/// Options that match paths like shells: `*` stays in a directory, `**` matches any number of them.
const LIKE_SHELLS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Rule about programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    allows: bool,
    pattern: Pattern,
}

impl Rule {
    /// Creates a rule for paths that match `pattern`.
    ///
    /// # Errors
    /// A pattern that starts neither with `/` nor with `**`, or is invalid.
    pub(super) fn new(allows: bool, pattern: &str) -> Result<Self, String> {
        if !pattern.starts_with('/') && !pattern.starts_with("**") {
            return Err("paths are whole; write `/` or `**/` before it".to_owned());
        }
        let pattern = Pattern::new(pattern).map_err(|error| error.msg.to_owned())?;
        Ok(Rule { allows, pattern })
    }

    /// True if it allows a program to be switched on.
    pub(super) fn allows(&self) -> bool {
        self.allows
    }

    fn matches(&self, path: &Path) -> bool {
        self.pattern.matches_path_with(path, LIKE_SHELLS)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.allows { "allow" } else { "deny" };
        write!(out, "{verb}: {}", self.pattern)
    }
}

/// Rules of a site, followed by those that every site has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    own: Vec<Rule>,
    usual: Vec<Rule>,
}

/// Writes the site's own rules, as texts.
impl Serialize for Rules {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.own.iter().map(Rule::to_string))
    }
}

impl Rules {
    pub(super) fn new(own: Vec<Rule>) -> Self {
        let usual = |name: &&str| Rule {
            allows: false,
            pattern: Pattern::new(&format!("**/{name}")).expect("names above are patterns"),
        };
        Rules {
            own,
            usual: DENIED.iter().map(usual).collect(),
        }
    }

    /// Returns the first rule that matches one of the paths of a program: its file, and the script
    /// that it runs.
    pub(super) fn first(&self, paths: &[&Path]) -> Option<&Rule> {
        let mut all = self.own.iter().chain(&self.usual);
        all.find(|rule| paths.iter().any(|path| rule.matches(path)))
    }

    /// Returns the rules that the site has written.
    pub(super) fn own(&self) -> &[Rule] {
        &self.own
    }
}
