//! Topologies of every source, in the tree that Treepie uses for placement.
#![allow(clippy::unwrap_used)] // a test may panic

use std::path::PathBuf;
use std::process::Command;

use treepie_base::Leaf;
use treepie_hwloc::{HwlocError, Machine, Source};
use treepie_topology::LocalDevice;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

fn from_xml(name: &str) -> Machine {
    Source::Xml(fixture(name)).read().unwrap()
}

fn from_synthetic(description: &str) -> Machine {
    Source::Synthetic(description.to_owned()).read().unwrap()
}

fn level_names(machine: &Machine) -> Vec<&str> {
    let levels = machine.topology().levels().iter();
    levels.map(|level| level.name.as_str()).collect()
}

fn physical_numbers(machine: &Machine) -> Vec<usize> {
    let leaves = machine.topology().leaves().iter();
    leaves.map(|leaf| leaf.os_index.unwrap()).collect()
}

#[test]
fn synthetic_shapes_keep_the_levels_that_bring_structure() {
    for (description, names, arities) in [
        ("pack:2 core:4 pu:1", &["socket", "core"][..], &[2, 4][..]),
        ("pack:2 core:4 pu:2", &["socket", "core"], &[2, 4]),
        ("pack:1 core:6 pu:1", &["core"], &[6]),
        ("pack:1 core:1 pu:1", &["core"], &[1]),
        ("pack:2 l3:1 l2:4 core:1 pu:1", &["socket", "core"], &[2, 4]),
        (
            "pack:2 l3:4 l2:2 l1:1 core:1 pu:2",
            &["socket", "l3", "core"],
            &[2, 4, 2],
        ),
        (
            "pack:2 l3:2 l2:3 core:2 pu:1",
            &["socket", "l3", "l2", "core"],
            &[2, 2, 3, 2],
        ),
        (
            "pack:2 die:2 core:3 pu:1",
            &["socket", "die", "core"],
            &[2, 2, 3],
        ),
        (
            "group:2 pack:2 core:3 pu:1",
            &["group", "socket", "core"],
            &[2, 2, 3],
        ),
        ("pack:1 l3:4 core:2 pu:1", &["l3", "core"], &[4, 2]),
        ("pack:2 pu:4", &["socket", "pu"], &[2, 4]),
    ] {
        let machine = from_synthetic(description);
        assert_eq!(level_names(&machine), names, "{description}");
        assert_eq!(
            machine.topology().arities().unwrap(),
            arities,
            "{description}"
        );
    }
}

#[test]
fn memory_next_to_a_socket_or_a_cache_changes_nothing_in_the_tree() {
    let plain = from_synthetic("pack:2 l3:2 core:4 pu:1");
    for with_memory in [
        "[numa] pack:2 l3:2 core:4 pu:1",
        "pack:2 [numa] l3:2 core:4 pu:1",
        "pack:2 l3:2 [numa] core:4 pu:1",
        "pack:2 [numa] [numa(memory=1GB)] l3:2 core:4 pu:1",
    ] {
        let machine = from_synthetic(with_memory);
        assert_eq!(machine.topology(), plain.topology(), "{with_memory}");
    }
}

#[test]
fn groups_of_cores_around_memory_are_a_numa_level() {
    let machine = from_synthetic("pack:2 numa:2 l3:2 core:4 pu:1");
    assert_eq!(level_names(&machine), ["socket", "numa", "l3", "core"]);
    assert_eq!(machine.topology().arities(), Some(vec![2, 2, 2, 4]));
}

#[test]
fn nested_groups_have_different_names() {
    let machine = from_synthetic("group:2 group:2 pack:2 core:2 pu:1");
    assert_eq!(
        level_names(&machine),
        ["group", "group-2", "socket", "core"]
    );
}

/// Kind, name and leaves of the devices of a fixture.
fn devices(name: &str) -> Vec<(String, String, std::ops::Range<usize>)> {
    let machine = Source::Xml(fixture(name)).read_with_devices().unwrap();
    let plain = from_xml(name);
    assert_eq!(machine.topology().arities(), plain.topology().arities());
    assert_eq!(machine.processing_units(), plain.processing_units());
    let of = |local: &LocalDevice| {
        let device = &local.device;
        let leaves = local.leaves.start.0..local.leaves.end.0;
        (device.kind.to_string(), device.name.clone(), leaves)
    };
    machine.devices().iter().map(of).collect()
}

#[test]
fn cards_are_next_to_the_cores_of_their_bus_once_and_without_those_that_no_rank_uses() {
    // Left out: the service processor's display, a disk, a card without a link, a second name.
    let device = |kind: &str, name: &str, leaves| (kind.to_owned(), name.to_owned(), leaves);
    let expected = [
        device("ethernet", "eno1", 0..4),
        device("ethernet", "eno2", 0..4),
        device("fabric", "mlx5_0", 4..8),
        device("gpu", "pci-0000:82:00.0", 4..8),
    ];
    assert_eq!(devices("node-with-devices.xml"), expected);
}

