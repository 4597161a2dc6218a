//! What an entry point calls around the MPI's procedure: one typed function, by the procedure's
//! role, and the structs that describe the call to it.

use crate::table::Procedure;

/// A field of a struct that describes a call: the first parameter that a procedure has of these
/// names, with what makes the field of it behind.
pub(crate) type Field = (&'static str, &'static [&'static str], &'static str);

const MESSAGE: &[Field] = &[
    ("count", &["sendcount", "count"], " as i64"),
    ("partitions", &["partitions"], " as i64"),
    ("datatype", &["sendtype", "datatype"], ""),
    ("dest", &["dest"], ""),
    ("comm", &["comm"], ""),
];

const CALL: &[Field] = &[("op", &["op"], ""), ("root", &["root"], "")];

/// The sides of a collective. `displs` belongs to the side that has counts.
const SEND: &[Field] = &[
    ("buffer", &["sendbuf", "buffer"], ""),
    ("count", &["sendcount", "count"], " as i64"),
    ("datatype", &["sendtype", "datatype"], ""),
    ("datatypes", &["sendtypes"], ""),
    ("counts", &["sendcounts"], ".into()"),
    ("displacements", &["sdispls", "displs"], ".into()"),
];
const RECEIVE: &[Field] = &[
    ("buffer", &["recvbuf", "buffer"], ""),
    ("count", &["recvcount", "count"], " as i64"),
    ("datatype", &["recvtype", "datatype"], ""),
    ("datatypes", &["recvtypes"], ""),
    ("counts", &["recvcounts"], ".into()"),
    ("displacements", &["rdispls", "displs"], ".into()"),
];

const TRANSFER: &[Field] = &[
    ("origin_count", &["origin_count"], " as i64"),
    ("origin_type", &["origin_datatype", "datatype"], ""),
    ("result_count", &["result_count"], " as i64"),
    ("result_type", &["result_datatype", "datatype"], ""),
    ("target_type", &["target_datatype", "datatype"], ""),
    ("op", &["op"], ""),
    ("target", &["target_rank"], ""),
    ("window", &["win"], ""),
];

pub(crate) const COMPLETION: &[Field] = &[
    ("count", &["count", "incount"], " as c_int"),
    ("requests", &["request", "array_of_requests"], ""),
    ("flag", &["flag"], ""),
    ("index", &["index", "indx"], ""),
    ("completed", &["outcount"], ""),
    ("indices", &["array_of_indices"], ""),
    ("status", &["status", "array_of_statuses"], ""),
];

const TAKEN: &[Field] = &[("status", &["status"], ""), ("message", &["message"], "")];

impl Procedure {
    /// A struct that describes a call of this procedure. Fields that no parameter is for are
    /// those of the struct's `NONE`.
    pub(crate) fn literal(&self, name: &str, fields: &[Field], more: &str) -> String {
        let mut text = format!("{name} {{ {more}");
        for (field, names, behind) in fields {
            if let Some(parameter) = self.find(names) {
                text += &format!("{field}: {}{behind}, ", parameter.name);
            }
        }
        text + &format!("..{name}::NONE }}")
    }

    /// One side of a collective.
    fn side(&self, fields: &[Field], counts: &str) -> String {
        let has_displacements = self.find(&[counts]).is_some();
        let displacements = usize::from(!has_displacements);
        self.literal("Side", &fields[..fields.len() - displacements], "")
    }

    /// The arguments of a collective.
    fn collective(&self, operation: &str) -> String {
        let send = self.side(SEND, "sendcounts");
        let receive = self.side(RECEIVE, "recvcounts");
        let sides =
            format!("operation: Operation::{operation}, send: {send}, receive: {receive}, ");
        self.literal("Call", CALL, &sides)
    }

    /// The call of the next procedure of a collective, or of a plan in its place.
    fn replaced(&self) -> String {
        let next = format!("next({})", self.arguments_as_given());
        match (self.blocks(), self.role.contains("-init ")) {
            (true, _) => format!("collectives::run(|comm| {next}, comm, call, plan)"),
            (_, false) => format!("collectives::start(|| {next}, comm, call, request, plan)"),
            (_, true) => {
                format!("collectives::make_persistent(|| {next}, comm, call, request, plan)")
            }
        }
    }

    /// The call that does what the procedure's role says, around the next procedure of its name.
    pub(crate) fn body(&self) -> String {
        let note = self.note();
        let next = format!("{note}, || {}", self.ordered());
        let direct = format!("{note}, || next({})", self.arguments_as_given());
        let (role, detail) = self.role.split_once(' ').unwrap_or((&self.role, ""));
        let message = || self.literal("Message", MESSAGE, "");
        let transfer = || self.literal("Transfer", TRANSFER, "");
        let window = || {
            let window = self.of_kind("window").map(|window| &*window.name);
            window.unwrap_or_else(|| panic!("roles.table: {} has no window", self.name))
        };
        match role {
            "send" if self.has("request") => {
                format!("record::begin_send({next}, {}, request)", message())
            }
            "send" if self.has("source") => self.watched(
                format!("record::send_receive({direct}, {})", message()),
                format!(
                    "record::send_receive_watched({note}, |status| {}, {}, {})",
                    self.ordered(),
                    message(),
                    self.literal("Taken", TAKEN, "")
                ),
            ),
            "send" => format!("record::send({next}, {})", message()),
            "send-init" => format!("record::send_init({next}, {}, request)", message()),
            "start" => format!("record::start({next}, 1, request)"),
            "start-all" => format!("record::start({next}, count as c_int, array_of_requests)"),
            "receive" => self.watched(
                format!("record::receive({direct})"),
                format!(
                    "record::receive_watched({note}, |{}| {}, {})",
                    if self.has("status") { "status" } else { "_" },
                    self.ordered(),
                    self.literal("Taken", TAKEN, "")
                ),
            ),
            "receive-init" => format!("record::receive_init({next}, request)"),
            "complete" => self.watched(
                format!("record::complete({direct})"),
                format!(
                    "{{ let completion = {}; record::complete_watched({note}, completion, |status| {}) }}",
                    self.literal("Completion", COMPLETION, self.statuses()),
                    self.ordered(),
                ),
            ),
            "cancel" => format!("record::cancel({next}, request)"),
            "collective" if self.blocks() || self.has("request") => format!(
                "{{ let call = &{}; record::replaceable({note}, |plan| {}, comm, call) }}",
                self.collective(detail),
                self.replaced()
            ),
            "collective" => {
                format!(
                    "record::collective({next}, comm, &{})",
                    self.collective(detail)
                )
            }
            "collective-init" => format!(
                "{{ let call = &{}; record::collective_init({note}, |plan| {}, comm, call, request) }}",
                self.collective(detail),
                self.replaced()
            ),
            "neighbourhood" => format!(
                "{{ let call = &{}; record::neighbourhood({note}, |plan| {}, comm, call) }}",
                self.collective(detail),
                self.replaced()
            ),
            "neighbourhood-init" => format!(
                "{{ let call = &{}; record::neighbourhood_init({note}, |plan| {}, comm, call, request) }}",
                self.collective(detail),
                self.replaced()
            ),
            "transfer" => format!(
                "record::transfer(WindowCall::{detail}, {next}, {})",
                transfer()
            ),
            "fetch" => format!("record::fetch({next}, {})", transfer()),
            "open-epoch" => format!(
                "record::open_epoch(EpochKind::{detail}, {next}, {})",
                window()
            ),
            "within-epoch" => format!(
                "record::within_epoch(WindowCall::{detail}, {next}, {})",
                window()
            ),
            "end-epoch" => format!("record::end_epoch({next})"),
            "look" | "look-at" => format!("record::complete({next})"),
            "release" => {
                let handle = &self.parameters[0];
                format!(
                    "record::quietly(|| collectives::release::<{}>({}, || next({})))",
                    match &*handle.kind {
                        "op&" => "Op",
                        _ => "Datatype",
                    },
                    handle.name,
                    handle.name
                )
            }
            "finalize" => format!("record::finalize({next})"),
            "allocate-shared" => format!("record::allocate_shared({next}, comm, win)"),
            "end" => format!(
                "record::{}_end({next}, {})",
                detail.to_lowercase(),
                self.parameters[0].name
            ),
            "" => match (self.of_kind("comm*"), self.of_kind("window*")) {
                (Some(made), _) => format!(
                    "record::communicator_start({note}, || {}, {})",
                    self.preparing(self.ordered()),
                    made.name
                ),
                (_, Some(made)) => format!("record::window_start({next}, {})", made.name),
                _ => format!("record::call({next})"),
            },
            "by" => self.preparing(format!(
                "{detail}(next, {})",
                self.arguments_as_given()
            )),
            _ => panic!("roles.table: unknown role {:?} of {}", self.role, self.name),
        }
    }

    /// `watched` where messages and requests are watched, `plain` where they are only counted.
    fn watched(&self, plain: String, watched: String) -> String {
        format!(
            "if !features::any(features::WATCHING) {{ {plain} }} else {{ record::apart(move || {watched}) }}"
        )
    }

    /// Whether there is a status for each of several requests.
    fn statuses(&self) -> &'static str {
        match self.of_kind("status[]") {
            Some(_) => "array: true, ",
            None => "",
        }
    }
}
