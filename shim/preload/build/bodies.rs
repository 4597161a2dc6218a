//! What an entry point does around the call of the host's function: Rust, by the
//! procedure's role.

use crate::table::{Parameter, Procedure};

impl Procedure {
    /// The arguments of a collective that its traffic depends on.
    fn collective_arguments(&self) -> String {
        format!(
            "|| Arguments {{ large: {}, \
             send_buffer: {}, send_count: {}, send_type: {}, send_counts: {}, send_types: {}, \
             receive_count: {}, receive_type: {}, receive_counts: {}, root: {} }}",
            self.large,
            self.word(&["sendbuf"]),
            self.count(&["sendcount", "count"]),
            self.word(&["sendtype", "datatype"]),
            self.word(&["sendcounts"]),
            self.word(&["sendtypes"]),
            self.count(&["recvcount"]),
            self.word(&["recvtype", "recvtypes"]),
            self.word(&["recvcounts"]),
            self.find(&["root"])
                .map_or("0".to_owned(), |root| format!("{} as i32", root.name)),
        )
    }
    /// All arguments of a collective.
    fn collective_call(&self, operation: &str) -> String {
        let side = |buffer: &str, count: &str, datatypes: [&str; 2], counts: &str, own: &str| {
            format!(
                "Side {{ buffer: {}, count: {}, datatype: {}, counts: {}, displacements: {} }}",
                self.word(&[buffer, "buffer"]),
                self.count(&[count, "count"]),
                self.word(&[datatypes[0], datatypes[1], "datatype"]),
                self.word(&[counts]),
                // `displs` belongs to the side that has counts.
                match self.find(&[counts]) {
                    Some(_) => self.word(&[own, "displs"]),
                    None => "0".to_owned(),
                },
            )
        };
        format!(
            "|| Call {{ operation: Operation::{operation}, large: {}, send: {}, receive: {}, \
             op: {}, root: {} }}",
            self.large,
            side(
                "sendbuf",
                "sendcount",
                ["sendtype", "sendtypes"],
                "sendcounts",
                "sdispls"
            ),
            side(
                "recvbuf",
                "recvcount",
                ["recvtype", "recvtypes"],
                "recvcounts",
                "rdispls"
            ),
            self.word(&["op"]),
            self.find(&["root"])
                .map_or("0".to_owned(), |root| format!("{} as i32", root.name)),
        )
    }

    /// What a send procedure is told of a message.
    fn message(&self, comm: &str) -> String {
        format!(
            "Message {{ count: {}, partitions: {}, datatype: {}, dest: {} as i32, comm: {comm} }}",
            self.count(&["sendcount", "count"]),
            self.find(&["partitions"])
                .map_or("1".to_owned(), |p| format!("i64::from({} as i32)", p.name)),
            self.word(&["sendtype", "datatype"]),
            self.word(&["dest"]),
        )
    }

    /// What a one-sided procedure is told of an access.
    fn access(&self) -> String {
        let part = |kind: &str, count: &str, datatype: &str| match self.role.contains(kind) {
            true => format!(
                "({}, {})",
                self.count(&[count]),
                self.word(&[datatype, "datatype"])
            ),
            false => "(0, 0)".to_owned(),
        };
        // A get's own buffer is its origin; what is got with a put, its result.
        let (count, datatype) = match self.find(&["result_addr"]) {
            Some(_) => ("result_count", "result_datatype"),
            None => ("origin_count", "origin_datatype"),
        };
        format!(
            "Access {{ put: {}, got: {}, op: {}, target: target_rank as i32, window: win }}",
            part("put", "origin_count", "origin_datatype"),
            part("get", count, datatype),
            self.word(&["op"]),
        )
    }

    /// What is done around the call of the host's function, `forward`.
    pub fn body(&self, forward: &str) -> String {
        let comm = self.of_kind("comm").map_or("0", |p| p.name.as_str());
        let call = format!("|| {forward}");
        let (role, detail) = self.role.split_once(' ').unwrap_or((&self.role, ""));
        let arguments = || self.collective_arguments();
        match role {
            "send" => match self.find(&["request"]) {
                Some(request) => format!(
                    "record::begin_send({call}, {}, {})",
                    self.message(comm),
                    request.name
                ),
                None => {
                    let receives = self.find(&["source"]).is_some();
                    let class = if receives { "SendReceive" } else { "Send" };
                    let message = self.message(comm);
                    format!("record::send(CallClass::{class}, {call}, {message})")
                }
            },
            "receive" => format!("record::receive({call})"),
            "complete" => self.completion(),
            "cancel" => format!("record::cancel({call}, request)"),
            "allocate-shared" => format!("record::allocate_shared({call}, {comm}, win)"),
            "send-init" => format!("record::send_init({call}, {}, request)", self.message(comm)),
            "start" => format!("record::start({call}, 1, request)"),
            "start-all" => format!("record::start({call}, count as i32, array_of_requests)"),
            "collective" => {
                let call = match self.blocks() {
                    true => format!(
                        "|| collectives::run({call}, {comm}, {})",
                        self.collective_call(detail)
                    ),
                    false => call,
                };
                format!(
                    "record::collective(Operation::{detail}, {call}, {comm}, {})",
                    arguments()
                )
            }
            "collective-init" => format!(
                "record::collective_init(Operation::{detail}, {call}, {comm}, {}, request)",
                arguments()
            ),
            "neighbourhood" => format!("record::neighbourhood({call}, {comm}, {})", arguments()),
            "neighbourhood-init" => format!(
                "record::neighbourhood_init({call}, {comm}, {}, request)",
                arguments()
            ),
            "put" | "get" | "put-get" => format!("record::one_sided({call}, {})", self.access()),
            "end" => format!(
                "record::object_end({call}, Object::{detail}, {})",
                self.parameters[0].name
            ),
            "" => match (self.of_kind("comm*"), self.of_kind("window*")) {
                (Some(made), _) => self.object_start(&call, "Communicator", made),
                (_, Some(made)) => self.object_start(&call, "Window", made),
                _ => format!("record::quietly({call})"),
            },
            _ => panic!("roles.table: unknown role {:?} of {}", self.role, self.name),
        }
    }

    /// A call that completes requests: what it is told, and the call itself as a
    /// function of the address of its status.
    fn completion(&self) -> String {
        let status = self
            .find(&["status", "array_of_statuses"])
            .unwrap_or_else(|| panic!("{}: no status", self.name));
        format!(
            "record::complete(Completion {{ count: {}, requests: {}, flag: {}, index: {}, \
             completed: {}, indices: {}, status: {}, array: {} }}, |{}| next({}))",
            self.find(&["count", "incount"])
                .map_or("1".to_owned(), |p| format!("{} as i32", p.name)),
            self.word(&["request", "array_of_requests"]),
            self.word(&["flag"]),
            self.word(&["index", "indx"]),
            self.word(&["outcount"]),
            self.word(&["array_of_indices"]),
            status.name,
            status.kind.ends_with("[]"),
            status.name,
            self.parameters
                .iter()
                .map(|p| &*p.name)
                .collect::<Vec<_>>()
                .join(", "),
        )
    }

    fn object_start(&self, call: &str, object: &str, made: &Parameter) -> String {
        format!(
            "record::object_start({call}, Object::{object}, {})",
            made.name
        )
    }
}
