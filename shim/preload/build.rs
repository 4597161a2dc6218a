//! Generates the entry points, `MPI_X` and `PMPI_X`, of all procedures.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    link_unwinder();
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    let text = treepie_interface::entry_points();
    fs::write(Path::new(&out).join("entry_points.rs"), text).expect("OUT_DIR is writable");
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
