//! Generates the entry points, `MPI_X` and `PMPI_X`, of all procedures.

use std::path::Path;
use std::{env, fs};

fn main() {
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    let text = treepie_interface::entry_points();
    fs::write(Path::new(&out).join("entry_points.rs"), text).expect("OUT_DIR is writable");
}
