//! Merged windows of the ranks.

use std::collections::BTreeMap;

use crate::partial_profiles::partial_profile::PartialProfile;
use crate::windows::WindowUse;
use treepie_base::Rank;
use treepie_traffic::windows::{Access, Accesses};

/// Windows by their ranks and their numbers.
#[derive(Default)]
pub(super) struct Windows(BTreeMap<(Vec<Rank>, u32), WindowUse>);

impl Windows {
    /// Adds the window accesses of one rank.
    pub(super) fn add(&mut self, partial: &PartialProfile) {
        let mut of_windows: Vec<Vec<(Access, Accesses)>> = vec![Vec::new(); partial.windows.len()];
        for ((place, access), counted) in &partial.accesses {
            if let Some(accesses) = of_windows.get_mut(*place as usize) {
                accesses.push((*access, *counted));
            }
        }
        for ((number, group), accesses) in partial.windows.iter().zip(of_windows) {
            let window = self.0.entry((group.clone(), *number));
            let window = window.or_insert_with(|| WindowUse::new(group.clone(), *number));
            window.add_rank(&accesses);
        }
    }

    /// Returns all windows with accesses.
    pub(super) fn into_vec(self) -> Vec<WindowUse> {
        let windows = self.0.into_values();
        windows.filter(|window| !window.epochs.is_empty()).collect()
    }
}
