//! What the page of a rank says of a call: made of the procedure's parameters, by their names.

use crate::table::Procedure;

/// Fields of a note: the first parameter of these kinds and names, with what makes the field of it
/// behind.
type Field = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
);

/// Who takes part, in any call.
const PARTNERS: &[Field] = &[
    (
        "comm",
        &["comm"],
        &["comm", "comm_old", "local_comm", "intercomm", "peer_comm"],
        "",
    ),
    (
        "dest",
        &["rank"],
        &["dest", "root", "target_rank", "rank"],
        "",
    ),
    ("tag", &["tag"], &["tag", "sendtag"], " as c_int"),
    ("source", &["rank"], &["source"], ""),
    ("receive_tag", &["tag"], &["recvtag"], " as c_int"),
    (
        "elements",
        &["count", "count64"],
        &["sendcount", "count", "origin_count"],
        " as i64",
    ),
    ("request", &["request*"], &["request"], ""),
];

/// The requests that a call asks for.
const REQUESTS: &[Field] = &[
    ("count", &["word"], &["count", "incount"], " as c_int"),
    (
        "requests",
        &["request&", "request[]"],
        &["request", "array_of_requests"],
        "",
    ),
];

/// Where a call that does not wait says whether something was done.
const ANSWERS: &[Field] = &[("answer", &["word*"], &["flag", "outcount"], "")];

/// Calls that come back whether or not something was done.
fn is_poll(name: &str) -> bool {
    let polls = [
        "Test", "Testany", "Testall", "Testsome", "Iprobe", "Improbe",
    ];
    let name = name.strip_prefix("MPI_").unwrap_or(name);
    let looks = name.starts_with("Request_get_status");
    looks || polls.contains(&name) || ["Win_test", "Parrived"].contains(&name)
}

/// Collectives of a group that is not all of the communicator.
const OF_A_GROUP: [&str; 2] = ["MPI_Comm_create_group", "MPIX_Comm_create_group"];

/// What begins something that the counts of a cut know nothing of: messages in parts or of two
/// kinds at once, processes of other jobs, streams and threads of the MPI's own, and messages that
/// may be taken back.
const UNCUT: [&str; 12] = [
    "MPI_Psend_init",
    "MPI_Precv_init",
    "MPI_Isendrecv",
    "MPI_Isendrecv_replace",
    "MPI_Cancel",
    "MPI_Comm_accept",
    "MPI_Comm_connect",
    "MPI_Comm_join",
    "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple",
    "MPIX_Threadcomm_init",
    "MPIX_Stream_comm_create",
];

impl Procedure {
    /// Whether no cut includes what it begins.
    fn is_uncut(&self) -> bool {
        let name = self.name.strip_suffix("_c").unwrap_or(&self.name);
        let prepares =
            self.role.starts_with("collective-init") || self.role.starts_with("neighbourhood-init");
        let elsewhere = name.starts_with("MPIX_Stream_") || name.ends_with("_enqueue");
        prepares || elsewhere || UNCUT.contains(&name)
    }

    /// The note of a call of this procedure.
    pub(crate) fn note(&self) -> String {
        let mut text = format!("Note {{ procedure: procedures::{}, ", self.name);
        let asks = ["complete", "look", "look-at"].contains(&&*self.role);
        let mut fields: Vec<&Field> = PARTNERS.iter().collect();
        if asks {
            fields.extend(REQUESTS);
        }
        if is_poll(&self.name) {
            fields.extend(ANSWERS);
        }
        for (field, kinds, names, behind) in fields {
            let fits = |name: &&&str| {
                let found = self.parameters.iter().find(|p| p.name == **name);
                found.is_some_and(|p| kinds.contains(&&*p.kind))
            };
            if let Some(name) = names.iter().find(fits) {
                let field = match *field {
                    "tag" if self.has("source") && *name == "tag" => "receive_tag",
                    field => field,
                };
                text += &format!("{field}: {name}{behind}, ");
            }
        }
        if self.role == "send" {
            text += "sends: true, ";
        }
        if self.posts() {
            text += "posts: true, ";
        }
        text + "..Note::NONE }"
    }

    /// Whether a call takes a message, at once or later.
    fn posts(&self) -> bool {
        let prepares = self.name.contains("_init");
        let looks = ["MPI_Probe", "MPI_Iprobe"].contains(&&*self.name);
        self.has("source") && !prepares && !looks
    }

    /// What a reader of pages has to know of the procedure beside its name: its role, and that it
    /// is a collective on its communicator where no role says so.
    fn role_in_pages(&self) -> &str {
        let made = ["comm*", "window*", "file*"];
        let makes = made.iter().any(|kind| self.of_kind(kind).is_some());
        let by_itself = self.role.is_empty() || self.role.starts_with("by reorder");
        match self.role.split(' ').next() {
            _ if OF_A_GROUP.contains(&&*self.name) => "",
            _ if makes && by_itself && self.of_kind("comm").is_some() => "makes",
            Some("allocate-shared") => "makes",
            Some("by") => "",
            _ => &self.role,
        }
    }
}

/// A constant for each procedure, by which notes name it, and the table that pages hold: a line for
/// each, its name and its role.
pub(crate) fn procedures(procedures: &[Procedure]) -> String {
    let (mut constants, mut table) = (String::new(), String::new());
    for (number, procedure) in procedures.iter().enumerate() {
        let name = &procedure.name;
        let role = procedure.role_in_pages();
        let poll = is_poll(name);
        let kind = role.split(' ').next().unwrap_or_default();
        let collective = ["collective", "neighbourhood", "makes"].contains(&kind);
        let uncut = procedure.is_uncut();
        // Those that make a communicator are shown as the collectives that they are.
        let starts = procedure.of_kind("request*").is_some() && kind != "makes";
        constants += &format!(
            "pub const {name}: Procedure = Procedure {{ number: {number}, poll: {poll}, \
             collective: {collective}, uncut: {uncut}, starts: {starts} }};\n"
        );
        table += &format!("{name} {role}\n");
    }
    format!("{constants}pub const TABLE: &str = {table:?};\n")
}
