//! `treepie predict --pieces`: the time of each method that transfers separate pieces from one rank
//! to another, from the samples of a platform's links, and the fastest method.

use std::process::ExitCode;

use serde_json::{Map, Value, json};
use treepie_guard::one_sided::cost;
use treepie_platform::{Link, Platform, TransferMethod};
use treepie_report::platform::named_links;
use treepie_report::table::Table;
use treepie_report::units;
use treepie_report::words::pluralize;

use crate::commands::outcome::Outcome;
use crate::commands::predict::arguments::Arguments;

/// Prints the times of `pieces` pieces of the size in `arguments`.
pub fn run(platform: &Platform, pieces: u64, arguments: &Arguments) -> Outcome {
    let bytes = arguments.bytes.max(1);
    let links = named_links(platform);
    let count = pieces as f64;
    let json = || {
        let links = links.iter().map(|(name, link)| {
            let seconds = TransferMethod::ALL.iter().map(|&way| {
                let seconds = cost::seconds(link, way, count, bytes as f64);
                (way.to_string(), Value::from(seconds))
            });
            let fastest = |ways| cost::fastest(link, ways, count, bytes as f64).to_string();
            json!({
                "link": name,
                "sampled": link.ways().is_some(),
                "seconds": seconds.collect::<Map<String, Value>>(),
                "fastest_message": fastest(cost::MESSAGES),
                "fastest_put": fastest(cost::PUTS),
            })
        });
        let links: Vec<Value> = links.collect();
        json!({"pieces": pieces, "bytes": bytes, "links": links})
    };
    let words = || text(&links, pieces, bytes);
    arguments.printing.answer(json, words)?;
    Ok(ExitCode::SUCCESS)
}

fn text(links: &[(String, &Link)], pieces: u64, bytes: u64) -> String {
    let size = units::bytes(bytes as f64);
    let mut text = format!(
        "{} of {size} that lie apart, from one rank to another, until it knows them there\n",
        pluralize(pieces as usize, "piece")
    );
    let ways = TransferMethod::ALL.iter().map(TransferMethod::to_string);
    let mut table = Table::new(std::iter::once("link".to_owned()).chain(ways));
    for (name, link) in links {
        let fastest = [cost::MESSAGES, cost::PUTS]
            .map(|ways| cost::fastest(link, ways, pieces as f64, bytes as f64));
        let cells = TransferMethod::ALL.iter().map(|way| {
            let seconds = cost::seconds(link, *way, pieces as f64, bytes as f64);
            let mark = if fastest.contains(way) { "*" } else { "" };
            format!("{mark}{}", units::seconds(seconds))
        });
        table.row(std::iter::once(name.clone()).chain(cells));
    }
    text += &table.text();
    text += "  * the fastest of messages (send, vector, packed), and of puts\n";
    let modelled = links.iter().filter(|(_, link)| link.ways().is_none());
    let modelled: Vec<&str> = modelled.map(|(name, _)| name.as_str()).collect();
    if !modelled.is_empty() {
        text += &format!(
            "  by latency and gap alone, without copies and datatypes: {}; `treepie probe --ways` \
             samples them\n",
            modelled.join(", ")
        );
    }
    text
}
