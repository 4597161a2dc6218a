//! What an entry point calls innermost where plans of started collectives go on, or begin: calls
//! that complete requests or start them, that make communicators, and that free what plans use.

use crate::calls::COMPLETION;
use crate::table::Procedure;

impl Procedure {
    /// Whether something is done around it for started collectives.
    pub(crate) fn concerns_started(&self) -> bool {
        let (role, detail) = self.role.split_once(' ').unwrap_or((&self.role, ""));
        match role {
            "collective" | "neighbourhood" => self.has("request"),
            "collective-init" | "neighbourhood-init" | "start" | "start-all" | "complete"
            | "look" | "look-at" | "cancel" | "release" | "finalize" => true,
            "end" => detail == "Request",
            _ => self.makes_communicator(),
        }
    }

    /// Whether a communicator is there when it returns.
    pub(crate) fn makes_communicator(&self) -> bool {
        self.of_kind("comm*").is_some() && !self.has("request") && self.of_kind("comm").is_some()
    }

    /// How long it waits for the requests that it is given.
    fn waits(&self) -> &'static str {
        match self.name.as_str() {
            "MPI_Wait" | "MPI_Waitall" => "All",
            "MPI_Waitany" => "Any",
            "MPI_Waitsome" => "Some",
            _ => "Not",
        }
    }

    /// The call of the next procedure, `plain`, within what started collectives need around it.
    pub(crate) fn with_started(&self, plain: String) -> String {
        let (role, detail) = self.role.split_once(' ').unwrap_or((&self.role, ""));
        match role {
            "complete" => {
                let requests = self.find(&["request", "array_of_requests"]);
                let status = self.find(&["status", "array_of_statuses"]);
                format!(
                    "collectives::complete(Waits::{}, Completion {{ requests: {}, status: {}, \
                     ..completion }}, || {plain})",
                    self.waits(),
                    requests.map_or("0", |requests| &requests.name),
                    status.map_or("StatusAddress::ABSENT", |status| &status.name),
                )
            }
            "look-at" => format!(
                "collectives::look_at(&{}, || {plain})",
                self.literal("Completion", COMPLETION, "")
            ),
            "look" => format!("collectives::look(request, || {plain})"),
            "cancel" => format!("collectives::cancel(request, || {plain})"),
            "start" => format!("collectives::begin_persistent(1, request, || {plain})"),
            "start-all" => format!(
                "collectives::begin_persistent(count as c_int, array_of_requests, || {plain})"
            ),
            "finalize" => format!("{{ collectives::stop_progress(); {plain} }}"),
            "end" if detail == "Request" => {
                format!("collectives::end_request(request, || {plain})")
            }
            _ => plain,
        }
    }

    /// What makes a communicator, within what prepares it.
    pub(crate) fn preparing(&self, call: String) -> String {
        match self.of_kind("comm*").filter(|_| self.makes_communicator()) {
            Some(made) => format!("collectives::prepare({}, || {call})", made.name),
            None => call,
        }
    }
}
