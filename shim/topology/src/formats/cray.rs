//! Nodes of a Cray XC by their physical names, which encode their positions on its dragonfly.
//!
//! ```text
//! cray-xc
//! nid00012 c3-0c2s15n3   # cabinet 3 of row 0, chassis 2, slot 15, node 3
//! ```
//!
//! On each node `/proc/cray_xt/cname` has its name; the tables of `xtprocadmin` have all, and
//! number 12 is the host nid00012. Two neighbouring cabinets of a row form a group of six chassis
//! with sixteen routers, one per slot (HPE, Aries). Other Cray systems have such names, too, which
//! do not encode positions on their torus: the first line must state that the system is an XC.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::in_network;
use crate::networks::dragonfly::{Arrangement, Dragonfly, Local, Paths};
use crate::networks::error::NetworkError;
use crate::networks::network::Network;
use crate::networks::site::{Host, Site};
use treepie_base::FileError;

const HEADER: &str = "cray-xc";

/// Cabinets of a group, chassis of a cabinet, slots of a chassis, nodes of a slot.
const CABINETS: usize = 2;
const CHASSIS: usize = 3;
const SLOTS: usize = 16;
const NODES: usize = 4;

/// Number of global links of a router.
const PORTS: usize = 10;

/// Position of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Name {
    column: usize,
    row: usize,
    chassis: usize,
    slot: usize,
    node: usize,
}

impl Name {
    /// Parses the parts of `c3-0c2s15n3`; `None` for any other text.
    fn read(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut part = |before: &str| -> Option<usize> {
            rest = rest.strip_prefix(before)?;
            let end = rest.find(|letter: char| !letter.is_ascii_digit());
            let (digits, behind) = rest.split_at(end.unwrap_or(rest.len()));
            rest = behind;
            digits.parse().ok()
        };
        let name = Name {
            column: part("c")?,
            row: part("-")?,
            chassis: part("c")?,
            slot: part("s")?,
            node: part("n")?,
        };
        rest.is_empty().then_some(name)
    }

    /// # Errors
    /// Checks that a node of an XC can have this name.
    fn check(&self, text: &str) -> Result<(), String> {
        match self.chassis >= CHASSIS || self.slot >= SLOTS || self.node >= NODES {
            true => Err(format!(
                "{text} is no node of an XC: expected chassis below {CHASSIS}, slots below \
                 {SLOTS}, nodes below {NODES}"
            )),
            false => Ok(()),
        }
    }

    /// Row and pair of cabinets, which form one group.
    fn group(&self) -> (usize, usize) {
        (self.row, self.column / CABINETS)
    }

    /// Router in its group, chassis by chassis.
    fn router(&self) -> usize {
        (self.column % CABINETS * CHASSIS + self.chassis) * SLOTS + self.slot
    }
}

fn words(line: &str) -> Vec<&str> {
    let line = line.split('#').next().unwrap_or_default();
    line.split_whitespace().collect()
}

/// True if the first lines have this form.
pub(super) fn recognize(text: &str) -> bool {
    let mut lines = text.lines().map(words).filter(|words| !words.is_empty());
    let named = |words: &Vec<&str>| words.iter().any(|word| Name::read(word).is_some());
    lines
        .next()
        .is_some_and(|first| first == [HEADER] || named(&first))
        || lines.next().is_some_and(|second| named(&second))
}

/// Reads a list. Groups without a node of the list are left out: their number is not known.
pub(super) fn read(path: &Path, text: &str, _name: Option<&str>) -> Result<Site, FileError> {
    let mut nodes: Vec<(String, Name)> = Vec::new();
    let mut is_xc = false;
    for (number, line) in text.lines().enumerate() {
        let words = words(line);
        // A heading of a table has no numbers.
        let heading = nodes.is_empty() && !line.contains(|c: char| c.is_ascii_digit());
        if words == [HEADER] {
            is_xc = true;
        } else if !words.is_empty() && !heading {
            let node = node(&words, is_xc);
            nodes.push(node.map_err(|problem| FileError::at(path, number + 1, problem))?);
        }
    }
    in_network(path, dragonfly(nodes))
}

/// The host and the name of a line.
fn node(words: &[&str], is_xc: bool) -> Result<(String, Name), String> {
    let named = |word: &&str| Some(((*word).to_owned(), Name::read(word)?));
    let Some((text, name)) = words.iter().find_map(named) else {
        return Err(format!(
            "{} has no name such as c3-0c2s15n3 behind it",
            words[0]
        ));
    };
    if !is_xc {
        return Err(format!(
            "{text} is the name of a node of Cray; write {HEADER} in the first line if it is one \
             of an XC, and coordinates on the torus if it is not"
        ));
    }
    name.check(&text)?;
    match words[0].parse::<usize>() {
        Ok(nid) => Ok((format!("nid{nid:05}"), name)),
        Err(_) if words[0] == text => Err(format!("expected a host before {text}")),
        Err(_) => Ok((words[0].to_owned(), name)),
    }
}

