//! Picture of a platform: clusters, links, and curves of their gaps.

use treepie_base::Cluster;
use treepie_platform::Platform;

use super::units;
use super::words::{file_name, pluralize};
use crate::picture::axis::Axis;
use crate::picture::chart::{Chart, Series, Style};
use crate::picture::network::{Edge, Network, Overview};
use crate::platform::named_links;

/// Maximum number of clusters between which the lines of a drawing can be distinguished.
pub(crate) const MOST_CURVES: usize = 12;

/// Draws the clusters as a graph, and the gaps of their links as curves.
pub fn drawing(name: &str, platform: &Platform) -> Overview {
    let nodes = platform.clusters().iter_enumerated();
    let nodes = nodes.map(|(number, cluster)| {
        let mut lines = vec![
            cluster.name.clone(),
            format!(
                "{}, {}",
                pluralize(cluster.hosts.len(), "host"),
                pluralize(platform.ranks_of(number).len(), "rank")
            ),
        ];
        lines.extend(
            cluster
                .within
                .iter()
                .map(|link| units::seconds(link.latency())),
        );
        lines
    });
    let count = platform.clusters().len();
    let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
    let edges = pairs.map(|(one, other)| Edge {
        one,
        other,
        label: units::seconds(platform.between(Cluster(one), Cluster(other)).latency()),
    });
    let series = named_links(platform).into_iter().take(MOST_CURVES);
    let series = series.enumerate().map(|(colour, (name, link))| Series {
        // Colours repeat after eight curves.
        style: match colour {
            0..8 => Style::Marked,
            _ => Style::Line,
        },
        colour,
        name,
        points: link
            .samples()
            .iter()
            .map(|sample| (sample.bytes as f64, sample.gap + sample.handshake))
            .collect(),
    });
    Overview {
        network: Network {
            title: file_name(name),
            nodes: nodes.collect(),
            edges: edges.collect(),
        },
        chart: Chart {
            title: "g(m) and handshake of a message alone".to_owned(),
            across: Axis {
                name: "bytes of the message",
                logarithmic: true,
                mark: units::bytes,
            },
            upwards: Axis {
                name: "time",
                logarithmic: true,
                mark: units::seconds,
            },
            series: series.collect(),
        },
    }
}
