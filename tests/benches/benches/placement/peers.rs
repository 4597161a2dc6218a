//! Other mappers, run as separate processes on files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::clock;
use crate::suite::Instance;
use crate::table::Measured;
use treepie_base::Leaf;

/// Maximum number of ranks for other mappers.
const MOST_RANKS: usize = 20_000;

/// The installed peers, and a folder for their files.
pub struct Peers {
    gmap: Option<&'static str>,
    python: Option<String>,
    folder: tempfile::TempDir,
}

impl Peers {
    /// `python` is an interpreter with the package mtkahypar.
    pub fn find(python: Option<&str>) -> Result<Self, String> {
        let gmap = ["scotch_gmap", "gmap"];
        let gmap = gmap.into_iter().find(|name| runs(name, &["-V"]));
        if gmap.is_none() {
            println!("gmap is left out: install Debian's package scotch");
        }
        let python = python.filter(|python| runs(python, &["-c", "import mtkahypar"]));
        if python.is_none() {
            println!("Mt-KaHyPar is left out: name a Python that has it with --python");
        }
        Ok(Peers {
            gmap,
            python: python.map(str::to_owned),
            folder: tempfile::tempdir().map_err(|e| e.to_string())?,
        })
    }

    /// Measures every peer on an instance.
    pub fn measure(&self, instance: &Instance) -> Result<Vec<(String, Measured)>, String> {
        let mut found = Vec::new();
        if instance.ranks > MOST_RANKS {
            return Ok(found);
        }
        if let Some(gmap) = self.gmap {
            self.write_scotch(instance)?;
            for (name, strategy) in [("gmap -b0", None), ("gmap -cqb -b0", Some("-cqb"))] {
                found.push((name.to_owned(), self.gmap(gmap, strategy, instance)?));
            }
        }
        if let Some(python) = &self.python {
            self.write_edges(instance)?;
            let name = "Mt-KaHyPar multisection".to_owned();
            found.push((name, self.mtkahypar(python, instance)?));
        }
        Ok(found)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.path(name), text).map_err(|e| format!("{name}: {e}"))
    }

    /// Writes Scotch's graph and its tree. Scotch adds up distances along a path: each
    /// level gets the difference between Treepie's distances of this level and the next.
    fn write_scotch(&self, instance: &Instance) -> Result<(), String> {
        let adjacent = instance.adjacent();
        let entries: usize = adjacent.iter().map(Vec::len).sum();
        let mut text = format!("0\n{} {entries}\n0 010\n", instance.ranks);
        for row in &adjacent {
            let _ = write!(text, "{}", row.len());
            for (neighbour, weight) in row {
                let _ = write!(text, " {weight} {neighbour}");
            }
            text.push('\n');
        }
        self.write("graph.grf", &text)?;
        let mut text = format!("tleaf\n{}", instance.arities.len());
        for (depth, arity) in instance.arities.iter().enumerate() {
            let next = instance.distances.get(depth + 1).copied().unwrap_or(0.0);
            let _ = write!(text, " {arity} {}", instance.distances[depth] - next);
        }
        self.write("tree.tgt", &text)
    }

    fn gmap(
        &self,
        gmap: &str,
        strategy: Option<&str>,
        instance: &Instance,
    ) -> Result<Measured, String> {
        // CPU times come in hundredths of a second.
        let times = (4096 / instance.ranks).clamp(1, 16);
        let start = clock::of_children()?;
        for _ in 0..times {
            let mut command = Command::new(gmap);
            command.args(["graph.grf", "tree.tgt", "graph.map", "log", "-b0"]);
            finish(command.args(strategy).current_dir(self.folder.path()))?;
        }
        let seconds = (clock::of_children()? - start) / times as f64;
        let text = fs::read_to_string(self.path("graph.map")).map_err(|e| e.to_string())?;
        let mut leaf_of = vec![usize::MAX; instance.ranks];
        for line in text.lines().skip(1) {
            let mut numbers = line.split_whitespace().map(str::parse::<usize>);
            if let (Some(Ok(rank)), Some(Ok(leaf))) = (numbers.next(), numbers.next()) {
                leaf_of[rank] = leaf;
            }
        }
        Ok(Measured {
            cost: instance.cost(&Leaf::list(leaf_of))?,
            seconds,
            note: String::new(),
        })
    }

    fn write_edges(&self, instance: &Instance) -> Result<(), String> {
        let numbers = |arities: &[usize]| arities.iter().map(|a| format!("{a} ")).collect();
        let mut text: String = numbers(&instance.arities);
        let _ = write!(text, "\n{}\n", instance.ranks);
        for (a, row) in instance.adjacent().iter().enumerate() {
            for (b, weight) in row.iter().filter(|entry| entry.0 > a) {
                let _ = writeln!(text, "{a} {b} {weight}");
            }
        }
        self.write("edges.txt", &text)
    }

    fn mtkahypar(&self, python: &str, instance: &Instance) -> Result<Measured, String> {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/placement/multisection.py");
        let script = fs::canonicalize(script).map_err(|e| e.to_string())?;
        let mut command = Command::new(python);
        command.arg(script).args(["edges.txt", "edges.map"]);
        finish(command.current_dir(self.folder.path()))?;
        let text = fs::read_to_string(self.path("edges.map")).map_err(|e| e.to_string())?;
        let mut lines = text.lines();
        let seconds = lines.next().and_then(|line| line.parse().ok());
        let leaf_of: Vec<usize> = lines.filter_map(|line| line.parse().ok()).collect();
        Ok(Measured {
            cost: instance.cost(&Leaf::list(leaf_of))?,
            seconds: seconds.ok_or("multisection.py wrote no time")?,
            note: String::new(),
        })
    }
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    finish(command.args(arguments)).is_ok()
}

fn finish(command: &mut Command) -> Result<(), String> {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}
