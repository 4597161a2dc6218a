//! The tables from which entry points are generated, compared with every MPI: its headers and its
//! exported symbols.

use std::collections::BTreeSet;
use treepie_tests::interface::{Parameter, Procedure, procedures};
use treepie_tests::{Mpi, artifacts, coverage, header, under_all_mpis};

/// Functions that take a communicator and are not hooked, with the reason.
const LEFT_TO_THE_MPI: [(&str, &str); 2] = [
    (
        "MPI_Comm_c2f",
        "only translates a handle: what goes in must come out",
    ),
    (
        "MPI_Comm_toint",
        "only translates a handle: what goes in must come out",
    ),
];

/// Prefixes that no name in the tables may have: programs look such names up to find out whether an
/// MPI is loaded and which, or they only translate handles.
const NEVER: [&str; 11] = [
    "MPI_Get_version",
    "MPI_Get_library_version",
    "MPI_Abi_",
    "MPI_T_",
    "MPI_Initialized",
    "MPI_Finalized",
    "MPI_Wtime",
    "MPI_Comm_c2f",
    "MPI_Comm_f2c",
    "MPI_Comm_toint",
    "MPI_Comm_fromint",
];

/// Symbols that the library defines and that are not procedures of MPI, with the reason.
const BESIDE_MPI: [(&str, &str); 3] = [
    (
        "_exit",
        "Open MPI ends a process so after an error that is fatal: what was counted is written first",
    ),
    (
        "dlsym",
        "programs that ask the MPI library itself for a procedure get the entry point that would call it; all else is the linker's",
    ),
    (
        "dlopen",
        "before anything is loaded, procedures that not every MPI has become such that programs find those of their MPI only",
    ),
];

/// Procedures that no test calls, with the reason.
const NOT_CALLED: [(&str, &str); 1] = [(
    "MPIX_Stream_comm_create_multiplex",
    "MPICH 5.0.2, which alone has it, ends in an assertion in it",
)];

#[test]
fn no_name_is_in_the_tables_twice() {
    let mut seen = BTreeSet::new();
    let procedures = procedures();
    assert!(procedures.len() > 300, "{} are few", procedures.len());
    for name in procedures.iter().flat_map(Procedure::symbols) {
        assert!(seen.insert(name.clone()), "{name} is there twice");
    }
}

/// PITFALLS: 5
#[test]
fn the_tables_leave_alone_what_tells_programs_that_an_mpi_is_loaded() {
    for procedure in procedures() {
        for start in NEVER {
            assert!(
                !procedure.name.starts_with(start),
                "{} is in a table",
                procedure.name
            );
        }
    }
}

#[test]
fn the_library_exports_the_names_of_the_tables_and_nothing_else() {
    let exported = header::exported(&artifacts::library());
    let mut named: BTreeSet<String> = procedures().iter().flat_map(Procedure::symbols).collect();
    named.extend(BESIDE_MPI.map(|(name, _)| name.to_owned()));
    let missing: Vec<_> = named.difference(&exported).collect();
    let others: Vec<_> = exported.difference(&named).collect();
    assert!(
        missing.is_empty() && others.is_empty(),
        "in the tables and not exported: {missing:?}; exported and not in the tables: {others:?}"
    );
}

#[test]
fn every_procedure_is_called_by_a_test() {
    let procedures = procedures();
    let not_called = coverage::not_called(&procedures).expect("the sources are readable");
    assert_eq!(not_called, NOT_CALLED.map(|(name, _)| name));
}

fn is_communicator(kind: &str) -> bool {
    kind == "MPI_Comm" || kind == "MPI_Comm *"
}

/// True if a parameter is a function to which a communicator will be passed.
fn is_callback_with_communicator(kind: &str) -> bool {
    let own = ["MPI_Comm_", "MPIX_Comm_"];
    (own.iter().any(|start| kind.starts_with(start)) && kind.contains("_function"))
        || [
            "MPI_Copy_function",
            "MPI_Delete_function",
            "MPI_Handler_function",
        ]
        .iter()
        .any(|name| kind.starts_with(name))
}

/// Every function that an MPI declares and exports, and that takes or returns a communicator, is an
/// entry point: otherwise a program would see two worlds.
fn every_function_with_a_communicator_is_in_the_tables(mpi: Mpi) {
    let exported = header::exported_by(mpi);
    let known: BTreeSet<String> = procedures().into_iter().map(|p| p.name).collect();
    let mut seen = 0;
    let mut forgotten = Vec::new();
    for (name, types) in header::declared(mpi) {
        let has_one = types
            .iter()
            .any(|kind| is_communicator(kind) || is_callback_with_communicator(kind));
        // Some headers declare functions that none of their libraries has.
        if !has_one || !exported.contains(&name) {
            continue;
        }
        seen += 1;
        let left = LEFT_TO_THE_MPI.iter().any(|(other, _)| *other == name);
        if left == known.contains(&name) {
            forgotten.push(name);
        }
    }
    assert!(seen > 100, "only {seen} functions were found under {mpi}");
    assert!(
        forgotten.is_empty(),
        "{mpi} has these functions with a communicator, which are in no table (or in one, and listed as left alone): {forgotten:?}"
    );
}

