//! Generates the numbers of all procedures, by which pages name them.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    let text = treepie_interface::page_procedures();
    fs::write(Path::new(&out).join("procedures.rs"), text).expect("OUT_DIR is writable");
}
