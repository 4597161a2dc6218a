//! The machine for a placement, from options: the nodes, the network above them, and the distances
//! of the levels.

use std::path::PathBuf;

use clap::Args;
use treepie_launch::error::CommandError;
use treepie_placement::NetworkNodes;
use treepie_platform::with_measured_distances;
use treepie_topology::Topology;
use treepie_topology::formats::HostLocation;
use treepie_topology::networks::Site;

use super::network;
use super::topology::HELP;
use super::traffic::Input;
use crate::input::distances::{from_arities, with_distances, with_nodes};
use crate::input::machines::{attached, hosts_of, machines, under};

/// Options that describe the machine.
#[derive(Debug, Args)]
#[allow(missing_docs)] // a comment would become a second help
#[command(next_help_heading = "Machine")]
pub struct MachineChoice {
    #[arg(long, short, value_name = "TOPOLOGY", help = HELP, conflicts_with_all = ["tree", "hierarchy"])]
    pub topology: Option<String>,
    /// Arities from the root: 2:3:2 has 12 cores. Below a network the first are its nodes
    #[arg(long, value_name = "ARITIES", conflicts_with = "hierarchy")]
    pub tree: Option<String>,
    /// Arities from the cores up, as in KaHIP: 16:2:16 is 16 cores in each of 2 sockets of each of
    /// 16 nodes
    #[arg(long, value_name = "ARITIES")]
    pub hierarchy: Option<String>,
    #[command(flatten)]
    pub above: Above,
}

/// Hosts on which a job ran, as far as a command knows them.
#[derive(Debug, Clone, Copy, Default)]
pub struct JobHosts<'a> {
    /// Their names; empty if unknown.
    pub names: &'a [&'a str],
    /// Locations on their network, as reported by their systems.
    pub locations: &'a [HostLocation],
}

/// Options that describe the network between machines.
#[derive(Debug, Args)]
#[allow(missing_docs)] // a comment would become a second help
#[command(next_help_heading = "Machine")]
pub struct Above {
    /// Distances of the levels from the cores up, such as 1:10:100; without them
    /// and a platform, hops
    #[arg(long, value_name = "NUMBERS")]
    pub distances: Option<String>,
    /// Network above the nodes: a description such as torus:8x8x8, mesh:32x32, dragonfly:4,8,4,
    /// hyperx:8x8,8 or fat-tree:2;4,8;1,4, or a file: the output of `scontrol show topology` or
    /// `show node`, Slurm's topology.yaml, a network file, or a topology file whose leaves are
    /// named hosts. FILE:NAME selects one of several
    #[arg(long, value_name = "NETWORK", conflicts_with = "platform")]
    pub network: Option<String>,
    /// Coordinates on the network: in the names of the hosts, with # for each number, so that
    /// r#i#n# extracts 2, 0 and 5 from r2i0n05; or `system`, those that the systems reported to the
    /// ranks of a profile, or `cray-xc`, by the names of their nodes
    #[arg(
        long,
        value_name = "PATTERN|system|cray-xc",
        conflicts_with = "platform"
    )]
    pub coordinates: Option<String>,
    /// Platform file: its clusters become a level above the nodes, its measured
    /// times the distances
    #[arg(long, value_name = "FILE")]
    pub platform: Option<PathBuf>,
}

impl MachineChoice {
    /// True if any of these options was given.
    pub fn is_given(&self) -> bool {
        let nodes = [&self.topology, &self.tree, &self.hierarchy];
        nodes.iter().any(|nodes| nodes.is_some()) || self.above.is_given()
    }

    /// Builds the whole tree, and finds the positions of its nodes on a network that is not a tree.
    ///
    /// # Errors
    /// A part cannot be read, or parts do not fit each other.
    pub fn on_network(
        &self,
        input: &Input,
    ) -> Result<(Topology, Option<NetworkNodes>), CommandError> {
        if let Some(text) = self
            .topology
            .as_deref()
            .filter(|text| network::is_one(text))
        {
            if self.above.is_given() {
                return Err(CommandError::usage(format!(
                    "--topology {text}: is a network; leave --network, --platform and --distances out"
                )));
            }
            let (topology, nodes) = network::whole(text)?;
            return Ok((topology, Some(nodes)));
        }
        let nodes = self.nodes(input)?;
        let job = JobHosts {
            names: &input.hosts(),
            locations: input.locations(),
        };
        self.above.on_network(nodes, job, input.mean_message())
    }