#[test]
fn accelerators_and_interfaces_have_the_order_of_the_buses_and_not_of_the_domains() {
    let found = devices("node-of-four-domains.xml");
    let of = |kind: &str| -> Vec<(&str, usize)> {
        let of_kind = found.iter().filter(|(of, _, _)| of == kind);
        of_kind
            .map(|(_, name, next_to)| (&**name, next_to.start / 2))
            .collect()
    };
    assert_eq!(
        of("gpu"),
        [("rsmi2", 0), ("rsmi1", 1), ("rsmi3", 2), ("rsmi0", 3)]
    );
    assert_eq!(
        of("fabric"),
        [("hsn2", 0), ("hsn1", 1), ("hsn3", 2), ("hsn0", 3)]
    );
}

#[test]
fn a_machine_without_buses_has_no_devices() {
    assert_eq!(devices("x5550.xml"), []);
    let synthetic = Source::Synthetic("pack:2 core:2 pu:1".to_owned());
    assert_eq!(synthetic.read_with_devices().unwrap().devices(), []);
}

#[test]
fn hardware_threads_belong_to_their_core_and_are_no_leaves() {
    let machine = from_xml("x5550-smt.xml");
    assert_eq!(machine.topology().leaf_count(), 8);
    assert_eq!(machine.processing_units()[Leaf(3)], [3, 11]);
    for core in 0..8 {
        assert_eq!(machine.leaf_of_pu(core), Some(Leaf(core)));
        assert_eq!(machine.leaf_of_pu(core + 8), Some(Leaf(core)));
    }
    assert_eq!(machine.leaf_of_pu(16), None);
    // Thesis table 1.1: the numbers of this processor in depth-first order.
    let order: Vec<usize> = machine.processing_units().raw.concat();
    assert_eq!(
        order,
        [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]
    );
}

#[test]
fn the_interleaved_numbers_of_the_x5550_are_recovered_from_xml_of_hwloc_1_and_2() {
    for name in ["x5550.xml", "x5550-hwloc1.xml"] {
        let machine = from_xml(name);
        // Thesis table 1.1 (numbering order "socket, core") and figure 2.2.
        assert_eq!(
            physical_numbers(&machine),
            [0, 2, 4, 6, 1, 3, 5, 7],
            "{name}"
        );
        assert_eq!(level_names(&machine), ["socket", "core"], "{name}");
        assert_eq!(machine.topology().arities(), Some(vec![2, 4]), "{name}");
        assert_eq!(machine.leaf_of_pu(1), Some(Leaf(4)), "{name}");
        assert_eq!(machine.host(), Some("mygale-inria"), "{name}");
        assert_eq!(
            machine.topology().leaf(Leaf(7)).host.as_deref(),
            machine.host()
        );
    }
}

#[test]
fn sockets_with_different_numbers_of_cores_and_threads_are_read_as_they_are() {
    let machine = from_xml("uneven-smt.xml");
    assert_eq!(machine.topology().arities(), None);
    let expected = [vec![0, 1], vec![2, 3], vec![4, 5], vec![6], vec![8, 9]];
    assert_eq!(machine.processing_units().raw, expected);
    assert_eq!(machine.topology().common_level(Leaf(0), Leaf(2)), 1);
    assert_eq!(machine.topology().common_level(Leaf(2), Leaf(3)), 0);
    assert_eq!(machine.leaf_of_pu(7), None);
}

#[test]
fn big_cores_with_caches_of_their_own_stand_beside_small_ones_that_share() {
    let machine = from_xml("hybrid.xml");
    let topology = machine.topology();
    assert_eq!(level_names(&machine), ["l2", "core"]);
    assert_eq!(topology.leaf_count(), 7);
    assert_eq!(topology.common_level(Leaf(0), Leaf(1)), 0);
    assert_eq!(topology.common_level(Leaf(3), Leaf(6)), 1);
}

#[test]
fn cores_that_share_no_cache_do_not_meet_below_their_socket() {
    let machine = from_xml("one-shared-cache.xml");
    let topology = machine.topology();
    assert_eq!(level_names(&machine), ["socket", "l3", "core"]);
    assert_eq!(
        topology.common_level(Leaf(0), Leaf(1)),
        2,
        "one third-level cache"
    );
    assert_eq!(
        topology.common_level(Leaf(2), Leaf(3)),
        1,
        "the same socket, no cache"
    );
    assert_eq!(
        topology.common_level(Leaf(4), Leaf(7)),
        1,
        "the other socket has no cache"
    );
    assert_eq!(topology.common_level(Leaf(0), Leaf(4)), 0);
}

#[test]
fn processing_units_that_the_cpuset_forbids_are_not_there() {
    let machine = from_xml("half-allowed.xml");
    assert_eq!(physical_numbers(&machine), [2, 3, 4, 5]);
    assert_eq!(machine.topology().arities(), Some(vec![2, 2]));
    assert_eq!(machine.leaf_of_pu(0), None);
}

#[test]
fn this_machine_has_as_many_cores_and_threads_as_hwloc_calc_says() {
    let count = |kind: &str| -> usize {
        let arguments = ["--number-of", kind, "all"];
        let output = Command::new("hwloc-calc").args(arguments).output();
        let output =
            output.expect("hwloc-calc: install hwloc's tools (package hwloc or hwloc-nox)");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    };
    let machine = Source::ThisMachine.read().unwrap();
    assert_eq!(machine.topology().leaf_count(), count("core"));
    assert_eq!(machine.processing_units().raw.concat().len(), count("pu"));
}

