//! What an entry point calls between what is counted and the next procedure, where MPI leaves open
//! what a call gives: the order of receives is recorded and replayed there.

use crate::calls::Field;
use crate::table::Procedure;

const RECEIVE: &[Field] = &[
    ("comm", &["comm"], ""),
    ("source", &["source"], ""),
    ("tag", &["recvtag", "tag"], " as c_int"),
    ("buffer", &["recvbuf", "buf"], ""),
    ("count", &["recvcount", "count"], " as i64"),
    ("datatype", &["recvtype", "datatype"], ""),
    ("request", &["request"], ""),
    ("flag", &["flag"], ""),
    ("status", &["status"], ""),
];

impl Procedure {
    /// The kind of call, where MPI leaves open what it gives.
    fn open_kind(&self) -> Option<&'static str> {
        let name = self.name.strip_suffix("_c").unwrap_or(&self.name);
        Some(match name.strip_prefix("MPI_")? {
            "Recv" => "Recv",
            "Irecv" => "Irecv",
            "Recv_init" => "Start",
            "Sendrecv" | "Sendrecv_replace" => "Sendrecv",
            "Isendrecv" | "Isendrecv_replace" => "Isendrecv",
            "Probe" => "Probe",
            "Mprobe" => "Mprobe",
            "Iprobe" => "Iprobe",
            "Improbe" => "Improbe",
            "Test" => "Test",
            "Testall" => "Testall",
            "Waitany" => "Waitany",
            "Testany" => "Testany",
            "Waitsome" => "Waitsome",
            "Testsome" => "Testsome",
            "Request_get_status" => "RequestGetStatus",
            "Parrived" => "Parrived",
            "Win_test" => "WinTest",
            _ => return None,
        })
    }

    /// The arguments, some of them under the name of what replaces them.
    fn arguments_with(&self, replaced: &[(&str, &str)]) -> String {
        let argument = |name: &str| {
            let found = replaced.iter().find(|(old, _)| *old == name);
            found.map_or(name, |(_, new)| *new).to_owned()
        };
        let names: Vec<String> = self.parameters.iter().map(|p| argument(&p.name)).collect();
        names.join(", ")
    }

    /// The call of the next procedure, within what the order of receives needs around it.
    pub(crate) fn ordered(&self) -> String {
        let plain = self.with_started(format!("next({})", self.arguments_as_given()));
        let plain = self.with_gathering(plain);
        let kind = self.open_kind();
        let (role, detail) = self.role.split_once(' ').unwrap_or((&self.role, ""));
        match (role, kind) {
            ("receive" | "send", Some(kind)) => {
                let tag = self.find(&["recvtag", "tag"]).map_or("", |tag| &tag.name);
                let next = self.arguments_with(&[(tag, "tag as Word")]);
                format!(
                    "order::receive({}, |comm, source, tag: c_int, {}| next({next}))",
                    self.literal("Receive", RECEIVE, &format!("kind: CallKind::{kind}, ")),
                    if self.has("status") { "status" } else { "_" },
                )
            }
            ("receive-init", Some(kind)) => format!(
                "order::prepare({}, || {plain})",
                self.literal("Receive", RECEIVE, &format!("kind: CallKind::{kind}, ")),
            ),
            ("start", _) => format!("order::start(1, request, |_, request| {plain})"),
            ("start-all", _) => {
                let next = self.arguments_with(&[("count", "count as Word")]);
                format!(
                    "order::start(count as c_int, array_of_requests, \
                     |count, array_of_requests| {})",
                    self.with_started(format!("next({next})"))
                )
            }
            ("complete", kind) => {
                let requests = self.find(&["request", "array_of_requests"]);
                let status = self.find(&["status", "array_of_statuses"]);
                let kind = kind.map(|kind| format!("Some(CallKind::{kind})"));
                format!(
                    "order::complete({}, Completion {{ status, ..completion }}, |{}, {}| {plain})",
                    kind.as_deref().unwrap_or("None"),
                    requests.map_or("_", |requests| &requests.name),
                    status.map_or("_", |status| &status.name),
                )
            }
            ("look", Some(kind)) => {
                format!("order::look(CallKind::{kind}, request, flag, |request| {plain})")
            }
            ("end-epoch", Some(kind)) => {
                format!("order::poll(CallKind::{kind}, flag, || {plain})")
            }
            ("cancel", _) => format!("order::cancel(request, |request| {plain})"),
            ("end", _) if detail == "Request" => format!("order::free(request, || {plain})"),
            ("" | "allocate-shared", _) if self.of_kind("window*").is_some() => {
                format!("order::window(|| {plain})")
            }
            _ => plain,
        }
    }
}
