//! The oldest Rust that builds Treepie is the `rust-version` of the workspace. Clippy checks the
//! procedures of the standard library (`incompatible_msrv`, an error in scripts/test); these tests
//! check the rest: the statements of the linked packages, and the language.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;
use treepie_tests::artifacts;
use treepie_tests::sources::sources;

/// Installed packages.
const INSTALLED: [&str; 4] = [
    "treepie",
    "treepie-preload",
    "treepie-hwloc-companion",
    "treepie-measure",
];

/// The newest Rust in the packages of all of EasyBuild, Spack and Debian 12.
const NEWEST_ALLOWED: (u32, u32) = (1, 90);

fn version(text: &str) -> (u32, u32) {
    let mut numbers = text
        .split('.')
        .map(|number| number.parse().expect("a number"));
    let major = numbers.next().expect("a version");
    (major, numbers.next().unwrap_or(0))
}

/// Packages for this kind of machine and their dependencies, as listed by cargo.
fn metadata() -> Value {
    let output = Command::new("cargo")
        .args(["metadata", "--locked", "--format-version", "1"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(artifacts::repository())
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// The ids of everything compiled for installation, without packages that only tests need.
fn compiled(metadata: &Value) -> BTreeSet<&str> {
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])
        .map(|node| (text(&node["id"]), node))
        .collect();
    let is_installed = |package: &&Value| INSTALLED.contains(&text(&package["name"]));
    let mut open: Vec<&str> = list(&metadata["packages"])
        .filter(is_installed)
        .map(|package| text(&package["id"]))
        .collect();
    assert_eq!(open.len(), INSTALLED.len());
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        let needed = list(&nodes[id]["deps"]).filter(|needed| {
            list(&needed["dep_kinds"]).any(|kind| kind["kind"].as_str() != Some("dev"))
        });
        open.extend(needed.map(|needed| text(&needed["pkg"])));
    }
    found
}

#[test]
fn no_package_that_is_linked_in_asks_for_a_newer_rust() {
    let metadata = metadata();
    let compiled = compiled(&metadata);
    let packages = list(&metadata["packages"]);
    let packages: Vec<&Value> = packages
        .filter(|package| compiled.contains(text(&package["id"])))
        .collect();
    let own = packages
        .iter()
        .find(|package| text(&package["name"]) == "treepie")
        .map(|package| version(text(&package["rust_version"])))
        .expect("the command states its Rust");
    assert!(
        own <= NEWEST_ALLOWED,
        "{own:?}: sites have {NEWEST_ALLOWED:?}"
    );
    let newer: Vec<String> = packages
        .iter()
        .filter_map(|package| {
            let asked = package["rust_version"].as_str()?;
            let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
            (version(asked) > own).then(|| format!("{name} asks for Rust {asked}"))
        })
        .collect();
    assert_eq!(
        newer, [""; 0],
        "take older versions: cargo update -p NAME --precise VERSION"
    );
}

/// `if let` as a guard came with Rust 1.95, and no lint reports it.
#[test]
fn no_arm_of_a_match_has_a_guard_that_matches() {
    let shim = artifacts::repository().join("shim");
    let found: Vec<String> = sources(&shim)
        .expect("the sources can be read")
        .into_iter()
        .flat_map(|(path, text)| {
            let guards = text.lines().enumerate().filter(|(_, line)| {
                let code = line.split("//").next().unwrap_or_default();
                let (before, guard) = code.split_once(" if let ").unwrap_or_default();
                let is_else = before.trim_end().ends_with("else") || before.trim().is_empty();
                !is_else && guard.contains("=>") && !before.contains("=>") && !before.contains('"')
            });
            let place = |(number, _)| format!("shim/{path}:{}", number + 1);
            guards.map(place).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(found, [""; 0]);
}
