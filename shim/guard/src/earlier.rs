//! What a persistent request is told of those before it in its cell: what their starts have come
//! to.
//!
//! Ranks start requests in any order, so that one of them may know more of an earlier request than
//! another when a new one is made. So they tell each other, where the call that makes it may wait
//! for all, and what all say alike is agreed. That costs an exchange: they do so for some first
//! requests of a cell, and then ever more rarely; those in between begin with what was agreed last.

use std::collections::HashMap;

use super::{CellKey, Contender, Known, VALUES_OF_REQUEST};

/// Cells of a communicator whose requests are told of earlier ones.
const MOST: usize = 1024;

/// So many requests of a cell cost an exchange each, but for the first.
const FIRST: u64 = 8;

/// What the starts of a request have come to.
#[derive(Debug, Clone, Copy, Default)]
pub enum Found {
    /// Nothing is decided.
    #[default]
    Open,
    /// The native MPI runs them for good.
    Left,
    /// A plan is adopted.
    Adopted(Known),
}

impl Found {
    /// A number that tells it from others.
    fn number(&self) -> i64 {
        match self {
            Found::Open => 0,
            Found::Left => 1,
            Found::Adopted(known) => (known.challenger.add_to(0) as i64) << 2 | 2,
        }
    }
}

/// The requests of one cell.
#[derive(Debug, Default)]
struct OfCell {
    made: u64,
    found: Found,
    /// What this rank has told others: starts on other threads may find more meanwhile.
    told: Found,
    agreed: Found,
}

/// The requests of one communicator, on one rank, which all ranks make in one order.
#[derive(Debug, Default)]
pub struct Earlier(HashMap<CellKey, OfCell>);

impl Earlier {
    /// A request of a cell is made. This rank's numbers, [`VALUES_OF_REQUEST`] of them, where all
    /// are to be told what it has found: behind it comes [`Earlier::agree`].
    pub fn make(&mut self, key: CellKey) -> Option<Vec<i64>> {
        if self.0.len() >= MOST && !self.0.contains_key(&key) {
            return None;
        }
        let of_cell = self.0.entry(key).or_default();
        of_cell.made += 1;
        let is_due = of_cell.made <= FIRST || of_cell.made.is_power_of_two();
        if of_cell.made == 1 || !is_due {
            return None;
        }
        of_cell.told = of_cell.found;
        let number = of_cell.told.number();
        let medians = match &of_cell.told {
            Found::Adopted(known) => [known.native, known.plan],
            Found::Open | Found::Left => [0; 2],
        };
        let [native, plan] = medians.map(|median| i64::try_from(median).unwrap_or(i64::MAX));
        let mut values = vec![number, !number, native, plan];
        values.resize(VALUES_OF_REQUEST, 0);
        Some(values)
    }

    /// What all ranks say alike, by the least numbers of all, is agreed; else nothing.
    pub fn agree(&mut self, key: &CellKey, least: &[i64]) {
        let (Some(of_cell), &[number, inverse, native, plan, ..]) = (self.0.get_mut(key), least)
        else {
            return;
        };
        of_cell.agreed = match of_cell.told {
            _ if number != !inverse => Found::Open,
            Found::Adopted(known) => Found::Adopted(Known {
                native: native.unsigned_abs(),
                plan: plan.unsigned_abs(),
                ..known
            }),
            found => found,
        };
    }

    /// What all ranks know of the requests of a cell.
    pub fn agreed(&self, key: &CellKey) -> Found {
        self.0.get(key).map_or(Found::Open, |known| known.agreed)
    }

    /// The starts of a request have come to this, on this rank. Those of which nothing is decided
    /// say nothing against what others have come to.
    pub fn found(&mut self, key: &CellKey, found: Found) {
        if let (Some(of_cell), Found::Left | Found::Adopted(_)) = (self.0.get_mut(key), found) {
            of_cell.found = found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_collective::Operation;

    #[test]
    fn what_a_rank_finds_while_it_tells_others_is_not_agreed() {
        let key = CellKey::new(Operation::Barrier, 0, Some(0), false);
        let mut earlier = Earlier::default();
        assert!(earlier.make(key).is_none(), "there is none before it");
        let values = earlier.make(key).expect("all tell");
        earlier.found(&key, Found::Left);
        earlier.agree(&key, &values);
        assert!(matches!(earlier.agreed(&key), Found::Open));
        let values = earlier.make(key).expect("all tell");
        earlier.agree(&key, &values);
        assert!(matches!(earlier.agreed(&key), Found::Left));
        // Another request is not as far.
        earlier.found(&key, Found::Open);
        let values = earlier.make(key).expect("all tell");
        earlier.agree(&key, &values);
        assert!(matches!(earlier.agreed(&key), Found::Left));
    }
}
