//! The entry points: for each procedure its signature, its names, and what is done around it.

use crate::table::{Parameter, Procedure};

/// One `procedure!` for each, which `src/entry/procedure.rs` makes functions of.
pub(crate) fn generate(procedures: &[Procedure]) -> String {
    procedures.iter().map(entry_points).collect()
}

/// The entry points of one procedure.
pub(crate) fn entry_points(procedure: &Procedure) -> String {
    let kind = if procedure.optional {
        "optional"
    } else {
        "common"
    };
    let pass = if procedure.role.starts_with("by ") {
        "keep"
    } else {
        "pass"
    };
    let features = match procedure.role.split(' ').next() {
        Some("by") => "ALWAYS",
        Some("collective" | "neighbourhood") if procedure.blocks() => "COLLECTIVES",
        _ if procedure.concerns_started() => "REQUESTS",
        Some("transfer" | "fetch") => "TRANSFERS",
        _ if procedure.concerns_windows() => "WINDOWS",
        _ => "RECORD",
    };
    let prefixes = procedure.prefixes().iter();
    let names: Vec<String> = prefixes
        .map(|prefix| format!("{prefix}{}", procedure.name))
        .collect();
    let declared: Vec<String> = procedure
        .parameters
        .iter()
        .map(|parameter| format!("{}: {}", parameter.name, procedure.type_of(parameter)))
        .collect();
    format!(
        "procedure! {{ {kind} [{}] ({}) features::{features}, {pass} next =>\n    {}\n}}\n",
        names.join(" "),
        declared.join(", "),
        procedure.body()
    )
}

impl Procedure {
    /// The type of a parameter. What has a function of its own gets numbers as words.
    fn type_of(&self, parameter: &Parameter) -> &'static str {
        match &*parameter.kind {
            "comm" => "AppComm",
            "errhandler" => "Errhandler",
            _ if self.role.starts_with("by ") => "Word",
            "datatype" => "Datatype",
            "group" => "Group",
            "op" => "Op",
            "window" => "Win",
            "status*" | "status[]" => "StatusAddress",
            "count[]" | "displacement[]" if self.large => "LargeArray",
            // Always MPI_Aint.
            "word[]" if parameter.name.ends_with("displs") => "LargeArray",
            "count[]" | "displacement[]" => "IntArray",
            "count" if self.large => "i64",
            "count64" => "i64",
            "count" | "rank" | "partitions" => "c_int",
            _ => "Word",
        }
    }
}