#[test]
fn this_machine_has_the_processing_units_that_hwloc2_itself_lists() {
    let topology = hwloc2::Topology::new().unwrap();
    let units = topology.objects_with_type(&hwloc2::ObjectType::PU).unwrap();
    let machine = Source::ThisMachine.read().unwrap();
    let theirs: Vec<usize> = units.iter().map(|unit| unit.os_index() as usize).collect();
    assert_eq!(machine.processing_units().raw.concat(), theirs);
}

#[test]
fn a_missing_file_is_named_with_what_to_do() {
    let error = Source::Xml(fixture("no-such.xml")).read().unwrap_err();
    assert!(matches!(error, HwlocError::Unreadable { .. }));
    let message = error.to_string();
    assert!(
        message.contains("no-such.xml") && message.contains("lstopo"),
        "{message}"
    );
    assert!(!message.contains('\n'));
}

#[test]
fn files_that_are_no_hwloc_xml_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read_to_string(fixture("x5550.xml")).unwrap();
    let path = folder.path().join("machine.xml");
    for (text, part) in [
        ("", "empty"),
        ("pack:2 core:4", "at 1:1"),
        ("<svg></svg>", "its element is <svg>"),
        (&whole[..whole.len() / 2], "not an hwloc XML file"),
        (&format!("<!-- \0 -->{whole}"), "not an hwloc XML file"),
        ("<topology \0", "not an hwloc XML file"),
        (&whole.replace("</object>", ""), "at 68:1"),
        (
            "<topology version=\"2.0\"><object/></topology>",
            "hwloc refuses",
        ),
        ("<topology version=\"2.0\"></topology>", "hwloc refuses"),
        (
            &whole.replace("version=\"2.0\"", "version=\"3.0\""),
            "hwloc refuses",
        ),
        (
            &whole.replace("PU\" os_index=\"2", "PU\" os_index=\"x"),
            "processing unit 0 belongs",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let message = Source::Xml(path.clone()).read().unwrap_err().to_string();
        assert!(message.contains(part), "expected {part:?} in {message:?}");
        assert!(message.contains("machine.xml"), "{message:?}");
        assert!(!message.contains(char::is_control), "{message:?}");
    }
}

#[test]
fn an_object_without_a_complete_set_is_refused_before_hwloc_writes_into_that() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read_to_string(fixture("x5550.xml")).unwrap();
    let path = folder.path().join("machine.xml");
    for set in ["cpuset", "nodeset"] {
        std::fs::write(
            &path,
            whole.replacen(&format!("complete_{set}"), "other", 1),
        )
        .unwrap();
        let message = Source::Xml(path.clone()).read().unwrap_err().to_string();
        let expected = format!("the object in line 4 has {set}, not complete_{set}");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn wrong_synthetic_descriptions_are_refused_with_an_example() {
    for description in [
        "",
        "  ",
        "nonsense",
        "pack:0 core:4",
        "pack:2 core:4 pu",
        "pu:2 core:4",
        "a\0b",
    ] {
        let error = Source::Synthetic(description.to_owned())
            .read()
            .unwrap_err();
        assert!(
            matches!(error, HwlocError::BadSynthetic { .. }),
            "{description:?}"
        );
        assert!(error.to_string().contains("pack:2 core:4 pu:2"), "{error}");
    }
}

#[test]
fn a_synthetic_description_beyond_all_memory_is_refused_at_once() {
    let huge = Source::Synthetic("pack:65536 core:65536 pu:65536".to_owned());
    let message = huge.read().unwrap_err().to_string();
    assert!(message.contains("more than"), "{message}");
}

/// hwloc's libxml plugin is only quiet in the first thread that uses it.
#[test]
fn nothing_is_printed_about_a_wrong_file_in_any_thread() {
    const CHILD: &str = "TREEPIE_HWLOC_TEST_CHILD";
    if let Some(folder) = std::env::var_os(CHILD) {
        from_xml("x5550.xml");
        std::thread::spawn(move || {
            for entry in std::fs::read_dir(folder).unwrap() {
                assert!(Source::Xml(entry.unwrap().path()).read().is_err());
            }
            let nonsense = Source::Synthetic("nonsense".to_owned());
            assert!(nonsense.read().is_err());
        })
        .join()
        .unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read_to_string(fixture("x5550.xml")).unwrap();
    let wrong = [
        whole.replace("</object>", ""),
        whole.replace("version=\"2.0\"", "version=\"3.0\""),
        whole.replace("L3Cache", "Nonsense"),
        whole.replace("os_index=\"2\"", "os_index=\"0\""),
        whole.replace(" cpuset=\"0x", " cpuset=\"zz"),
    ];
    for (number, text) in wrong.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number}.xml")), text).unwrap();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "nothing_is_printed_about_a_wrong_file_in_any_thread",
        ])
        .arg("--nocapture")
        .env(CHILD, folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
