//! The networks of the suite, the guests placed on each, and the proven optima.

use std::sync::Arc;

use treepie_placement::NetworkNodes;
use treepie_topology::Topology;
use treepie_topology::networks::{Arrangement, Dragonfly, Local, Network, Paths, Site};

use super::guests::Generator;

/// Nodes on a network, each with this number of slots.
pub struct Host {
    pub name: String,
    pub slots: usize,
    pub topology: Topology,
    pub nodes: NetworkNodes,
    /// The target in Scotch's form.
    pub target: Target,
    pub guests: Vec<String>,
}

/// A target of Scotch.
pub enum Target {
    /// The text of a target file.
    Text(String),
    /// A graph from which a target has to be built.
    Graph,
}

impl Host {
    fn new(name: &str, network: Network, slots: usize, target: Target) -> Result<Host, String> {
        let all: Vec<usize> = (0..network.positions()).collect();
        Host::on(name, network, &all, slots, target)
    }

    fn on(
        name: &str,
        network: Network,
        positions: &[usize],
        slots: usize,
        target: Target,
    ) -> Result<Host, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{name}: {error}");
        let arities = [positions.len(), slots];
        let topology = Topology::from_arity_list(&arities, None).map_err(|e| failed(&e))?;
        let network = Arc::new(network);
        let nodes = NetworkNodes::new(network, &topology, 1, positions).map_err(|e| failed(&e))?;
        Ok(Host {
            name: name.to_owned(),
            slots,
            topology,
            nodes,
            target,
            guests: Vec::new(),
        })
    }

    fn with(mut self, guests: &[&str]) -> Host {
        self.guests = guests.iter().map(|&guest| guest.to_owned()).collect();
        self
    }

    /// The least cost, if proven.
    pub fn optimum(&self, guest: &str) -> Option<f64> {
        Some(match (self.name.as_str(), guest) {
            ("torus 8x8x8", "st:8x8x8") => 134_400.0,
            ("torus 8x8x8", "st:8x8x8p") => 153_600.0,
            ("torus 8x8x8", "st:8x64") => 95_200.0,
            ("torus 16x16x16", "st:16x16x16") => 1_152_000.0,
            ("torus 32x32" | "mesh 32x32", "st:32x32") => 198_400.0,
            ("torus 4x4x4x8", "st:32x16") => 97_600.0,
            ("torus 8x8x8, 8 slots", "st:16x16x16") => 537_600.0,
            ("hyperx 8x8", "st:8x8x8") => 326_400.0,
            ("hyperx 8x8", "st:32x16") => 228_800.0,
            _ => return None,
        })
    }

    /// The means to which a row contributes.
    pub fn classes(&self, guest: &str) -> Vec<&'static str> {
        let irregular = !guest.starts_with("st:");
        match self.nodes.network() {
            Network::Lattice(_) if irregular => {
                vec!["tori and meshes", "tori and meshes, irregular graphs"]
            }
            Network::Lattice(_) => vec!["tori and meshes"],
            _ => vec!["dragonfly and HyperX"],
        }
    }
}

fn described(text: &str) -> Result<Network, String> {
    let site = Site::from_description(text).map_err(|error| error.to_string())?;
    Ok(site.network().clone())
}

/// All hosts; `large` adds 100,000 nodes.
pub fn all(large: bool) -> Result<Vec<Host>, String> {
    let text = |text: &str| Target::Text(text.to_owned());
    let dragonfly = Dragonfly::new(
        (8, 4, 33),
        Local::Complete,
        Arrangement::Absolute,
        Paths::Shortest,
    );
    let dragonfly = dragonfly.map_err(|error| error.to_string())?;
    let on_routers: Vec<usize> = (0..1056).map(|node| node / 4).collect();
    let on_switches: Vec<usize> = (0..512).map(|node| node / 8).collect();
    let mut part = Generator::shuffled(11, 4096);
    part.truncate(512);
    part.sort_unstable();
    let listed: Vec<String> = part.iter().map(usize::to_string).collect();
    let sub = format!("sub 512 {} torus3D 16 16 16", listed.join(" "));
    let mut all = vec![
        Host::new(
            "torus 8x8x8",
            described("torus:8x8x8")?,
            1,
            text("torus3D 8 8 8"),
        )?
        .with(&[
            "st:8x8x8",
            "st:8x8x8p",
            "st:32x16",
            "st:8x64",
            "rnd:512",
            "plaw:512",
        ]),
        Host::new(
            "torus 16x16x16",
            described("torus:16x16x16")?,
            1,
            text("torus3D 16 16 16"),
        )?
        .with(&["st:16x16x16", "st:64x64", "rnd:4096", "plaw:4096"]),
        Host::new(
            "torus 32x32",
            described("torus:32x32")?,
            1,
            text("torus2D 32 32"),
        )?
        .with(&["st:32x32", "st:16x8x8", "rnd:1024", "plaw:1024"]),
        Host::new(
            "mesh 32x32",
            described("mesh:32x32")?,
            1,
            text("mesh2D 32 32"),
        )?
        .with(&["st:32x32", "st:16x8x8", "rnd:1024", "plaw:1024"]),
        Host::new(
            "torus 4x4x4x8",
            described("torus:4x4x4x8")?,
            1,
            text("torusXD 4 4 4 4 8"),
        )?
        .with(&["st:8x8x8", "st:32x16", "rnd:512"]),
        Host::new(
            "torus 8x8x8, 8 slots",
            described("torus:8x8x8")?,
            8,
            text("torus3D 8 8 8"),
        )?
        .with(&["st:16x16x16", "st:64x64", "rnd:4096", "plaw:4096"]),
        Host::on(
            "part of torus 16x16x16",
            described("torus:16x16x16")?,
            &part,
            1,
            Target::Text(sub),
        )?
        .with(&["st:8x8x8", "rnd:512"]),
        Host::on(
            "dragonfly 4,8,4",
            Network::Dragonfly(dragonfly),
            &on_routers,
            1,
            Target::Graph,
        )?
        .with(&["st:33x32", "st:11x12x8", "rnd:1056", "plaw:1056"]),
        Host::on(
            "hyperx 8x8",
            described("hyperx:8x8")?,
            &on_switches,
            1,
            Target::Graph,
        )?
        .with(&["st:8x8x8", "st:32x16", "rnd:512", "plaw:512"]),
    ];
    if large {
        let torus = described("torus:50x50x40")?;
        all.push(
            Host::new("large torus 50x50x40", torus, 1, text("torus3D 50 50 40"))?
                .with(&["st:50x50x40", "rnd:100000"]),
        );
        let dragonfly = described("dragonfly:16,32,16,196")?;
        let nodes: Vec<usize> = (0..100_000).map(|node| node / 16).collect();
        all.push(
            Host::on(
                "large dragonfly 16,32,16,196",
                dragonfly,
                &nodes,
                1,
                Target::Graph,
            )?
            .with(&["rnd:100000"]),
        );
    }
    Ok(all)
}
