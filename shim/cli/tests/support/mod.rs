//! A desk to work on: a temporary directory, a stand-in for the library, stand-ins for launchers,
//! and profiles built through core.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use treepie_base::Process;
use treepie_profile::{Host, MpiDescription, Profile};
use treepie_traffic::Traffic;

/// A directory that is removed with the test.
pub struct Desk(tempfile::TempDir);

/// Returns the name of the file of a platform of two clusters.
pub fn two_clusters() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    let path = folder.join("two-clusters.platform.yaml");
    path.to_str().unwrap().to_owned()
}

/// The result of a run of `treepie`.
pub struct Answer {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Answer {
            status: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Answer {
    /// The answer of a successful run.
    pub fn good(self) -> Self {
        assert_eq!(self.status, 0, "{}{}", self.out, self.err);
        self
    }

    /// The only line of a run that did not, without the page that helps.
    pub fn refusal(self, status: i32) -> String {
        assert_eq!(self.status, status, "{}{}", self.out, self.err);
        let lines: Vec<&str> = self.err.lines().collect();
        assert_eq!(lines.len(), 1, "{}", self.err);
        let line = lines[0].strip_prefix("treepie: ").unwrap();
        let line = line.split(" (more: `treepie help").next().unwrap();
        line.to_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

impl Desk {
    pub fn new() -> Self {
        let desk = Desk(tempfile::tempdir().unwrap());
        desk.write("libtreepie.so", "stands in for the library");
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        // Temporary directories may be behind a link.
        self.0.path().canonicalize().unwrap().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// An executable script.
    pub fn script(&self, name: &str, text: &str) {
        self.write(name, &format!("#!/bin/sh\n{text}"));
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path(name), executable).unwrap();
    }

    /// A launcher that prints `version`, records its arguments, one per line, and its own
    /// LD_PRELOAD, and runs `job`.
    pub fn launcher(&self, name: &str, version: &str, job: &str) {
        self.script(
            name,
            &format!(
                "if [ \"$1\" = --version ]; then echo '{version}'; exit 0; fi\n\
                 printf '%s\\n' \"$@\" > arguments\n\
                 echo \"${{LD_PRELOAD-unset}}\" > preload\n{job}\n"
            ),
        );
    }

    /// `treepie` on this desk, not yet started.
    pub fn treepie(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treepie"));
        command.args(arguments).current_dir(self.0.path());
        command.env("TREEPIE_LIBRARY", self.path("libtreepie.so"));
        command.env_remove("LD_PRELOAD");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Answer {
        self.treepie(arguments).output().unwrap().into()
    }

    /// A dense matrix with single blanks instead of its tabs.
    pub fn dense(&self, name: &str) -> String {
        self.text(name).replace('\t', " ")
    }

    /// A profile of a halo exchange on 4 x 4 ranks in a bad order.
    pub fn halo(&self, name: &str) -> Profile {
        let profile = halo();
        profile.write(&self.path(name)).unwrap();
        profile
    }
}

/// The number of the rank at a position of the 4 x 4 grid: neighbours are far apart.
fn rank_at(x: usize, y: usize) -> usize {
    (y * 4 + x) * 5 % 16
}

/// 4 x 4 ranks; a message of 64 KiB to each neighbour in x, of 1 KiB in y.
pub fn halo() -> Profile {
    let mut profile = Profile::new(16);
    profile.header.producer = "treepie 0.1.0".into();
    profile.header.date = "2026-11-21T04:03:48Z".into();
    profile.mpi = MpiDescription {
        family: "open-mpi".into(),
        library: "Open MPI v4.1.4, package: Debian OpenMPI".into(),
        standard: "3.1".into(),
    };
    profile.command = vec!["./halo2d".into(), "100".into()];
    profile.hosts = vec![Host {
        name: "mygale".into(),
        processes: (0..16).map(Process).collect(),
    }];
    for y in 0..4 {
        for x in 0..4 {
            let mut both = |x2: usize, y2: usize, bytes| {
                let (one, other) = (rank_at(x, y), rank_at(x2, y2));
                profile
                    .point_to_point
                    .add(one, other, Traffic::new(1, bytes));
                profile
                    .point_to_point
                    .add(other, one, Traffic::new(1, bytes));
            };
            if x < 3 {
                both(x + 1, y, 65536);
            }
            if y < 3 {
                both(x, y + 1, 1024);
            }
        }
    }
    profile
}

/// True if a file is complete: PNG by its first and last bytes, SVG by its tags.
pub fn is_picture(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap();
    let png = bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xaeB`\x82");
    let svg = bytes.starts_with(b"<svg ") && bytes.trim_ascii_end().ends_with(b"</svg>");
    png || svg
}

/// The text of the element with this name, without its markup.
#[track_caller]
pub fn text_of(page: &str, id: &str) -> String {
    let start = page.find(&format!("id=\"{id}\">"));
    let start = start.unwrap_or_else(|| panic!("nothing is called {id} in {page}"));
    let inner = &page[start + id.len() + 6..];
    let end = ["</table>", "</dd>", "</section>"]
        .iter()
        .filter_map(|end| inner.find(end))
        .min();
    let mut text = String::new();
    let mut inside = false;
    for letter in inner[..end.unwrap()].chars() {
        match letter {
            '<' => inside = true,
            '>' => {
                inside = false;
                text.push(' ');
            }
            letter if !inside => text.push(letter),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The events of a trace, which has what Chrome's trace-event format asks of each kind: bars with
/// times, names of rows, and arrows with both ends inside bars.
pub fn trace_events(text: &str) -> Vec<serde_json::Value> {
    let trace: serde_json::Value = serde_json::from_str(text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().clone();
    let row = |event: &serde_json::Value| {
        let number = |key: &str| event[key].as_u64().unwrap();
        (number("pid"), number("tid"))
    };
    let time = |event: &serde_json::Value, key: &str| {
        let time = event[key].as_f64().unwrap();
        assert!(time.is_finite() && time >= 0.0, "{event}");
        time
    };
    let of_kind = |kind: &'static str| events.iter().filter(move |event| event["ph"] == kind);
    let mut bars: HashMap<_, Vec<[f64; 2]>> = HashMap::new();
    for bar in of_kind("X") {
        let start = time(bar, "ts");
        let span = [start, start + time(bar, "dur")];
        bars.entry(row(bar)).or_default().push(span);
        assert!(!bar["name"].as_str().unwrap().is_empty() && bar["args"].is_object());
    }
    for name in of_kind("M") {
        assert!(name["args"]["name"].is_string(), "{name}");
        assert!(matches!(
            name["name"].as_str(),
            Some("process_name" | "thread_name")
        ));
    }
    let ids = |kind: &'static str| {
        let ids = of_kind(kind).map(|event| event["id"].as_u64().unwrap());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids("s"), ids("f"));
    for end in of_kind("s").chain(of_kind("f")) {
        let time = time(end, "ts");
        let own = &bars[&row(end)];
        assert!(
            own.iter()
                .any(|[start, end]| (*start..=*end).contains(&time)),
            "{end}"
        );
        assert!(end["ph"] == "s" || end["bp"] == "e", "{end}");
    }
    let known = ["X", "M", "s", "f"].map(|kind| of_kind(kind).count());
    assert_eq!(known.iter().sum::<usize>(), events.len());
    events
}
