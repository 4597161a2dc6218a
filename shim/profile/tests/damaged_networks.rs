//! Networks in the formats of sites, damaged in many ways: each is read, or rejected in one line.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use proptest::prelude::*;
use treepie_topology::formats::from_text;

const SAMPLES: [&str; 11] = [
    "treepie: network\nversion: 1\nnetwork: {torus: [2, 2], wrap: [true, false]}\n\
     hosts: {a: [0, 0], b: [1, 1]}\n",
    "treepie: network\nversion: 1\nnetwork: {graph: [[s, t, 2, 10.5]]}\nhosts: {a: s, b: t}\n",
    "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=t0 Switches=s[0-1]\n\
     SwitchName=t1 Switches=s[0-1]\n",
    "BlockName=b1 Nodes=n[0-1]\nBlockName=b2 Nodes=n[2-3]\nBlockSizes=2,4\n",
    "TorusName=p Dims=2x2x2 Nodes=n[0-7]\nRingName=r Nodes=m[0-3]\n",
    "- topology: cube\n  torus3d: {toruses: [{name: p, dims: {x: 2, y: 2, z: 1}, nodes: \"n[0-3]\"}]}\n",
    "NodeName=a Topology=cube:pod:0:0:1\nNodeName=b Topology=cube:pod:1:1:0\n",
    "Switch\t36 \"S-1\"\t# \"leaf\" lid 3\n[1]\t\"H-1\"[1](b)\t# \"n1 mlx5_0\" lid 1 4xHDR\n\
     [2]\t\"H-2\"[1](c)\t# \"n2 mlx5_0\" lid 2 4xHDR\n\nCa\t1 \"H-1\"\t# \"n1 mlx5_0\"\n\
     [1](b)\t\"S-1\"[1]\t# lid 1 4xHDR\n\nCa\t1 \"H-2\"\t# \"n2 mlx5_0\"\n[1](c)\t\"S-1\"[2]\t# 4xHDR\n",
    "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\"><cluster id=\"c\" prefix=\"n\" \
     suffix=\"\" radical=\"0-7\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\" topology=\"DRAGONFLY\" \
     topo_parameters=\"2,1;2,1;2,1;1\"/></zone></platform>\n",
    "sub 3 0 1 5 torus2D 3 3\n",
    "torus:3x3\na 0 0\nb 2,2\n",
];

#[test]
fn whole_samples_are_read() {
    for sample in SAMPLES {
        let site = from_text(
            Path::new("n"),
            sample,
            sample.contains("Torus").then_some("p"),
        );
        assert!(site.is_ok_and(|site| site.nodes() > 0), "{sample}");
    }
}

#[test]
fn a_fabric_of_many_megabytes_is_read_or_refused_in_seconds() {
    let mut text = String::new();
    for switch in 0..60 {
        text += &format!("Switch\t36 \"S-{switch}\"\t# \"leaf{switch}\" lid 3\n");
        for port in 0..700 {
            let id = switch * 700 + port;
            text += &format!("[{port}]\t\"H-{id}\"[1](b)\t# \"n{id} mlx5_0\" lid 1 4xHDR\n");
        }
        text += &format!(
            "[999]\t\"S-{}\"[998]\t# \"leaf\" lid 1 4xHDR\n\n",
            (switch + 1) % 60
        );
    }
    for id in 0..60 * 700 {
        text += &format!("Ca\t1 \"H-{id}\"\t# \"n{id} mlx5_0\"\n");
        text += &format!("[1](b)\t\"S-{}\"[{}]\t# 4xHDR\n\n", id / 700, id % 700);
    }
    let site = from_text(Path::new("n"), &text, None).unwrap();
    assert_eq!((site.nodes(), site.network().positions()), (42_000, 60));
}

proptest! {
    #[test]
    fn damaged_networks_are_read_or_refused_in_one_line(
        which in 0..SAMPLES.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..6),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let mut text: Vec<char> = SAMPLES[which].chars().collect();
        for (place, letter) in damage {
            let place = place.index(text.len());
            text[place] = letter;
        }
        if cuts {
            text.truncate(cut.index(text.len()));
        }
        let text: String = text.into_iter().collect();
        match from_text(Path::new("n"), &text, None) {
            Ok(site) => prop_assert!(site.nodes() > 0),
            Err(error) => prop_assert!(!error.to_string().contains('\n'), "{}", error),
        }
    }

    #[test]
    fn numbers_out_of_all_bounds_are_refused_and_take_no_time(
        which in 0..SAMPLES.len(),
        at in any::<prop::sample::Index>(),
        number in prop::sample::select(vec!["0", "99999999", "18446744073709551616", "-1", "1e9"]),
    ) {
        let sample = SAMPLES[which];
        let digits: Vec<usize> = sample
            .char_indices()
            .filter(|(_, letter)| letter.is_ascii_digit())
            .map(|(place, _)| place)
            .collect();
        let place = digits[at.index(digits.len())];
        let text = format!("{}{number}{}", &sample[..place], &sample[place + 1..]);
        if let Err(error) = from_text(Path::new("n"), &text, None) {
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
        }
    }
}
