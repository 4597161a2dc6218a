//! Procedures by the names and roles that a page lists.

/// Procedure of the page's table.
pub(super) struct Procedure<'a> {
    pub(super) name: &'a str,
    pub(super) role: &'a str,
}

impl Procedure<'_> {
    /// Returns its name without the prefix, and without the suffix of large-count variants.
    pub(super) fn word(&self) -> &str {
        let name = self
            .name
            .trim_start_matches("MPIX_")
            .trim_start_matches("MPI_");
        name.strip_suffix("_c").unwrap_or(name)
    }

    pub(super) fn is_poll(&self) -> bool {
        let word = self.word();
        word.starts_with("Test") || ["Iprobe", "Improbe", "Request_get_status"].contains(&word)
    }

    pub(super) fn is_immediate(&self) -> bool {
        self.word().starts_with('I') && !self.word().starts_with("Intercomm")
    }

    /// Returns the operation of a collective: `Bcast` for `MPI_Bcast` and `MPI_Ibcast`.
    pub(super) fn operation(&self) -> String {
        match self
            .role
            .strip_prefix("collective ")
            .or(self.role.strip_prefix("collective-init "))
        {
            Some(operation) => format!("MPI_{operation}"),
            None => format!("MPI_{}", self.word()),
        }
    }

    /// True if its request is persistent.
    pub(super) fn is_prepared(&self) -> bool {
        self.word().ends_with("_init")
    }

    /// True if it is a collective on its communicator, which returns when it is complete.
    pub(super) fn is_collective(&self) -> bool {
        let roles = ["collective", "neighbourhood", "makes"];
        let role = self.role.split(' ').next().unwrap_or_default();
        roles.contains(&role)
    }

    pub(super) fn has_root(&self) -> bool {
        let rooted = [
            "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce",
        ];
        let operation = self.role.strip_prefix("collective ").unwrap_or_default();
        rooted.contains(&operation)
    }
}
