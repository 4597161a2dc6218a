//! Makes the entry points, `MPI_X` and `PMPI_X`, from `interface.table` (facts
//! of the MPI standard), `extensions.table` (what is beside it) and `roles.table`
//! (what Treepie does with them).
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

struct Parameter {
    kind: String,
    name: String,
}

struct Procedure {
    name: String,
    large: bool,
    /// Not every MPI has it: the entry point must be able to be absent.
    rare: bool,
    parameters: Vec<Parameter>,
    role: String,
}

fn main() {
    link_unwinder();
    let tables = ["roles", "interface", "extensions"].map(|table| {
        let file = format!("src/api/{table}.table");
        println!("cargo::rerun-if-changed={file}");
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"))
    });
    let [roles, interface, extensions] = tables;
    let roles = read_roles(&roles);
    let procedures = read_procedures(&(interface + &extensions), &roles);
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    let path = Path::new(&out).join("entry_points.rs");
    fs::write(path, generate(&procedures)).expect("OUT_DIR is writable");
}

/// Links the compiler's unwinder into the library where there is one to link: the
/// shared one would be loaded into every process that inherits the variable, and
/// takes longer than all the rest of the library.
fn link_unwinder() {
    println!("cargo::rerun-if-env-changed=CC");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let found = Command::new(compiler)
        .arg("-print-file-name=libgcc_eh.a")
        .output();
    let Ok(output) = found else { return };
    let file = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // A compiler that has none says the bare name.
    if let Some(folder) = Path::new(&file).parent().filter(|f| f.is_absolute()) {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static=gcc_eh");
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn read_roles(text: &str) -> BTreeMap<String, String> {
    let mut roles = BTreeMap::new();
    for line in lines(text) {
        let (role, names) = line
            .split_once(": ")
            .unwrap_or_else(|| panic!("roles.table: no `role: procedures` in {line:?}"));
        for name in names.split_whitespace() {
            if roles.insert(name.to_owned(), role.to_owned()).is_some() {
                panic!("roles.table: {name} has two roles");
            }
        }
    }
    roles
}

fn read_procedures(text: &str, roles: &BTreeMap<String, String>) -> Vec<Procedure> {
    let mut procedures = Vec::new();
    for line in lines(text) {
        let mut words = line.split_whitespace();
        let name = words.next().expect("lines() drops empty lines");
        let (mut rare, mut twin) = (false, None);
        let mut parameters = Vec::new();
        for word in words {
            match (word, word.split_once(':')) {
                (_, Some((kind, name))) => parameters.push((kind, name)),
                ("?", None) => rare = true,
                ("+c", None) => twin = Some(false),
                ("+c?", None) => twin = Some(true),
                _ => panic!("{word:?} in {line:?}"),
            }
        }
        for (large, rare) in [(false, Some(rare)), (true, twin)] {
            let Some(rare) = rare else { continue };
            procedures.push(Procedure {
                name: format!("{name}{}", if large { "_c" } else { "" }),
                large,
                rare,
                parameters: parameters
                    .iter()
                    .map(|&(kind, name)| Parameter {
                        kind: kind.to_owned(),
                        name: name.to_owned(),
                    })
                    .collect(),
                role: roles.get(name).cloned().unwrap_or_default(),
            });
        }
    }
    for name in roles.keys() {
        if !procedures.iter().any(|procedure| procedure.name == *name) {
            panic!("roles.table: {name} is in no other table");
        }
    }
    procedures
}

impl Procedure {
    /// What stands before the names that the procedure has.
    fn prefixes(&self) -> &'static [&'static str] {
        match self.name.split_once('_') {
            Some(("MPI" | "MPIX", _)) => &["", "P"],
            _ => &[""],
        }
    }

    fn find(&self, names: &[&str]) -> Option<&Parameter> {
        names
            .iter()
            .find_map(|name| self.parameters.iter().find(|p| p.name == *name))
    }

    fn of_kind(&self, kind: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|p| p.kind == kind)
    }

    /// A count as `i64`: C passes `int` or `MPI_Count`, and what stands above an
    /// `int` in its register means nothing.
    fn count(&self, names: &[&str]) -> String {
        match self.find(names) {
            Some(p) if self.large || p.kind == "count64" => format!("{} as i64", p.name),
            Some(p) => format!("i64::from({} as i32)", p.name),
            None => "1".to_owned(),
        }
    }

    fn word(&self, names: &[&str]) -> String {
        self.find(names).map_or("0".to_owned(), |p| p.name.clone())
    }

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

    /// Whether this is a collective that is complete when it returns: one that
    /// plans can take the place of.
    fn blocks(&self) -> bool {
        let starts = |prefix| self.name.starts_with(prefix);
        starts("MPI_") && !starts("MPI_I") && self.find(&["request"]).is_none()
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
    fn body(&self, forward: &str) -> String {
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

fn generate(procedures: &[Procedure]) -> String {
    let mut code = String::new();
    // Both names of a procedure: the one without the P starts a byte later.
    let names: String = procedures
        .iter()
        .map(|procedure| format!("P{}\\0", procedure.name))
        .collect();
    let _ = writeln!(
        code,
        "/// The names of all entry points, each ended by NUL.\n\
         pub static NAMES: [u8; {}] = *b\"{names}\";",
        procedures.iter().map(|p| p.name.len() + 2).sum::<usize>(),
    );
    for (prefix, start) in [("", 1), ("P", 0)] {
        let mut at = start;
        let _ = writeln!(
            code,
            "static NEXT_{prefix}MPI: [Next; {}] = [",
            procedures.len()
        );
        for procedure in procedures {
            let _ = writeln!(code, "    Next::new({at}), // {prefix}{}", procedure.name);
            at += procedure.name.len() + 2;
        }
        code.push_str("];\n");
    }
    for (index, procedure) in procedures.iter().enumerate() {
        generate_procedure(&mut code, index, procedure);
    }
    code
}

fn generate_procedure(code: &mut String, index: usize, procedure: &Procedure) {
    let name = &procedure.name;
    let names: Vec<&str> = procedure.parameters.iter().map(|p| &*p.name).collect();
    let arguments = names.join(", ");
    let declared = names
        .iter()
        .map(|n| format!("{n}: Word"))
        .collect::<Vec<_>>()
        .join(", ");
    let types = vec!["Word"; names.len()].join(", ");
    let pointer = format!("unsafe extern \"C\" fn({types}) -> c_int");
    let mut body = String::new();
    match procedure.role.strip_prefix("by ") {
        Some(function) => {
            let _ = writeln!(body, "        crate::{function}(next, {arguments})");
        }
        None => {
            for parameter in &procedure.parameters {
                if parameter.kind == "comm" {
                    let _ = writeln!(
                        body,
                        "        let {0} = world::substitute({0});",
                        parameter.name
                    );
                }
            }
            let _ = writeln!(
                body,
                "        {}",
                procedure.body(&format!("next({arguments})"))
            );
        }
    }
    let _ = write!(
        code,
        "#[inline(always)]\nunsafe fn around_{name}(next: &'static Next, {declared}) -> c_int {{\n    \
         let Some(next) = next.get() else {{ return missing(next) }};\n    \
         // SAFETY: `next` is the address of the procedure of this name, which has these parameters;\n    \
         // they are the caller's own, or the communicator that stands for its world.\n    \
         unsafe {{\n        let next = std::mem::transmute::<*mut c_void, {pointer}>(next);\n{body}    }}\n}}\n"
    );
    for prefix in procedure.prefixes() {
        let full = format!("{prefix}{name}");
        let (attributes, entry) = match procedure.rare {
            true => ("", format!("entry_{prefix}{name}")),
            false => ("#[unsafe(no_mangle)]\n", full),
        };
        let _ = write!(
            code,
            "{attributes}unsafe extern \"C\" fn {entry}({declared}) -> c_int {{\n    \
             // SAFETY: the caller keeps the contract of {name}.\n    \
             unsafe {{ around_{name}(&NEXT_{prefix}MPI[{index}], {arguments}) }}\n}}\n"
        );
        if procedure.rare {
            let _ = writeln!(
                code,
                "rare_entry_point!({prefix}{name}, NEXT_{prefix}MPI, {index}, {entry});"
            );
        }
    }
}
