//! Modules import downwards only, in the order that each crate's documentation gives.

use std::path::Path;

use treepie_tests::floors::violations;

fn holds(krate: &str) {
    let src = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shim")
        .join(krate)
        .join("src");
    assert_eq!(violations(&src), Ok(Vec::new()));
}

#[test]
fn no_module_of_the_preloaded_library_imports_one_above_it() {
    holds("preload");
}
