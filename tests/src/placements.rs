//! Placements written by tests.

use std::path::{Path, PathBuf};
use treepie_base::{Header, Leaf, Rank};
use treepie_placement::file::{PlacementFile, StoredPlacement};
use treepie_topology::Topology;

/// Writes `two.placement.yaml` in `folder`: two ranks on a machine of two cores, by the core of
/// each rank and of each process; for any host, or for one.
///
/// # Panics
/// Panics if it cannot be written.
#[track_caller]
pub fn of_two_ranks(
    folder: &Path,
    host: Option<&str>,
    assignment: [usize; 2],
    leaf_of_process: [usize; 2],
) -> PathBuf {
    let machine = Topology::from_arities("2").and_then(|tree| tree.with_os_indices(&[0, 1]));
    let machine = machine.expect("two numbers for two cores");
    let topology = match host {
        Some(host) => Topology::cluster(vec![(host.to_owned(), machine)]).expect("it is small"),
        None => machine,
    };
    let rank_on = |leaf: &usize| assignment.iter().position(|core| core == leaf);
    let body = StoredPlacement {
        profile: None,
        ranks: 2,
        strategy: "identity".into(),
        costs: None,
        bytes_by_level: Vec::new(),
        topology,
        assignment: Leaf::list(assignment),
        leaf_of_process: Leaf::list(leaf_of_process),
        permutation: Rank::list(leaf_of_process.iter().filter_map(rank_on)),
    };
    let header = Header::now("a test");
    let file = PlacementFile { header, body };
    let path = folder.join("two.placement.yaml");
    file.write(&path).expect("a placement can be written");
    path
}