/// The tables' parameters are those of the headers: the same number and the same kinds.
fn the_parameters_in_the_tables_are_those_of_the_header(mpi: Mpi) {
    let declared = header::declared(mpi);
    let mut seen = 0;
    for procedure in procedures() {
        let Some(types) = declared.get(&procedure.name) else {
            continue;
        };
        seen += 1;
        // MPI_Pcontrol takes any number: the table has the number passed on.
        let variadic = types.last().is_some_and(|kind| kind == "...");
        if variadic {
            assert!(
                types.len() <= procedure.parameters.len(),
                "{}",
                procedure.name
            );
            continue;
        }
        assert_eq!(
            types.len(),
            procedure.parameters.len(),
            "parameters of {mpi}'s {}: {types:?}",
            procedure.name
        );
        for (parameter, kind) in procedure.parameters.iter().zip(types) {
            assert!(
                is_declared_as(parameter, kind, procedure.large),
                "{mpi}'s {} declares {} as {kind:?}, the table says {}",
                procedure.name,
                parameter.name,
                parameter.kind
            );
        }
    }
    assert!(seen > 100, "only {seen} functions were found under {mpi}");
}

/// True if a parameter of this kind may have this type in C.
fn is_declared_as(parameter: &Parameter, declared: &str, large: bool) -> bool {
    let plain = declared.strip_prefix("const ").unwrap_or(declared);
    let integer = match large {
        true => "MPI_Count",
        false => "int",
    };
    let handle = |kind: &str| {
        let (name, _) = HANDLES.iter().find(|(_, word)| *word == kind)?;
        Some(*name)
    };
    let (kind, shape) = match parameter.kind.find(['*', '&', '[']) {
        Some(at) => parameter.kind.split_at(at),
        None => (parameter.kind.as_str(), ""),
    };
    let points = plain.ends_with('*') || plain.ends_with(']');
    if let Some(name) = handle(kind) {
        // MPI_Cancel takes a request by its address and does not change it.
        let by_address = kind == "request" && plain == "MPI_Request *";
        return match shape {
            "" => plain == name || by_address,
            _ => points && plain.starts_with(name),
        };
    }
    match (kind, shape) {
        ("buffer", _) => plain.starts_with("void *"),
        ("count" | "partitions" | "rank" | "tag" | "keyval", "") => {
            plain == if kind == "count" { integer } else { "int" }
        }
        ("count64", "") => plain == "MPI_Count",
        ("count", _) => points && plain.starts_with(integer),
        ("rank" | "tag" | "keyval", _) => points && plain.starts_with("int"),
        ("string", _) => plain.starts_with("char"),
        ("function", _) => plain.contains("_function") || plain.contains("_fn"),
        ("address", _) => plain.starts_with("void *"),
        // Other types are not distinguished, but must not be communicators.
        _ => !is_communicator(plain),
    }
}

const HANDLES: [(&str, &str); 11] = [
    ("MPI_Comm", "comm"),
    ("MPI_Datatype", "datatype"),
    ("MPI_Request", "request"),
    ("MPI_Win", "window"),
    ("MPI_File", "file"),
    ("MPI_Group", "group"),
    ("MPI_Info", "info"),
    ("MPI_Op", "op"),
    ("MPI_Session", "session"),
    ("MPI_Errhandler", "errhandler"),
    ("MPI_Message", "message"),
];

/// Procedures that are not marked as optional are in every MPI; a missing mark would let a program
/// see a procedure that its MPI does not have.
fn what_is_not_marked_as_optional_is_in_every_mpi(mpi: Mpi) {
    let exported = header::exported_by(mpi);
    let missing: Vec<String> = procedures()
        .iter()
        .filter(|procedure| !procedure.optional)
        .flat_map(Procedure::symbols)
        .filter(|name| !exported.contains(name))
        .collect();
    assert!(missing.is_empty(), "{mpi} lacks {missing:?}: mark them `?`");
}

under_all_mpis!(
    every_function_with_a_communicator_is_in_the_tables,
    the_parameters_in_the_tables_are_those_of_the_header,
    what_is_not_marked_as_optional_is_in_every_mpi,
);

#[cfg(feature = "all-mpis")]
#[test]
fn open_mpis_standard_abi_has_what_is_in_the_tables() {
    every_function_with_a_communicator_is_in_the_tables(Mpi::OpenMpi6Abi);
    the_parameters_in_the_tables_are_those_of_the_header(Mpi::OpenMpi6Abi);
}

/// An unneeded mark only costs a look-up; yet a marked procedure must be missing in some MPI, and
/// exist in some other.
#[cfg(feature = "all-mpis")]
#[test]
fn what_is_marked_as_optional_is_in_some_mpis_and_not_in_all() {
    let all: Vec<_> = Mpi::ALL
        .iter()
        .chain(&Mpi::FURTHER)
        .map(|mpi| header::exported_by(*mpi))
        .collect();
    for procedure in procedures().iter().filter(|procedure| procedure.optional) {
        // Fortran's names are in separate libraries.
        if !procedure.name.starts_with("MPI") {
            continue;
        }
        let symbols = procedure.symbols();
        let has = |exported: &&BTreeSet<String>| symbols.iter().all(|name| exported.contains(name));
        let have = all.iter().filter(has).count();
        assert!(
            0 < have && have < all.len(),
            "{} is marked `?`, and {have} of {} MPIs have it",
            procedure.name,
            all.len()
        );
    }
}
