//! Strategies of collectives by name, for tests that force each of them in turn.

use std::fmt::Write as _;

use treepie_core::collective::Operation;
use treepie_core::collective::Strategy;

/// So many rounds, and every strategy of every operation has been taken.
pub fn rounds() -> usize {
    let each = Operation::all().map(|operation| Strategy::of(operation).count());
    each.max().unwrap_or(0)
}

/// For each operation its `round`-th strategy, round and round, as the setting
/// `collectives` lists them.
pub fn of_round(round: usize) -> String {
    let mut list = String::new();
    for operation in Operation::all() {
        let names: Vec<&str> = Strategy::of(operation).map(|s| s.name).collect();
        let comma = if list.is_empty() { "" } else { "," };
        let _ = write!(list, "{comma}{operation}={}", names[round % names.len()]);
    }
    list
}