    /// The machines without a separate network.
    fn nodes(&self, input: &Input) -> Result<Topology, CommandError> {
        let tree = match (&self.tree, &self.hierarchy) {
            (Some(arities), _) => from_arities("--tree", arities, arities)?,
            (None, Some(arities)) => {
                let from_root: Vec<&str> = arities.split(':').rev().collect();
                from_arities("--hierarchy", arities, &from_root.join(":"))?
            }
            (None, None) => return input.topology(self.topology.as_deref()),
        };
        if self.above.network.is_some() || self.above.coordinates.is_some() {
            Ok(with_nodes(tree)?)
        } else {
            Ok(tree)
        }
    }
}

impl Above {
    /// True if anything is known.
    pub fn is_given(&self) -> bool {
        let texts = [&self.distances, &self.network, &self.coordinates];
        texts.iter().any(|text| text.is_some()) || self.platform.is_some()
    }

    /// Builds the whole tree over these nodes, for a job whose messages have `bytes` bytes on
    /// average.
    ///
    /// # Errors
    /// A part cannot be read, or parts do not fit each other.
    pub fn over(
        &self,
        nodes: Topology,
        job: JobHosts<'_>,
        bytes: u64,
    ) -> Result<Topology, CommandError> {
        Ok(self.on_network(nodes, job, bytes)?.0)
    }

    /// The topology, and the positions of its nodes on a network that is not a tree.
    ///
    /// # Errors
    /// See [`Above::over`].
    pub fn on_network(
        &self,
        nodes: Topology,
        job: JobHosts<'_>,
        bytes: u64,
    ) -> Result<(Topology, Option<NetworkNodes>), CommandError> {
        let hosts = job.names;
        let mut topology = nodes;
        let mut on_network = None;
        let site = self.network.as_deref().map(network::read).transpose()?;
        if let Some(pattern) = &self.coordinates {
            let parts = machines(topology)?;
            let site = at_coordinates(pattern, &parts, job, site.as_ref())?;
            let (above, nodes) = attached(parts, &site, pattern, hosts)?;
            (topology, on_network) = (above, Some(nodes));
        } else if let (Some(text), Some(site)) = (&self.network, site) {
            match network::tree(&site) {
                Some(tree) => topology = under(topology, tree, text, hosts)?,
                None => {
                    let (above, nodes) = attached(machines(topology)?, &site, text, hosts)?;
                    (topology, on_network) = (above, Some(nodes));
                }
            }
        }
        if let Some(path) = &self.platform {
            let platform = treepie_platform::file::PlatformFile::read(path)?.platform;
            let name = path.display().to_string();
            topology = under(topology, &platform.network()?, &name, hosts)?;
            topology = with_measured_distances(topology, &platform, bytes)?;
        }
        if let Some(text) = &self.distances {
            if on_network.is_some() {
                return Err(CommandError::usage(format!(
                    "--distances {text}: a network has its own distances; leave one of the two out"
                )));
            }
            topology = with_distances(topology, text)?;
        }
        Ok((topology, on_network))
    }
}

/// Places the hosts at the coordinates in their names, or those reported by their systems.
fn at_coordinates(
    pattern: &str,
    parts: &[Topology],
    job: JobHosts<'_>,
    network: Option<&Site>,
) -> Result<Site, CommandError> {
    let told = || match job.locations {
        [] => Err(CommandError::failed(format!(
            "--coordinates {pattern}: no system told the ranks of this job where its hosts are; \
             give a pattern of their names, or a file that lists them with --network"
        ))),
        known => Ok(known),
    };
    Ok(match pattern {
        "system" => treepie_topology::formats::by_coordinates(told()?, network)?,
        "cray-xc" if network.is_none() => treepie_topology::formats::by_cnames(told()?)?,
        "cray-xc" => {
            return Err(CommandError::usage(
                "--coordinates cray-xc: names say what the network is; leave --network out",
            ));
        }
        pattern => {
            let names = hosts_of(parts, &[], "--coordinates", job.names)?;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            treepie_topology::formats::from_names(pattern, &names, network)?
        }
    })
}
