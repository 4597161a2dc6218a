//! The hardware of the hosts that a job ran on.

use serde::{Deserialize, Serialize};

use treepie_topology::{Machine, MachineError};

/// The hardware of hosts that are alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostTopology {
    /// Names of the hosts.
    pub hosts: Vec<String>,
    /// The text form of [`Machine`], without its host.
    pub machine: String,
}

impl HostTopology {
    /// The hardware, read from its text.
    ///
    /// # Errors
    /// Text that is no machine.
    pub fn machine(&self) -> Result<Machine, MachineError> {
        self.machine.parse()
    }
}
