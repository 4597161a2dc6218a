//! The table of fuzzed readers: all that read a file, a variable or a segment which another user
//! may have written.
//!
//! A reader returns its result or one line with the error. It neither panics nor overflows;
//! `scripts/fuzz` sets its limits of memory and time for the fuzzer.

mod made;

use std::io::Write;
use std::path::Path;
use treepie_base::printable::one_line;
use treepie_base::{budget, list, permutation};
use treepie_choice::measured;
use treepie_hwloc::Source;
use treepie_jobstate::order::file::Order;
use treepie_jobstate::pages;
use treepie_launch::{allocation, binary};
use treepie_placement::file::PlacementFile;
use treepie_platform::file::magpie::MagpieClusters;
use treepie_platform::file::{PlatformFile, latencies, logp_mpi};
use treepie_platform::grid::Grid;
use treepie_profile::settings::Settings;
use treepie_profile::site::SitePolicy;
use treepie_profile::{Profile, any, partial_profiles};
use treepie_report::input::{numbers, pages::Look};
use treepie_topology::formats;
use treepie_traffic::formats::{Format, matrix_market};
use treepie_traffic::{Pattern, PatternError};

/// A reader, and its first inputs.
pub struct Reader {
    /// Its name on the command line.
    pub name: &'static str,
    /// Reads, and returns the line of an error.
    read: fn(&[u8]) -> Result<(), String>,
    /// Endings of the repository's own files that it reads.
    pub endings: &'static [&'static str],
    /// Short valid texts.
    pub texts: &'static [&'static str],
    /// Valid inputs that are not text.
    pub made: fn() -> Vec<Vec<u8>>,
}

impl Reader {
    /// Runs the reader on an input.
    ///
    /// # Panics
    /// Panics if the result is not a valid answer.
    pub fn meets(&self, data: &[u8]) {
        if let Err(line) = (self.read)(data) {
            let acts = |letter: char| letter.is_control();
            assert!(
                !line.is_empty() && !line.contains(acts),
                "{}: {line:?}",
                self.name
            );
        }
    }
}

/// Reads text; bytes that are not text are no input of the reader.
fn text<T, E: ToString>(
    data: &[u8],
    read: impl FnOnce(&Path, &str) -> Result<T, E>,
) -> Result<(), String> {
    match std::str::from_utf8(data) {
        Ok(text) => answer(read(Path::new("f"), text)),
        Err(_) => Ok(()),
    }
}

fn answer<T, E: ToString>(read: Result<T, E>) -> Result<(), String> {
    read.map(drop).map_err(|error| error.to_string())
}

/// An error as shown by the command.
fn shown(error: String) -> String {
    one_line(&error)
}

/// The traffic of a pattern between eight hosts of eight ranks.
fn between_hosts(text: &str) -> Result<(), PatternError> {
    let pattern: Pattern = text.parse()?;
    pattern.require_ranks(text, 64)?;
    let between = pattern.between_hosts(8, 8);
    between.expect("a pattern's ranks are those that it was checked for");
    Ok(())
}

