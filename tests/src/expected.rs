//! Expected contents of a profile, computed or read independently of the library.

use std::collections::BTreeMap;
use treepie_traffic::TrafficMatrix;

/// Messages and bytes for each ordered pair of ranks that has any.
pub type Pairs = BTreeMap<(usize, usize), (u64, u64)>;

/// Messages and bytes of a profile or another account.
pub fn pairs(matrix: &TrafficMatrix) -> Pairs {
    matrix
        .entries()
        .map(|(from, to, traffic)| ((from, to), (traffic.messages, traffic.bytes)))
        .collect()
}

/// Checks that two accounts are the same, pair by pair.
///
/// # Panics
/// Panics if they are not, with the first pair in which they differ; `what` names the accounts.
#[track_caller]
pub fn assert_same_pairs(found: &Pairs, expected: &Pairs, what: &str) {
    for pair in found.keys().chain(expected.keys()) {
        let (found, expected) = (found.get(pair), expected.get(pair));
        assert_eq!(
            found, expected,
            "messages and bytes from rank {} to rank {} ({what})",
            pair.0, pair.1
        );
    }
}

/// The account of their sends that the jobs `p2p_forms`, `one_sided` and `neighbourhood` print.
///
/// # Panics
/// Panics if the output does not have it.
#[track_caller]
pub fn of_account(output: &str, ranks: usize) -> Pairs {
    let (messages, bytes) = (
        matrix(output, "messages", ranks),
        matrix(output, "bytes", ranks),
    );
    let mut pairs = Pairs::new();
    for from in 0..ranks {
        for to in 0..ranks {
            if messages[from][to] != 0 {
                pairs.insert((from, to), (messages[from][to], bytes[from][to]));
            }
        }
    }
    pairs
}

/// The matrix with this name that a job prints.
///
/// # Panics
/// Panics if the output does not have it.
#[track_caller]
pub fn matrix(output: &str, name: &str, ranks: usize) -> Vec<Vec<u64>> {
    let title = format!("expected {name}");
    let rows: Vec<Vec<u64>> = output
        .lines()
        .skip_while(|line| *line != title)
        .skip(1)
        .take(ranks)
        .map(|line| {
            line.split(' ')
                .filter_map(|word| word.parse().ok())
                .collect()
        })
        .collect();
    assert!(
        rows.len() == ranks && rows.iter().all(|row| row.len() == ranks),
        "no {ranks} x {ranks} matrix '{title}' in\n{output}"
    );
    rows
}

/// The sends of the job `halo2d`, from the order of its tiles that it prints.
///
/// # Panics
/// Panics if the output does not have it.
#[track_caller]
pub fn of_halo2d(output: &str, cells: u64, iterations: u64) -> Pairs {
    let line = |start: &str| {
        output
            .lines()
            .find_map(|line| line.strip_prefix(start))
            .unwrap_or_else(|| panic!("no line '{start}...' in\n{output}"))
    };
    let numbers = |text: &str| -> Vec<usize> {
        text.split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    let [rows, columns] = numbers(line("halo2d: ").split(" tiles").next().unwrap_or_default())[..]
    else {
        panic!("no shape of the grid in\n{output}");
    };
    let rank_at = numbers(line("halo2d: rank of each tile, row by row:"));
    assert_eq!(rank_at.len(), rows * columns, "{output}");

    let mut pairs = Pairs::new();
    let mut edge = |one: usize, other: usize| {
        let sent = (iterations, iterations * cells * 8);
        pairs.insert((rank_at[one], rank_at[other]), sent);
        pairs.insert((rank_at[other], rank_at[one]), sent);
    };
    for row in 0..rows {
        for column in 0..columns {
            let tile = row * columns + column;
            if column + 1 < columns {
                edge(tile, tile + 1);
            }
            if row + 1 < rows {
                edge(tile, tile + columns);
            }
        }
    }
    pairs
}

/// The sends of the ring jobs (`tests/jobs/ring.md`).
pub fn of_ring(ranks: usize) -> Pairs {
    let mut pairs = Pairs::new();
    for rank in 0..ranks {
        let (right, left) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        for (to, messages, bytes) in [(right, 11, 44_004), (left, 1, 40)] {
            let sent = pairs.entry((rank, to)).or_insert((0, 0));
            *sent = (sent.0 + messages, sent.1 + bytes);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_of_two_by_two_has_four_edges_in_both_directions() {
        let output = "halo2d: 2 x 2 tiles of 8 x 8 cells, 3 iterations\nhalo2d: rank of each tile, row by row: 1 0 2 3\n";
        let pairs = of_halo2d(output, 8, 3);
        let expected: Pairs = [
            (0, 1),
            (1, 0),
            (1, 2),
            (2, 1),
            (0, 3),
            (3, 0),
            (2, 3),
            (3, 2),
        ]
        .map(|pair| (pair, (3, 192)))
        .into();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn matrices_are_read_where_their_titles_are() {
        let output = "noise\nexpected messages\n1 2\n0 4\nexpected bytes\n10 0\n0 40\n";
        let expected: Pairs = [((0, 0), (1, 10)), ((0, 1), (2, 0)), ((1, 1), (4, 40))].into();
        assert_eq!(of_account(output, 2), expected);
    }
}
