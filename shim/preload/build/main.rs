//! Makes the entry points, `MPI_X` and `PMPI_X`, from `interface.table` (facts
//! of the MPI standard), `extensions.table` (what is beside it) and `roles.table`
//! (what Treepie does with them); and the numbers of all procedures in pages.
mod calls;
mod entry_points;
mod notes;
mod order;
mod started;
mod table;
mod windows;

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    link_unwinder();
    let tables = ["roles", "interface", "extensions"].map(|table| {
        let file = format!("src/entry/{table}.table");
        println!("cargo::rerun-if-changed={file}");
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"))
    });
    let [roles, interface, extensions] = tables;
    let roles = table::read_roles(&roles);
    let procedures = table::read_procedures(&(interface + &extensions), &roles);
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    let write = |name: &str, text: String| {
        fs::write(Path::new(&out).join(name), text).expect("OUT_DIR is writable");
    };
    write("entry_points.rs", entry_points::generate(&procedures));
    write("procedures.rs", notes::procedures(&procedures));
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