/// A file with these contents.
fn file<T, E: ToString>(
    data: &[u8],
    read: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<(), String> {
    let mut file = tempfile::NamedTempFile::new().expect("there is room for a file");
    file.write_all(data).expect("there is room for a file");
    answer(read(file.path()))
}

macro_rules! matrix {
    ($name:literal, $ending:literal, $text:literal) => {
        Reader {
            name: $name,
            read: |data| {
                let format = Format::from_path(Path::new(concat!("m", $ending)));
                answer(format.expect("the table of formats has it").read(data, "f"))
            },
            endings: &[$ending],
            texts: &[$text],
            made: Vec::new,
        }
    };
}

const MARKET: &str = "%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 5\n3 1 7\n";
const SLURM: &str = "SwitchName=s0 Level=0 Nodes=tux[0-3]\nSwitchName=s1 Nodes=tux[4-5]\n\
                     SwitchName=s2 Level=1 Nodes=tux[0-5] Switches=s[0-1]\n";
const SIMGRID: &str = "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\"><cluster id=\"c\" \
                       prefix=\"n\" suffix=\"\" radical=\"0-3,5\" speed=\"1Gf\" bw=\"125MBps\" \
                       lat=\"50us\"/></zone></platform>";
const COUNTED: &str = "# POINT TO POINT\nE\t0\t1\t108 bytes\t27 msgs sent\t10,0,0,17\n# OSC\n\
                       S\t1\t0\t800 bytes\t1 msgs sent\n# COLLECTIVES\n\
                       C\t1\t0\t16 bytes\t2 msgs sent\n";
const LOGP: &str = "# logp_test.Send.Recv\n# Latency = 32.66\n\
                    1113829432 0 5.3e-06 4.3e-06 0.4e-06 2.4e-06 1.4e-06 0.9e-06 1.4e-06\n";
const MAGPIE: &str = "cluster 0\nprocess 0 1 2 3\ncluster 1\nprocess 4 5\n\
                      # Min edge 0-1 = 59.962273\n";

/// All readers.
pub static READERS: &[Reader] = &[
    matrix!(
        "matrix-market",
        ".mtx",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n"
    ),
    matrix!("csv", ".csv", "0,1,5\n1,0,7\n"),
    matrix!("metis", ".graph", "2 1 1\n2 5\n1 5\n"),
    matrix!("scotch", ".grf", "0\n2 2\n0 010\n1 5 1\n1 5 0\n"),
    matrix!("dense", ".mat", "0 5\n7 0\n"),
    Reader {
        name: "counts",
        read: |data| answer(matrix_market::read_counts(data, "f")),
        endings: &[],
        texts: &[MARKET],
        made: Vec::new,
    },
    Reader {
        name: "monitoring",
        read: |data| answer(Format::Monitoring.read(data, "f")),
        endings: &[".prof"],
        texts: &[COUNTED],
        made: Vec::new,
    },
    Reader {
        name: "profile",
        read: |data| text(data, Profile::from_text),
        endings: &[".profile.yaml"],
        texts: &[],
        made: Vec::new,
    },
    Reader {
        name: "any",
        read: |data| text(data, any::from_text),
        endings: &[".yaml"],
        texts: &[],
        made: Vec::new,
    },
    Reader {
        name: "placement",
        read: |data| text(data, PlacementFile::from_text),
        endings: &[".placement.yaml"],
        texts: &[],
        made: Vec::new,
    },
    Reader {
        name: "platform",
        read: |data| text(data, PlatformFile::from_text),
        endings: &[".platform.yaml"],
        texts: &[],
        made: Vec::new,
    },
    Reader {
        name: "topology",
        read: |data| text(data, treepie_topology::file::from_text),
        endings: &[".topology.yaml"],
        texts: &["treepie: topology\nversion: 1\narities: 2:4\n"],
        made: Vec::new,
    },
    Reader {
        name: "network",
        read: |data| text(data, |path, text| formats::from_text(path, text, None)),
        endings: &[".conf", ".xml"],
        texts: &[SLURM, SIMGRID, "torus:4x4/2:4"],
        made: Vec::new,
    },
    Reader {
        name: "settings",
        read: |data| text(data, Settings::from_text),
        endings: &["treepie.yaml"],
        texts: &["collectives: auto\nplatform: p.yaml\n"],
        made: Vec::new,
    },
    Reader {
        name: "site",
        read: |data| text(data, SitePolicy::from_text),
        endings: &[".site.yaml"],
        texts: &[
            "treepie: site\nversion: 1\nprograms: [allow: '/a/**', deny: '**']\nsample: 0.5\n",
        ],
        made: Vec::new,
    },
    Reader {
        name: "pattern",
        read: |data| text(data, |_, text| between_hosts(text)).map_err(shown),
        endings: &[],
        texts: &[
            "ring",
            "tree",
            "all-to-all",
            "halo:4x4x4",
            "tp8,pp4*3,dp2",
            "ep8,cp8",
        ],
        made: Vec::new,
    },
    Reader {
        name: "grid",
        read: |data| text(data, Grid::from_text),
        endings: &[".grid.yaml"],
        texts: &[],
        made: Vec::new,
    },
    Reader {
        name: "latencies",
        read: |data| text(data, latencies::from_text),
        endings: &[],
        texts: &["0,5,60\n5,0,61\n60,61,0\n"],
        made: Vec::new,
    },
    Reader {
        name: "magpie",
        read: |data| text(data, MagpieClusters::from_text),
        endings: &[],
        texts: &[MAGPIE],
        made: Vec::new,
    },
    Reader {
        name: "logp",
        read: |data| text(data, logp_mpi::from_text),
        endings: &[],
        texts: &[LOGP],
        made: Vec::new,
    },
    Reader {
        name: "measured",
        read: |data| text(data, measured::from_text),
        endings: &[],
        texts: &["# collective,strategy,bytes,segment,seconds\nbcast,flat,8,,0.01\n"],
        made: Vec::new,
    },
    Reader {
        name: "list",
        read: |data| text(data, |_, text| list::parse(text)),
        endings: &[],
        texts: &["0-3,7,9-12"],
        made: Vec::new,
    },
    Reader {
        name: "permutation",
        read: |data| text(data, |_, text| permutation::parse(text)),
        endings: &[],
        texts: &["2,0,1", "3-0"],
        made: Vec::new,
    },
    Reader {
        name: "machine",
        read: |data| text(data, |_, text| text.parse::<treepie_topology::Machine>()),
        endings: &[],
        texts: &["2:4", "host:2 socket:2 core:8"],
        made: Vec::new,
    },
    Reader {
        name: "order",
        read: |data| file(data, Order::read),
        endings: &[".order"],
        texts: &[],
        made: Vec::new,
    },
    Reader {
        name: "part",
        read: |data| file(data, partial_profiles::read_file),
        endings: &[".part"],
        texts: &[],
        made: Vec::new,
    },
    Reader {
        name: "page",
        read: |data| answer(budget::within(data.len(), || pages::decode(data))),
        endings: &[],
        texts: &[],
        made: || vec![made::page()],
    },
    Reader {
        name: "waits",
        read: made::why,
        endings: &[],
        texts: &[],
        made: made::changes,
    },
    Reader {
        name: "look",
        read: |data| answer(serde_json::from_slice::<Look>(data)),
        endings: &[],
        texts: &[],
        made: || vec![made::look()],
    },
    Reader {
        name: "logs",
        read: made::compare,
        endings: &[],
        texts: &[],
        made: made::entries,
    },
    Reader {
        name: "hwloc",
        read: |data| {
            file(data, |path| {
                Source::Xml(path.to_owned()).read_with_devices()
            })
        },
        endings: &[".xml"],
        texts: &[],
        made: Vec::new,
    },
    Reader {
        name: "tuning",
        read: made::rules,
        endings: &[".tuning.yaml"],
        texts: &[],
        made: Vec::new,
    },
    Reader {
        name: "selection",
        read: made::selection,
        endings: &[],
        texts: &[made::SELECTION],
        made: Vec::new,
    },
    Reader {
        name: "rank-file",
        read: made::rank_files,
        endings: &[".placement.yaml"],
        texts: &[],
        made: Vec::new,
    },
    Reader {
        name: "hosts",
        read: |data| text(data, |_, text| allocation::named(text)).map_err(shown),
        endings: &[],
        texts: &["n[01-03]:4,m,n01:2", "rack[0-1]n[0-15]:8"],
        made: Vec::new,
    },
    Reader {
        name: "numbers",
        read: |data| {
            file(data, |path| numbers::loads(path).map(drop))
                .and_then(|()| file(data, numbers::cores_of_ranks))
                .map_err(shown)
        },
        endings: &[],
        texts: &["1.5 2,3\n4 # of rank 3\n", "0-3,7 9"],
        made: Vec::new,
    },
    Reader {
        name: "program",
        read: |data| {
            file(data, |path| {
                let _ = (
                    binary::kind(path),
                    binary::facts(path),
                    binary::needed(path),
                );
                let _ = binary::exported(path);
                Ok::<(), String>(())
            })
        },
        endings: &[],
        texts: &["#!/bin/sh\n"],
        made: made::programs,
    },
];
