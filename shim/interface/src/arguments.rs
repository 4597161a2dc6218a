//! Fields of `Arguments` in `preload/src/entry/arguments.rs` that the parameters of a procedure map
//! to: by their kinds and names, which are those of the MPI standard.

use crate::table::{Parameter, Procedure};

/// Field, and the parameters that it can be: the first one of these kinds and names, or of any
/// name. Then the value of the field, where `{}` is the parameter.
type Field = (&'static str, &'static str, &'static str, &'static str);

/// Partners, and parameters that identify the call in statuses and requests.
const COMMON: &[Field] = &[
    (
        "comm",
        "comm",
        "comm comm_old local_comm intercomm peer_comm",
        "{}",
    ),
    ("dest", "rank", "dest root target_rank rank", "Some({})"),
    ("source", "rank", "source", "Some({})"),
    ("request", "request*", "request", "{}"),
    (
        "requests",
        "request request& request[]",
        "request array_of_requests",
        "{}",
    ),
    ("flag", "word*", "flag", "{}"),
    ("index", "word*", "index indx", "{}"),
    ("completed", "word*", "outcount", "{}"),
    ("indices", "word* word[]", "array_of_indices", "{}"),
    (
        "status",
        "status* status[]",
        "status array_of_statuses",
        "{}",
    ),
    ("message", "message* message&", "message", "{}"),
    (
        "elements",
        "count count64",
        "sendcount count origin_count",
        "{} as i64",
    ),
    ("op", "op", "op", "{}"),
    (
        "object",
        "comm* comm& window* window& datatype& op&",
        "",
        "{}",
    ),
];

/// Tags of a procedure that receives, and of one that does not.
const RECEIVING: &[Field] = &[
    ("tag", "tag", "sendtag", "{} as c_int"),
    ("receive_tag", "tag", "recvtag tag", "{} as c_int"),
];
const SENDING: &[Field] = &[("tag", "tag", "tag sendtag", "{} as c_int")];

/// Array of requests.
const REQUESTS: &[Field] = &[
    ("count", "word", "count incount", "{} as c_int"),
    ("has_statuses", "status[]", "", "true"),
];

/// Both sides of a message or a collective.
const SIDES: &[Field] = &[
    ("partitions", "partitions", "partitions", "{} as i64"),
    ("send.buffer", "buffer", "sendbuf buffer buf", "{}"),
    (
        "send.count",
        "count count64",
        "sendcount count",
        "{} as i64",
    ),
    ("send.datatype", "datatype", "sendtype datatype", "{}"),
    ("send.datatypes", "datatype[]", "sendtypes", "{}"),
    ("send.counts", "count[]", "sendcounts", "{}.into()"),
    ("receive.buffer", "buffer", "recvbuf buffer buf", "{}"),
    (
        "receive.count",
        "count count64",
        "recvcount count",
        "{} as i64",
    ),
    ("receive.datatype", "datatype", "recvtype datatype", "{}"),
    ("receive.datatypes", "datatype[]", "recvtypes", "{}"),
    ("receive.counts", "count[]", "recvcounts", "{}.into()"),
];

/// `displs`, which belongs to the side that has counts.
const SENT_PLACES: &[Field] = &[(
    "send.displacements",
    "displacement[] word[]",
    "sdispls displs",
    "{}.into()",
)];
const RECEIVED_PLACES: &[Field] = &[(
    "receive.displacements",
    "displacement[] word[]",
    "rdispls displs",
    "{}.into()",
)];

/// Window, and the elements of a one-sided call.
const ONE_SIDED: &[Field] = &[
    ("window", "window", "win", "{}"),
    ("group", "group", "group", "{}"),
    ("assert", "word", "assert", "{} as c_int"),
    ("origin", "buffer", "origin_addr", "{}"),
    ("origin_count", "count", "origin_count", "{} as i64"),
    ("origin_type", "datatype", "origin_datatype datatype", "{}"),
    ("result_count", "count", "result_count", "{} as i64"),
    ("result_type", "datatype", "result_datatype datatype", "{}"),
    ("displacement", "word", "target_disp", "{} as i64"),
    ("target_count", "count", "target_count", "{} as i64"),
    ("target_type", "datatype", "target_datatype datatype", "{}"),
];

/// Window that is created.
const WINDOW: &[Field] = &[
    ("size", "word", "size", "{} as i64"),
    ("unit", "word", "disp_unit", "Some({} as c_int as i64)"),
];
const LARGE_WINDOW: &[Field] = &[
    ("size", "word", "size", "{} as i64"),
    ("unit", "word", "disp_unit", "Some({} as i64)"),
];

/// Fields that a role may change, and their names in `Changes`.
const CHANGES: &[(&str, &str)] = &[
    ("comm", "comm"),
    ("source", "source"),
    ("receive_tag", "tag"),
    ("count", "count"),
    ("requests", "requests"),
    ("status", "status"),
];

impl Procedure {
    /// Returns the fields that its parameters can be.
    fn fields(&self) -> Vec<&'static Field> {
        let has = |name: &str| self.parameters.iter().any(|one| one.name == name);
        let groups = [
            (true, COMMON),
            (has("source"), RECEIVING),
            (!has("source"), SENDING),
            (self.has_kind("request[]"), REQUESTS),
            (self.has_kind("window"), ONE_SIDED),
            (self.has_kind("window*") && !self.large, WINDOW),
            (self.has_kind("window*") && self.large, LARGE_WINDOW),
            (!self.has_kind("window") && !self.has_kind("window*"), SIDES),
            (has("sendcounts"), SENT_PLACES),
            (has("recvcounts"), RECEIVED_PLACES),
        ];
        let groups = groups.into_iter().filter(|(has_them, _)| *has_them);
        groups.flat_map(|(_, fields)| fields).collect()
    }

    /// Returns the parameter that is this field.
    fn parameter_of(&self, (_, kinds, names, _): &Field) -> Option<&Parameter> {
        let of_kind = |one: &&Parameter| kinds.split(' ').any(|kind| kind == one.kind);
        let fitting: Vec<&Parameter> = self.parameters.iter().filter(of_kind).collect();
        if names.is_empty() {
            return fitting.first().copied();
        }
        let mut names = names.split(' ');
        names.find_map(|name| fitting.iter().find(|one| one.name == name).copied())
    }

    /// Returns fields of `Arguments`, and their values.
    pub(crate) fn filled(&self) -> String {
        let fields = self.fields().into_iter().filter_map(|field| {
            let (path, .., value) = field;
            let value = value.replace("{}", &self.parameter_of(field)?.name);
            Some(format!("{path} = {value}"))
        });
        fields.collect::<Vec<_>>().join(", ")
    }

    /// Returns the arguments of the next procedure, some of which a role may change.
    pub(crate) fn passed(&self) -> String {
        let fields = self.fields();
        let arguments = self.parameters.iter().map(|parameter| {
            let of_parameter = fields
                .iter()
                .filter(|field| self.parameter_of(field) == Some(parameter));
            let mut changes =
                of_parameter.filter_map(|field| CHANGES.iter().find(|(path, _)| *path == field.0));
            match changes.next() {
                Some((_, name)) => format!("changes.{name}({})", parameter.name),
                None => parameter.name.clone(),
            }
        });
        arguments.collect::<Vec<_>>().join(", ")
    }
}
