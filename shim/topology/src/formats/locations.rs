//! Positions of hosts on their network, as reported by their systems to the ranks of a job: calls
//! that return coordinates (uTofu, PMI of Cray), and names of nodes of a Cray.

use serde::{Deserialize, Serialize};

use super::cray;
use super::tori::{Torus, count_from_least, placed};
use crate::networks::error::NetworkError;
use crate::networks::lattice::Lattice;
use crate::networks::network::Network;
use crate::networks::site::Site;

/// Location of a host as reported by its system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLocation {
    /// The name of the host.
    pub host: String,
    /// Coordinates on its torus or mesh: the six of TofuD (x, y, z, a, b, c), the three of a Cray.
    /// Empty if none are reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coordinates: Vec<usize>,
    /// The name of the node of a Cray, such as `c3-0c2s15n3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cname: Option<String>,
}

/// Places hosts at their coordinates, counted from the least of each dimension: on a torus or mesh
/// all boxes of one size are equivalent. `network` gives the sizes; without it, they are on the
/// smallest mesh, or torus if it is full. Several hosts may be at one router.
///
/// # Errors
/// There is no host, a host has no coordinates or another number of them, or coordinates are not on
/// `network`.
pub fn by_coordinates(
    locations: &[HostLocation],
    network: Option<&Site>,
) -> Result<Site, NetworkError> {
    let dimensions = locations.first().map_or(0, |first| first.coordinates.len());
    let expected = match network.map(Site::network) {
        Some(Network::Lattice(lattice)) => lattice.sizes().len(),
        _ => dimensions,
    };
    let mut hosts: Vec<(String, Vec<usize>)> = Vec::new();
    for location in locations {
        if location.coordinates.is_empty() || location.coordinates.len() != expected {
            let number = location.coordinates.len();
            return Err(NetworkError::OutOfRange {
                what: format!(
                    "number of coordinates that the system told {}",
                    location.host
                ),
                found: number.to_string(),
                expected: match network {
                    Some(site) => format!("{expected}, as of {}", site.network().describe()),
                    None => "as many as of the other hosts".to_owned(),
                },
            });
        }
        hosts.push((location.host.clone(), location.coordinates.clone()));
    }
    count_from_least(&mut hosts);
    match network {
        Some(site) => placed(site, hosts),
        None => placed(&smallest(&hosts)?, hosts),
    }
}

/// Places hosts of a Cray XC by the names of their nodes.
///
/// # Errors
/// There is no host, a host has no name, or no node of an XC has such a name.
pub fn by_cnames(locations: &[HostLocation]) -> Result<Site, NetworkError> {
    let named = locations.iter().map(|location| {
        let cname = location.cname.as_deref().unwrap_or_default();
        (location.host.clone(), cname)
    });
    cray::named(named)
}

/// The smallest lattice with these coordinates, which several hosts may share.
fn smallest(hosts: &[(String, Vec<usize>)]) -> Result<Site, NetworkError> {
    let mut distinct: Vec<(String, Vec<usize>)> = hosts.to_vec();
    distinct.sort_by(|(_, one), (_, other)| one.cmp(other));
    distinct.dedup_by(|(_, one), (_, other)| one == other);
    let torus = Torus::smallest("hosts", distinct);
    let lattice = Lattice::new(&torus.sizes, &torus.wraps)?;
    Site::unnamed(Network::Lattice(lattice), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(host: &str, coordinates: &[usize]) -> HostLocation {
        HostLocation {
            host: host.to_owned(),
            coordinates: coordinates.to_vec(),
            cname: None,
        }
    }

    #[test]
    fn a_box_of_a_torus_is_where_its_hosts_say_that_they_are() {
        let torus = Site::from_description("torus:24x23x24x2x3x2").unwrap();
        let told = [
            at("a", &[23, 4, 7, 0, 0, 1]),
            at("b", &[0, 4, 7, 0, 0, 1]),
            at("c", &[23, 5, 7, 1, 2, 1]),
        ];
        let site = by_coordinates(&told, Some(&torus)).unwrap();
        let places = site.positions_of(&["a", "b", "c"]).unwrap();
        let distance = |one: usize, other: usize| {
            site.network().distance(places[one], places[other]) - site.network().distance(0, 0)
        };
        // 23 and 0 are neighbours on a ring of 24; 2 and 0 on one of 3.
        assert_eq!([distance(0, 1), distance(0, 2), distance(1, 2)], [1, 3, 4]);
    }

    #[test]
    fn routers_may_have_several_hosts_and_sizes_may_be_unknown() {
        let told = [
            at("a", &[4, 0, 9]),
            at("b", &[4, 0, 9]),
            at("c", &[5, 0, 9]),
        ];
        let site = by_coordinates(&told, None).unwrap();
        assert_eq!(site.network().describe(), "mesh 2x1x1");
        assert_eq!(site.positions_of(&["a", "b", "c"]).unwrap(), [0, 0, 1]);
    }

    #[test]
    fn coordinates_that_are_missing_or_do_not_fit_are_refused() {
        let torus = Site::from_description("torus:4x4").unwrap();
        let wrong = |told: &[HostLocation], site: Option<&Site>| {
            by_coordinates(told, site).unwrap_err().to_string()
        };
        assert_eq!(
            wrong(&[at("a", &[0, 1, 2])], Some(&torus)),
            "number of coordinates that the system told a is 3: expected 2, as of torus 4x4"
        );
        assert_eq!(
            wrong(&[at("a", &[0, 1]), at("b", &[])], None),
            "number of coordinates that the system told b is 0: expected as many as of the other \
             hosts"
        );
        assert_eq!(
            wrong(&[at("a", &[0, 0]), at("b", &[0, 4])], Some(&torus)),
            "the place of b is [0, 4]: expected coordinates on the torus 4x4"
        );
        assert!(by_coordinates(&[], None).is_err());
    }

    #[test]
    fn names_of_nodes_of_an_xc_say_where_they_are() {
        let named = |host: &str, cname: Option<&str>| HostLocation {
            cname: cname.map(str::to_owned),
            ..at(host, &[])
        };
        let told = [
            named("nid00012", Some("c0-0c0s3n0")),
            named("nid00400", Some("c2-0c0s4n0")),
        ];
        let site = by_cnames(&told).unwrap();
        assert_eq!(
            site.positions_of(&["nid00012", "nid00400"]).unwrap(),
            [3, 100]
        );
        let error = by_cnames(&[named("n1", None)]).unwrap_err().to_string();
        assert_eq!(
            error,
            "\"n1\" describes no network: its system told no name such as c3-0c2s15n3"
        );
    }
}
