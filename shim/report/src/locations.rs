//! Locations of hosts on their network, as reported by their systems to the ranks.

use treepie_topology::formats::HostLocation;

use super::table::Table;
use super::words::pluralize;

/// Maximum number of listed hosts.
const LISTED: usize = 16;

/// Formats a line and a table; empty if no system reports locations.
pub fn text(locations: &[HostLocation]) -> String {
    if locations.is_empty() {
        return String::new();
    }
    let told = pluralize(locations.len(), "host");
    let how = if locations.iter().all(|at| at.coordinates.is_empty()) {
        "cray-xc"
    } else {
        "system"
    };
    format!(
        "\n{told} on the network, as the system told; treepie map --coordinates {how} places by it\n{}",
        table(locations).text()
    )
}

/// Lists all hosts.
pub fn table(locations: &[HostLocation]) -> Table {
    let mut table = Table::new(["host", "coordinates", "node"]);
    for at in locations.iter().take(LISTED) {
        let numbers: Vec<String> = at.coordinates.iter().map(usize::to_string).collect();
        let or_none = |text: String| {
            if text.is_empty() {
                "-".to_owned()
            } else {
                text
            }
        };
        table.row([
            at.host.clone(),
            or_none(numbers.join(" ")),
            or_none(at.cname.clone().unwrap_or_default()),
        ]);
    }
    if locations.len() > LISTED {
        table.row([
            format!("... {} more", locations.len() - LISTED),
            String::new(),
            String::new(),
        ]);
    }
    table
}
