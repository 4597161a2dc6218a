//! The windows of the ranks together.

use std::collections::BTreeMap;

use crate::affinity::Traffic;
use crate::affinity::windows::Access;
use crate::files::parts::Part;
use crate::files::profile::WindowUse;

/// Windows by their ranks and their numbers.
#[derive(Default)]
pub(super) struct Windows(BTreeMap<(Vec<u32>, u32), WindowUse>);

impl Windows {
    /// Adds what one rank did.
    pub(super) fn add(&mut self, part: &Part) {
        for (place, (number, group)) in part.windows.iter().enumerate() {
            let own = part.accesses.iter();
            let accesses: Vec<(Access, Traffic)> = own
                .filter(|((window, _), _)| *window as usize == place)
                .map(|((_, access), traffic)| (*access, *traffic))
                .collect();
            let window = self.0.entry((group.clone(), *number)).or_insert_with(|| {
                let ranks = group.iter().map(|&rank| rank as usize).collect();
                WindowUse::new(ranks, *number)
            });
            window.add_rank(&accesses);
        }
    }

    /// All on which something was done.
    pub(super) fn into_vec(self) -> Vec<WindowUse> {
        let windows = self.0.into_values();
        windows.filter(|window| !window.epochs.is_empty()).collect()
    }
}
