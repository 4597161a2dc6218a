//! A platform as tables, as JSON and as a drawing.

use serde_json::{Value, json};
use treepie_base::{Cluster, list};
use treepie_platform::file::PlatformFile;
use treepie_platform::{Contention, Link, Parallel, Platform};

use super::table::Table;
use super::words::pluralize;
use super::{transfer_methods, units};

/// Sizes whose gaps are shown in tables.
const SHOWN: [u64; 3] = [1, 64 << 10, 1 << 20];

/// The tables of `treepie show`.
pub fn text(name: &str, file: &PlatformFile) -> String {
    let platform = &file.platform;
    let mut text = format!("{name}: {}\n", describe(platform));
    if let Some(mpi) = &file.mpi {
        text += &format!("  measured on {} with {mpi}\n", file.header.date);
    }
    text += &probing(platform);
    text += "\n";
    text += &clusters(platform).text();
    if platform.clusters().len() > 1 {
        text += "\n  latency, sender by receiver\n";
        text += &between(platform, |link| units::seconds(link.latency())).text();
        text += "\n  gap of 1 MiB, sender by receiver\n";
        text += &between(platform, |link| units::seconds(link.gap(1 << 20))).text();
    }
    text += "\n";
    text += &links(platform).text();
    if !platform.contents().parallel.is_empty() {
        text += "\n  several pairs at once, all together\n";
        text += &together(platform).text();
    }
    for (name, link) in named_links(platform) {
        if let Some(ways) = link.ways() {
            text += &format!("\n  ways {name}, {}", transfer_methods::text(ways));
        }
    }
    text
}

/// `16 ranks on 16 hosts in 4 clusters`.
pub fn describe(platform: &Platform) -> String {
    format!(
        "{} on {} in {}",
        pluralize(platform.ranks(), "rank"),
        pluralize(platform.hosts().len(), "host"),
        pluralize(platform.clusters().len(), "cluster")
    )
}

/// Number of probes and of pairs, and the measurements left out.
pub fn probing(platform: &Platform) -> String {
    let Some(probing) = &platform.contents().probing else {
        return String::new();
    };
    let mut text = format!(
        "  {} and {} of {} in {} of a budget of {}\n",
        pluralize(probing.latency_pairs, "latency").replace("latencys", "latencies"),
        pluralize(probing.probes, "probe"),
        pluralize(probing.pairs, "pair"),
        units::seconds(probing.seconds),
        units::seconds(probing.budget),
    );
    for line in &probing.left_out {
        text += &format!("  left out: {line}\n");
    }
    text
}

/// `x2.5, 200 us more above 16 KiB`: factor on a total exchange, and the cost of each partner.
pub fn contention(contention: &Contention) -> String {
    let more = if contention.delta > 0.0 {
        format!(
            ", {} more above {}",
            units::seconds(contention.delta),
            units::bytes(contention.threshold as f64)
        )
    } else {
        String::new()
    };
    format!("x{:.2}{more}", contention.gamma)
}

fn clusters(platform: &Platform) -> Table {
    let mut table = Table::new([
        "cluster",
        "hosts",
        "ranks",
        "leader",
        "latency",
        "gap of 1 MiB",
        "contention",
    ]);
    for (number, cluster) in platform.clusters().iter_enumerated() {
        let within = cluster.within.as_ref();
        let shown = |value: fn(&Link) -> f64| {
            within.map_or("-".to_owned(), |link| units::seconds(value(link)))
        };
        table.row([
            cluster.name.clone(),
            cluster.hosts.len().to_string(),
            list::to_text(&platform.ranks_of(number)),
            cluster.leader.to_string(),
            shown(Link::latency),
            shown(|link| link.gap(1 << 20)),
            cluster
                .contention
                .map_or("-".to_owned(), |known| contention(&known)),
        ]);
    }
    table
}

fn between(platform: &Platform, value: impl Fn(&Link) -> String) -> Table {
    let names = platform
        .clusters()
        .iter()
        .map(|cluster| cluster.name.clone());
    let mut table = Table::new(std::iter::once(String::new()).chain(names));
    for (from, cluster) in platform.clusters().iter_enumerated() {
        let cells = platform.clusters().keys().map(|to| {
            if from == to {
                cluster.within.as_ref().map_or("-".into(), &value)
            } else {
                value(platform.between(from, to))
            }
        });
        table.row(std::iter::once(cluster.name.clone()).chain(cells));
    }
    table
}

