//! Hosts with their coordinates, one per line, or coordinates in the names of hosts.
//!
//! ```text
//! torus:8x8x8            # the network; without it the smallest mesh, or torus if it is full
//! n0001 0 0 0
//! n0002 1,0,0
//! ```

use std::path::Path;

use super::error::in_network;
use super::tori::{Torus, count_from_least, of_tori, placed};
use crate::networks::error::NetworkError;
use crate::networks::site::Site;
use treepie_base::FileError;

fn fields(line: &str) -> Vec<&str> {
    let line = line.split('#').next().unwrap_or_default();
    let separator = |c: char| c.is_whitespace() || c == ',';
    line.split(separator)
        .filter(|word| !word.is_empty())
        .collect()
}

fn coordinates(words: &[&str]) -> Option<Vec<usize>> {
    let numbers = words.iter().map(|word| word.parse().ok());
    numbers
        .collect::<Option<Vec<usize>>>()
        .filter(|at| !at.is_empty())
}

/// True if the first lines have this form.
pub(super) fn recognize(text: &str) -> bool {
    let mut lines = text.lines().map(fields).filter(|words| !words.is_empty());
    let Some(first) = lines.next() else {
        return false;
    };
    let is_host = |words: &[&str]| words.len() > 1 && coordinates(&words[1..]).is_some();
    match Site::is_described(first[0]) {
        true => lines.next().is_some_and(|words| is_host(&words)),
        false => first[0].parse::<f64>().is_err() && is_host(&first),
    }
}

/// Reads a list.
pub(super) fn read(path: &Path, text: &str, _name: Option<&str>) -> Result<Site, FileError> {
    let mut network = None;
    let mut hosts: Vec<(String, Vec<usize>)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words = fields(line);
        let Some((first, rest)) = words.split_first() else {
            continue;
        };
        if Site::is_described(first) && hosts.is_empty() {
            network = Some(in_network(path, Site::from_description(first))?);
            continue;
        }
        let at = coordinates(rest).ok_or_else(|| {
            let problem = format!("expected coordinates behind {first}, such as {first} 0 3 1");
            FileError::at(path, number + 1, problem)
        })?;
        if let Some((other, known)) = hosts.first()
            && known.len() != at.len()
        {
            let problem = format!(
                "{first} has {} coordinates and {other} {}; give all hosts as many",
                at.len(),
                known.len()
            );
            return Err(FileError::at(path, number + 1, problem));
        }
        hosts.push(((*first).to_owned(), at));
    }
    match network {
        Some(site) => in_network(path, placed(&site, hosts)),
        None => of_tori(path, vec![Torus::smallest("hosts", hosts)], None),
    }
}

/// Extracts the coordinates of hosts from their names, by a pattern in which `#` stands for each
/// number: `r#i#n#` extracts 2, 0 and 5 from `r2i0n05`. Coordinates are counted from the least
/// number of each. `network` gives the sizes; without it, they are determined like those of a list.
///
/// # Errors
/// A name does not match the pattern, or coordinates are outside the network or those of two hosts.
pub fn from_names(
    pattern: &str,
    names: &[&str],
    network: Option<&Site>,
) -> Result<Site, NetworkError> {
    let wrong = |problem: String| NetworkError::NoNetwork {
        text: pattern.to_owned(),
        problem,
    };
    if !pattern.contains('#') {
        return Err(wrong("write # for each number, as in r#i#n#".to_owned()));
    }
    let mut hosts = Vec::new();
    for name in names {
        let at = matched(pattern, name).ok_or_else(|| {
            wrong(format!(
                "{name} does not look so; write # for each of its numbers"
            ))
        })?;
        hosts.push(((*name).to_owned(), at));
    }
    count_from_least(&mut hosts);
    match network {
        Some(site) => placed(site, hosts),
        None => of_tori(
            Path::new(pattern),
            vec![Torus::smallest("hosts", hosts)],
            None,
        )
        .map_err(|error| wrong(error.to_string())),
    }
}

/// The numbers of a name; the last part of a pattern may be followed by a domain.
fn matched(pattern: &str, name: &str) -> Option<Vec<usize>> {
    let mut rest = name;
    let mut at = Vec::new();
    for (place, literal) in pattern.split('#').enumerate() {
        if place > 0 {
            let end = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            at.push(rest[..end].parse().ok()?);
            rest = &rest[end..];
        }
        rest = rest.strip_prefix(literal)?;
    }
    (rest.is_empty() || rest.starts_with('.')).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> Result<Site, String> {
        read(Path::new("hosts"), text, None).map_err(|error| error.to_string())
    }

    #[test]
    fn coordinates_are_read_from_lines_and_from_names() {
        let torus = site("torus:8x8x8\n# first rack\nn1 0 0 0\nn2 7,0,0\n").unwrap();
        let at = torus.positions_of(&["n1", "n2"]).unwrap();
        assert_eq!(torus.network().distance(at[0], at[1]), 1);
        assert_eq!(
            site("a 0 0\nb 3 1\n").unwrap().network().describe(),
            "mesh 4x2"
        );
        assert_eq!(
            site("a 0\nb 1\nc 2\n").unwrap().network().describe(),
            "torus 3"
        );
        let names = ["r1i0n05", "r1i1n06.site", "r2i0n05"];
        let found = from_names("r#i#n#", &names, None).unwrap();
        assert_eq!(found.network().describe(), "mesh 2x2x2");
        assert_eq!(found.positions_of(&names).unwrap(), [0, 6, 1]);
    }

    #[test]
    fn coordinates_that_collide_or_lie_outside_are_refused() {
        for (text, expected) in [
            (
                "a 0 0\nb 0 0\n",
                "hosts: hosts: a and b are both at [0, 0]; correct one of them",
            ),
            (
                "a 0 0\nb 0\n",
                "hosts:2: b has 1 coordinates and a 2; give all hosts as many",
            ),
            (
                "a 0 0\nb x\n",
                "hosts:2: expected coordinates behind b, such as b 0 3 1",
            ),
            (
                "torus:4x4\na 4 0\n",
                "hosts: network: the place of a is [4, 0]: expected coordinates on the torus 4x4",
            ),
        ] {
            assert_eq!(site(text).unwrap_err(), expected);
        }
        let error = from_names("n#", &["login"], None).unwrap_err().to_string();
        assert_eq!(
            error,
            "\"n#\" describes no network: login does not look so; write # for each of its numbers"
        );
    }
}
