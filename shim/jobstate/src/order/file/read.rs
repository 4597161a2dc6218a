//! Reading of an order, from its file or from the logs of a job.

use std::path::Path;

use treepie_base::{FileError, budget, input};

use super::contents::{LARGEST, Logs, Order};
use super::directory::read_directory;
use super::error::OrderError;
use super::frame::{Frames, MAGIC};

impl Order {
    /// Reads an order, or the logs that a job has left in a directory.
    ///
    /// # Errors
    /// A file that cannot be read, or is not an order; logs of several runs.
    pub fn read(path: &Path) -> Result<Order, OrderError> {
        if path.is_dir() {
            return read_directory(path);
        }
        let bytes = input::bytes(path, LARGEST);
        let bytes = bytes.map_err(|error| FileError::reading(path, &error))?;
        let mut logs = Logs::default();
        let damaged = |at| OrderError::Damaged {
            path: path.to_owned(),
            at,
            length: bytes.len(),
        };
        let Some(body) = bytes.strip_prefix(MAGIC) else {
            return Err(OrderError::Strange {
                path: path.to_owned(),
            });
        };
        let mut at = MAGIC.len();
        for frame in Frames::new(body) {
            let frame = frame.map_err(|()| damaged(at))?;
            let length = frame.length();
            logs.add(frame).ok_or_else(|| damaged(at))?;
            at += length;
        }
        budget::within(bytes.len(), || logs.order(path))
    }
}