/// Hosts by the names of their nodes.
///
/// # Errors
/// There is no host, a host has no name, or no node of an XC has such a name.
pub(super) fn named<'a>(
    hosts: impl Iterator<Item = (String, &'a str)>,
) -> Result<Site, NetworkError> {
    let mut nodes = Vec::new();
    for (host, text) in hosts {
        let wrong = |problem: String| NetworkError::NoNetwork {
            text: host.clone(),
            problem,
        };
        let name = Name::read(text)
            .ok_or_else(|| wrong("its system told no name such as c3-0c2s15n3".to_owned()))?;
        name.check(text).map_err(wrong)?;
        nodes.push((host, name));
    }
    dragonfly(nodes)
}

/// Builds the groups in the order of rows and cabinets, and the hosts on their routers.
fn dragonfly(nodes: Vec<(String, Name)>) -> Result<Site, NetworkError> {
    let groups: BTreeSet<_> = nodes.iter().map(|(_, name)| name.group()).collect();
    let groups: Vec<_> = groups.into_iter().collect();
    let routers = CABINETS * CHASSIS * SLOTS;
    let dragonfly = Dragonfly::new(
        (routers, PORTS, groups.len()),
        Local::Rows { columns: SLOTS },
        Arrangement::default(),
        Paths::default(),
    )?;
    let host = |(host, name): (String, Name)| {
        let group = groups.partition_point(|&group| group < name.group());
        Host {
            name: host,
            position: group * routers + name.router(),
        }
    };
    let hosts = nodes.into_iter().map(host).collect();
    Site::new(Network::Dragonfly(dragonfly), hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> Result<Site, String> {
        read(Path::new("nodes"), text, None).map_err(|error| error.to_string())
    }

    #[test]
    fn nodes_are_near_whose_names_differ_in_few_parts() {
        let list = "cray-xc\na c0-0c0s0n0\nb c0-0c0s0n3\nc c0-0c0s5n0\nd c1-0c2s0n0\n\
                    e c1-0c2s5n1\nf c2-0c0s0n0\ng c0-1c0s0n0\n";
        assert!(recognize(list));
        let found = site(list).unwrap();
        assert_eq!(found.nodes(), 7);
        let at = found
            .positions_of(&["a", "b", "c", "d", "e", "f", "g"])
            .unwrap();
        let distance = |one: usize, other: usize| found.network().distance(at[one], at[other]);
        // Same router, same chassis, same slot of another chassis of the group, and neither.
        let inside = [1, 2, 3, 4].map(|other| distance(0, other));
        assert_eq!(inside, [2, 3, 3, 4]);
        // Cabinet 2 and row 1 are other groups.
        assert!(distance(0, 5) >= 3 && distance(5, 6) >= 3);
        assert_ne!(at[5] / 96, at[6] / 96);
    }

    #[test]
    fn tables_with_numbers_of_nodes_are_read() {
        let table = "cray-xc\n   NID    (HEX)    NODENAME     TYPE    STATUS        MODE\n\
                     12      0xc  c0-0c0s3n0  compute        up       batch\n";
        assert!(recognize(table));
        assert!(site(table).unwrap().positions_of(&["nid00012"]).is_ok());
    }

    #[test]
    fn names_that_say_nothing_of_the_network_are_refused() {
        for (text, expected) in [
            (
                "a c0-0c0s0n0\n",
                "nodes:1: c0-0c0s0n0 is the name of a node of Cray; write cray-xc in the first \
                 line if it is one of an XC, and coordinates on the torus if it is not",
            ),
            (
                "cray-xc\na c0-0c3s0n0\n",
                "nodes:2: c0-0c3s0n0 is no node of an XC: expected chassis below 3, slots below \
                 16, nodes below 4",
            ),
            (
                "cray-xc\na c0-0c0s0n0\nb x1000c0s0b0n0\n",
                "nodes:3: b has no name such as c3-0c2s15n3 behind it",
            ),
            (
                "cray-xc\nc0-0c0s0n0\n",
                "nodes:2: expected a host before c0-0c0s0n0",
            ),
        ] {
            assert_eq!(site(text).unwrap_err(), expected);
        }
        assert!(site("cray-xc\n").is_err());
    }
}
