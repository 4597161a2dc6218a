//! Data of entry points: for each procedure its names, its signature, its role, and the meaning of
//! its arguments.

use crate::table::{Action, Parameter, Procedure};

/// Form in which the value of a column appears in `Properties`; `{}` is the value.
const FACTS: [(&str, &str); 6] = [
    ("operation", "Operation::{}"),
    ("access", "WindowCall::{}"),
    ("epoch", "EpochKind::{}"),
    ("open", "Some(CallKind::{})"),
    ("waits", "Waits::{}"),
    ("rma", "Rma::{}"),
];

/// Generates one `procedure!` for each, which `src/entry/procedure.rs` expands to functions.
pub(crate) fn generate(procedures: &[Procedure]) -> String {
    procedures.iter().map(entry_points).collect()
}

/// Returns the entry points of one procedure.
fn entry_points(procedure: &Procedure) -> String {
    let kind = if procedure.optional {
        "optional"
    } else {
        "common"
    };
    let parameters = procedure.parameters.iter();
    let declared = parameters.map(|one| format!("{}: {}", one.name, procedure.type_of(one)));
    let declared: Vec<String> = declared.collect();
    let action = match &procedure.columns.action {
        Action::By(path) => format!("by {path}"),
        Action::Role(role) => format!(
            "{} {} {{ {} }}\n    call {{ {} }}\n    next |changes| ({})",
            role.name,
            procedure.name,
            procedure.facts(),
            procedure.filled(),
            procedure.passed()
        ),
    };
    format!(
        "procedure! {{\n    {kind} [{}] ({})\n    {action}\n}}\n",
        procedure.symbols().join(" "),
        declared.join(", "),
    )
}

impl Procedure {
    /// Returns fields of its `Properties`.
    fn facts(&self) -> String {
        let facts = FACTS.iter().filter_map(|(column, form)| {
            let value = self.columns.fact(column)?;
            Some(format!("{column}: {}", form.replace("{}", value)))
        });
        facts.collect::<Vec<_>>().join(", ")
    }

    /// Returns the type of a parameter. Procedures with a separate function get numbers as words.
    fn type_of(&self, parameter: &Parameter) -> &'static str {
        match &*parameter.kind {
            "comm" => "AppComm",
            "errhandler" => "Errhandler",
            _ if matches!(self.columns.action, Action::By(_)) => "Word",
            "datatype" => "Datatype",
            "group" => "Group",
            "op" => "Op",
            "window" => "Win",
            "status*" | "status[]" => "StatusAddress",
            "count[]" | "displacement[]" if self.large => "LargeArray",
            // Always MPI_Aint.
            "word[]" if parameter.name.ends_with("displs") => "LargeArray",
            "count[]" | "displacement[]" => "IntArray",
            "datatype[]" => "DatatypeArray",
            "count" if self.large => "i64",
            "count64" => "i64",
            "count" | "rank" | "partitions" => "c_int",
            _ => "Word",
        }
    }
}
