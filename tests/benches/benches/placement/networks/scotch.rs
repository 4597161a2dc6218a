//! Scotch's `gmap`, single-threaded: with threads its result changes from run to run.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use treepie_topology::networks::Network;
use treepie_traffic::Matrix;

use super::hosts::{Host, Target};
use crate::clock;

/// The programs, and a folder for their files.
pub struct Scotch {
    gmap: &'static str,
    amk_grf: &'static str,
    folder: tempfile::TempDir,
}

impl Scotch {
    /// `None` if it is not installed.
    pub fn find() -> Result<Option<Self>, String> {
        let runs = |name: &str| {
            let mut command = Command::new(name);
            let quiet = command
                .arg("-V")
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            quiet.status().is_ok_and(|status| status.success())
        };
        let first = |names: [&'static str; 2]| names.into_iter().find(|name| runs(name));
        let found = (
            first(["scotch_gmap", "gmap"]),
            first(["scotch_amk_grf", "amk_grf"]),
        );
        let (Some(gmap), Some(amk_grf)) = found else {
            println!("gmap is left out: install Debian's package scotch");
            return Ok(None);
        };
        Ok(Some(Scotch {
            gmap,
            amk_grf,
            folder: tempfile::tempdir().map_err(|error| error.to_string())?,
        }))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the leaf of each rank, and CPU seconds.
    pub fn map(&self, host: &Host, matrix: &Matrix) -> Result<(Vec<usize>, f64), String> {
        self.write("graph.grf", &graph(matrix))?;
        match &host.target {
            Target::Text(text) => self.write("target.tgt", text)?,
            Target::Graph => self.make_target(host)?,
        }
        let start = clock::of_children()?;
        self.run(
            self.gmap,
            &["graph.grf", "target.tgt", "out.map", "log", "-b0"],
        )?;
        let seconds = clock::of_children()? - start;
        let text = fs::read_to_string(self.path("out.map")).map_err(|error| error.to_string())?;
        let mut free: Vec<usize> = (0..host.nodes.count())
            .map(|node| node * host.slots)
            .collect();
        let mut leaves = vec![usize::MAX; matrix.order()];
        for line in text.lines().skip(1) {
            let mut numbers = line.split_whitespace().map(str::parse::<usize>);
            let (Some(Ok(rank)), Some(Ok(node))) = (numbers.next(), numbers.next()) else {
                continue;
            };
            let next = free
                .get_mut(node)
                .ok_or(format!("gmap placed on node {node}"))?;
            if *next == (node + 1) * host.slots {
                return Err(format!("gmap overfilled node {node} of {}", host.name));
            }
            leaves[rank] = *next;
            *next += 1;
        }
        match leaves.contains(&usize::MAX) {
            true => Err(format!("gmap left ranks out on {}", host.name)),
            false => Ok((leaves, seconds)),
        }
    }

    /// Builds a target from the graph of nodes and routers, with the nodes as locations.
    fn make_target(&self, host: &Host) -> Result<(), String> {
        let nodes = host.nodes.count();
        let network: &Network = host.nodes.network();
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); nodes + network.positions()];
        for node in 0..nodes {
            let router = nodes + host.nodes.position(node);
            rows[node].push(router);
            rows[router].push(node);
        }
        for (from, to, _, _) in network.all_links() {
            rows[nodes + from].push(nodes + to);
        }
        let entries: usize = rows.iter().map(Vec::len).sum();
        let mut text = format!("0\n{} {entries}\n0 000\n", rows.len());
        for row in &rows {
            let _ = write!(text, "{}", row.len());
            row.iter().for_each(|other| {
                let _ = write!(text, " {other}");
            });
            text.push('\n');
        }
        self.write("network.grf", &text)?;
        let list: Vec<String> = (0..nodes).map(|node| node.to_string()).collect();
        self.write("list", &format!("{nodes}\n{}\n", list.join("\n")))?;
        self.run(self.amk_grf, &["-2", "-llist", "network.grf", "target.tgt"])
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.path(name), text).map_err(|error| format!("{name}: {error}"))
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new(program);
        command
            .env("SCOTCH_PTHREAD_NUMBER", "1")
            .current_dir(self.folder.path());
        let quiet = command
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match quiet.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{program} {arguments:?} ended with {status}")),
            Err(error) => Err(format!("{program}: {error}")),
        }
    }
}

/// The guest in Scotch's format.
fn graph(matrix: &Matrix) -> String {
    let entries = matrix.non_zeros();
    let mut text = format!("0\n{} {entries}\n0 010\n", matrix.order());
    for rank in 0..matrix.order() {
        let _ = write!(text, "{}", matrix.row(rank).count());
        for (other, weight) in matrix.row(rank) {
            let _ = write!(text, " {weight} {other}");
        }
        text.push('\n');
    }
    text
}
