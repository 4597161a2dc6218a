//! Costs of images and messages, and their limits.

use serde::Serialize;

use crate::checkpoint::error::ExperimentError;

/// Costs of parts of a wave that are not in the platform.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Costs {
    /// Bytes of the image of a rank.
    pub image: f64,
    /// Rate of the disk of a host in bytes per second; a copy of the images of its ranks stays
    /// there.
    pub local_disk: f64,
    /// Rate of the disk of a server in bytes per second; infinite if its memory stores the images.
    #[serde(skip)]
    pub server_disk: f64,
    /// Rate of a network card in bytes per second, in clusters of one host, for which no card is
    /// known.
    pub card: f64,
    /// Rate in bytes per second at which a rank copies in memory; it limits logging and images.
    pub memory: f64,
    /// Seconds by which a daemon delays each message.
    pub daemon: f64,
    /// Seconds in which an event logger processes a determinant.
    pub logger: f64,
    /// Number of event loggers.
    pub loggers: usize,
}

impl Costs {
    /// Defaults for this number of ranks.
    ///
    /// | cost | value | source |
    /// |---|---|---|
    /// | image | 1.6 GB / ranks + 15 MB | an assumption: data of a large problem, and a program |
    /// | local disk | 40 MB/s | a disk of 2006 (an assumption) |
    /// | server's disk | no limit | servers keep images in memory (Coti 2006, 2.8) |
    /// | card | 110 MB/s | Gigabit Ethernet |
    /// | memory | 3 GB/s | an assumption, within 1 to 5 GB/s |
    /// | daemon | 20 us per message | an assumption: two passes through a local socket |
    /// | event logger | 20 us per determinant, one logger | an assumption |
    pub fn usual(ranks: usize) -> Costs {
        Costs {
            image: 1.6e9 / ranks.max(1) as f64 + 15e6,
            local_disk: 40e6,
            server_disk: f64::INFINITY,
            card: 110e6,
            memory: 3e9,
            daemon: 20e-6,
            logger: 20e-6,
            loggers: 1,
        }
    }

    /// Refuses invalid values.
    pub(crate) fn check(&self) -> Result<(), ExperimentError> {
        let above_0 = [
            ("an image", self.image),
            ("the rate of local disks", self.local_disk),
            ("the rate of a server's disk", self.server_disk),
            ("the rate of a card", self.card),
            ("the rate of memory", self.memory),
        ];
        let from_0 = [
            ("the daemon", self.daemon),
            ("an event logger", self.logger),
        ];
        let wrong = above_0
            .into_iter()
            .find(|(_, value)| value.is_nan() || *value <= 0.0);
        let negative = |(_, value): &(_, f64)| !value.is_finite() || *value < 0.0;
        if self.loggers == 0 {
            return Err(ExperimentError::NoLogger);
        }
        match wrong.or(from_0.into_iter().find(negative)) {
            Some((what, value)) => Err(ExperimentError::BadNumber { what, value }),
            None => Ok(()),
        }
    }
}
