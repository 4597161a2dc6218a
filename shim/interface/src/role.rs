//! Roles that a procedure can have: types in `preload/src/entry/roles`.

/// A role.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Role {
    /// Name of its type.
    pub(crate) name: &'static str,
    /// Its name in pages, empty if readers of pages need none.
    pub(crate) in_pages: &'static str,
    /// Column that a row with this role must have, and others must not.
    pub(crate) detail: Option<&'static str>,
}

const fn role(name: &'static str, in_pages: &'static str) -> Role {
    Role {
        name,
        in_pages,
        detail: None,
    }
}

const fn detailed(name: &'static str, in_pages: &'static str, detail: &'static str) -> Role {
    Role {
        name,
        in_pages,
        detail: Some(detail),
    }
}

/// Role of rows that name none.
pub(crate) const PLAIN: &Role = &role("Plain", "");

/// Roles that rows can name.
pub(crate) const ROLES: &[Role] = &[
    role("Send", "send"),
    role("BeginSend", "send"),
    role("SendReceive", "send"),
    role("BeginSendReceive", "send"),
    role("PrepareSend", "send-init"),
    role("Receive", "receive"),
    role("Probe", "receive"),
    role("PrepareReceive", "receive-init"),
    role("Start", "start"),
    role("Complete", "complete"),
    role("Look", "look"),
    role("LookAt", "look-at"),
    role("Cancel", "cancel"),
    detailed("Collective", "collective", "operation"),
    detailed("StartCollective", "collective", "operation"),
    detailed("EnqueueCollective", "collective", "operation"),
    detailed("PrepareCollective", "collective-init", "operation"),
    detailed("Transfer", "transfer", "access"),
    role("Fetch", "fetch"),
    detailed("OpenEpoch", "open-epoch", "epoch"),
    role("Post", "within-epoch Post"),
    role("Flush", "within-epoch Flush"),
    role("EndEpoch", "end-epoch"),
    role("MakeWindow", ""),
    role("MakeSharedWindow", ""),
    role("EndWindow", "end Window"),
    role("MakeCommunicator", ""),
    role("RegisterCommunicator", ""),
    role("EndCommunicator", "end Communicator"),
    role("EndRequest", "end Request"),
    role("ReleaseDatatype", "release"),
    role("ReleaseOp", "release"),
    role("Finalize", "finalize"),
];

/// Finds the role of this name.
pub(crate) fn find(name: &str) -> Option<&'static Role> {
    ROLES.iter().find(|role| role.name == name)
}

impl Role {
    /// True if a procedure of this role only prepares a collective, which no cut includes.
    pub(crate) fn prepares_collective(&self) -> bool {
        self.in_pages.ends_with("-init") && self.detail == Some("operation")
    }

    /// True if a procedure of this role registers communicators or windows.
    pub(crate) fn registers(&self) -> bool {
        self.name.starts_with("Make") || self.name.starts_with("Register")
    }
}
