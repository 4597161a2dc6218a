//! A platform with longer latencies.

use crate::contents::{Contents, Level};
use crate::description::Platform;
use crate::link::Link;

impl Platform {
    /// Adds `seconds` to the latency of every message, such as a latency that something between a
    /// program and its network adds. Negative values change nothing.
    #[must_use]
    pub fn delayed(&self, seconds: f64) -> Platform {
        let later = |link: &Link| link.delayed(seconds);
        let mut contents: Contents = self.contents().clone();
        for cluster in &mut contents.clusters {
            cluster.within = cluster.within.as_ref().map(later);
            for Level { link, .. } in &mut cluster.levels {
                *link = later(link);
            }
        }
        for link in contents.links.values_mut() {
            *link = later(link);
        }
        Platform::new(contents).expect("longer latencies fit wherever the old ones did")
    }
}
