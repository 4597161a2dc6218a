//! Hardware of the hosts that a job ran on.

use serde::{Deserialize, Serialize};

use treepie_topology::{Machine, MachineError};

/// Hardware of equal hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostTopology {
    /// Names of the hosts.
    pub hosts: Vec<String>,
    /// Text form of [`Machine`], without its host.
    pub machine: String,
}

impl HostTopology {
    /// Parses the hardware from its text.
    ///
    /// # Errors
    /// Text that is not a machine.
    pub fn machine(&self) -> Result<Machine, MachineError> {
        self.machine.parse()
    }
}