/// All links with their names.
pub fn named_links(platform: &Platform) -> Vec<(String, &Link)> {
    let mut links = Vec::new();
    for cluster in platform.clusters() {
        let within = cluster
            .within
            .iter()
            .map(|link| (format!("in {}", cluster.name), link));
        links.extend(within);
        for level in &cluster.levels {
            links.push((format!("in {}, {}", cluster.name, level.name), &level.link));
        }
    }
    for (&(from, to), link) in &platform.contents().links {
        let name = |cluster: Cluster| &platform.clusters()[cluster].name;
        links.push((format!("{} to {}", name(from), name(to)), link));
    }
    links
}

fn links(platform: &Platform) -> Table {
    let gaps = SHOWN.map(|bytes| format!("g({})", units::bytes(bytes as f64)));
    let headings = ["link".to_owned(), "latency".to_owned()];
    let mut table = Table::new(
        headings
            .into_iter()
            .chain(gaps)
            .chain(["rate".to_owned(), "eager up to".to_owned()]),
    );
    for (name, link) in named_links(platform) {
        let rate = (1 << 20) as f64 / link.gap(1 << 20).max(1e-9);
        let row = [name, units::seconds(link.latency())]
            .into_iter()
            .chain(SHOWN.map(|bytes| units::seconds(link.gap(bytes))))
            .chain([
                format!("{}/s", units::bytes(rate)),
                link.eager_limit()
                    .map_or("-".to_owned(), |bytes| units::bytes(bytes as f64)),
            ]);
        table.row(row);
    }
    table
}

/// The bandwidth of several simultaneous pairs, a row for each pair of clusters or level, and its
/// ratio to that of one pair.
fn together(platform: &Platform) -> Table {
    let mut table = Table::new(["between", "pairs", "rate", "of one pair's"]);
    let name = |cluster: Cluster| &platform.clusters()[cluster].name;
    let all = &platform.contents().parallel;
    for line in all {
        let is_alone = |one: &&Parallel| {
            one.pairs == 1 && (one.from, one.to, one.level) == (line.from, line.to, line.level)
        };
        let times = all.iter().find(is_alone).map_or("-".to_owned(), |alone| {
            format!("x{:.2}", line.bytes_per_second / alone.bytes_per_second)
        });
        let between = match line.level {
            Some(level) => format!("ranks in {}, {level}", name(line.from)),
            None if line.from == line.to => format!("hosts in {}", name(line.from)),
            None => format!("{} to {}", name(line.from), name(line.to)),
        };
        table.row([
            between,
            line.pairs.to_string(),
            format!("{}/s", units::bytes(line.bytes_per_second)),
            times,
        ]);
    }
    table
}

/// Converts the platform to JSON.
pub fn json(file: &PlatformFile) -> Value {
    let platform = &file.platform;
    let clusters: Vec<Value> = platform
        .clusters()
        .iter_enumerated()
        .map(|(number, cluster)| {
            let hosts = cluster
                .hosts
                .iter()
                .map(|&host| &platform.hosts()[host].name);
            json!({
                "name": cluster.name,
                "hosts": hosts.collect::<Vec<_>>(),
                "ranks": platform.ranks_of(number),
                "leader": cluster.leader,
                "within": cluster.within.as_ref().map(link_json),
                "contention": cluster.contention.map(|contention| json!({
                    "gamma": contention.gamma,
                    "delta": contention.delta,
                    "threshold": contention.threshold,
                    "ranks": contention.ranks,
                })),
                "levels": cluster.levels.iter().map(|level| json!({
                    "level": level.name,
                    "link": link_json(&level.link),
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    let links: Vec<Value> = platform
        .contents()
        .links
        .iter()
        .map(|((from, to), link)| json!({ "from": from, "to": to, "link": link_json(link) }))
        .collect();
    let probing = platform.contents().probing.as_ref();
    json!({
        "ranks": platform.ranks(),
        "clusters": clusters,
        "links": links,
        "parallel": platform.contents().parallel.iter().map(|line| json!({
            "from": line.from,
            "to": line.to,
            "level": line.level,
            "pairs": line.pairs,
            "bytes_per_second": line.bytes_per_second,
        })).collect::<Vec<_>>(),
        "probing": probing.map(|probing| json!({
            "seconds": probing.seconds,
            "probes": probing.probes,
            "latency_pairs": probing.latency_pairs,
            "pairs": probing.pairs,
            "left_out": probing.left_out,
        })),
    })
}

fn link_json(link: &Link) -> Value {
    json!({
        "latency": link.latency(),
        "ways": link.ways(),
        "samples": link.samples().iter().map(|sample| json!({
            "bytes": sample.bytes,
            "gap": sample.gap,
            "handshake": sample.handshake,
            "send": sample.send,
            "receive": sample.receive,
            "confidence": sample.confidence,
        })).collect::<Vec<_>>(),
    })
}
