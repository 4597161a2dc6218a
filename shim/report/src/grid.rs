//! Emulated grids, as text and as JSON.

use serde_json::{Value, json};
use treepie_base::Cluster;
use treepie_platform::grid::Grid;

use super::table::Table;
use super::units;
use super::words::pluralize;

/// Formats a grid to emulate as tables.
pub fn grid_text(name: &str, grid: &Grid) -> String {
    let rate = |megabits: f64| {
        if megabits > 0.0 {
            format!("{megabits} Mbit/s")
        } else {
            "-".to_owned()
        }
    };
    let mut clusters = Table::new(["cluster", "hosts", "latency", "rate", "uplink"]);
    let names = grid.clusters.iter().map(|cluster| cluster.name.clone());
    let mut between = Table::new(std::iter::once(String::new()).chain(names));
    for (from, cluster) in grid.clusters.iter_enumerated() {
        clusters.row([
            cluster.name.clone(),
            cluster.hosts.to_string(),
            units::seconds(cluster.latency_us * 1e-6),
            rate(cluster.mbit),
            rate(cluster.uplink_mbit),
        ]);
        let cells = grid.clusters.keys().map(|to| {
            if from == to {
                "-".to_owned()
            } else {
                let latency = units::seconds(grid.latency_us(from, to) * 1e-6);
                let rates = [
                    (grid.link_mbit(from, to), ""),
                    (grid.connection_mbit(from, to), " a connection"),
                ];
                let rates = rates.iter().filter(|(megabits, _)| *megabits > 0.0);
                let rates = rates.map(|(megabits, of)| format!(", {}{of}", rate(*megabits)));
                latency + &rates.collect::<String>()
            }
        });
        between.row(std::iter::once(cluster.name.clone()).chain(cells));
    }
    let hosts = pluralize(grid.cluster_of_host().len(), "host");
    format!(
        "{name}: a grid of {hosts} to emulate\n\n{}\n{}",
        clusters.text(),
        between.text()
    )
}

/// Converts a grid to emulate to JSON.
pub fn grid_json(grid: &Grid) -> Value {
    let clusters = grid.clusters.keys();
    let rows = |value: &dyn Fn(Cluster, Cluster) -> f64| -> Vec<Vec<f64>> {
        let row = |from| clusters.clone().map(|to| value(from, to)).collect();
        clusters.clone().map(row).collect()
    };
    json!({
        "clusters": grid.clusters.iter().map(|cluster| json!({
            "name": cluster.name,
            "hosts": cluster.hosts,
            "latency": cluster.latency_us * 1e-6,
            "mbit": cluster.mbit,
            "uplink_mbit": cluster.uplink_mbit,
        })).collect::<Vec<_>>(),
        "latencies": rows(&|from, to| grid.latency_us(from, to) * 1e-6),
        "mbit": rows(&|from, to| grid.mbit(from, to)),
    })
}
