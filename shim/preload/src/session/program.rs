//! Program of this process.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use treepie_jobstate::order::file::Program;

/// Interpreters: programs that run another one, which is text.
const INTERPRETERS: [&str; 10] = [
    "python", "pypy", "perl", "ruby", "julia", "Rscript", "R", "octave", "lua", "bash",
];

/// Returns the file of this process's program, and the script if it runs one.
pub(super) fn files() -> (PathBuf, Option<PathBuf>) {
    let program = fs::read_link("/proc/self/exe").unwrap_or_default();
    let words: Vec<String> = env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let script = script(&program, &words);
    (program, script)
}

/// Returns the description of the program in an order of receives.
pub(super) fn of_order() -> Program {
    match files() {
        (_, Some(script)) => Program::of(&script, &script),
        (program, None) => Program::of(&program, Path::new("/proc/self/exe")),
    }
}

/// Returns the name of a file.
pub(super) fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Returns the script that an interpreter runs: the first of its words that is a file.
fn script(program: &Path, words: &[String]) -> Option<PathBuf> {
    let name = name_of(program);
    INTERPRETERS
        .iter()
        .any(|interpreter| name.starts_with(interpreter))
        .then(|| words.iter().skip(1).map(PathBuf::from))?
        .find(|word| word.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_what_an_interpreter_runs() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/session/program.rs");
        let words = ["python3", "-u", path, "8"].map(str::to_owned);
        let found = script(Path::new("/usr/bin/python3.11"), &words);
        assert_eq!(found, Some(PathBuf::from(path)));
        assert_eq!(script(Path::new("/usr/bin/lmp"), &words), None);
    }
}
