//! Consistency of the parts of a platform.

use std::collections::HashMap;

use treepie_base::Cluster;

use crate::contents::{Contents, PlatformCluster, PlatformError};

/// Checks everything.
pub(super) fn check(contents: &Contents) -> Result<(), PlatformError> {
    let total: usize = contents.hosts.iter().map(|host| host.ranks.len()).sum();
    if total == 0 {
        return Err(wrong(
            "hosts",
            "have no ranks; list the ranks of every host",
        ));
    }
    check_hosts(contents)?;
    check_inside(contents)?;
    check_clusters(contents)?;
    check_leaders(contents)?;
    check_within(contents)?;
    check_links(contents)?;
    check_all_links(contents)
}

/// Checks the existing clusters, hosts and links, but not that none are missing.
pub(super) fn check_partial(contents: &Contents) -> Result<(), PlatformError> {
    if contents.clusters.is_empty() {
        let problem = "are missing; list them with their hosts";
        return Err(wrong("clusters", problem));
    }
    check_hosts(contents)?;
    check_clusters(contents)?;
    check_links(contents)
}

/// True if there is a link for all clusters and pairs of clusters.
pub(super) fn has_all_links(contents: &Contents) -> bool {
    check_within(contents).is_ok() && check_all_links(contents).is_ok()
}

fn wrong(field: impl Into<String>, problem: impl Into<String>) -> PlatformError {
    PlatformError {
        field: field.into(),
        problem: problem.into(),
    }
}

fn check_hosts(contents: &Contents) -> Result<(), PlatformError> {
    let total: usize = contents.hosts.iter().map(|host| host.ranks.len()).sum();
    let mut host_of: Vec<Option<&str>> = vec![None; total];
    let mut names = HashMap::new();
    for (place, host) in contents.hosts.iter().enumerate() {
        let field = format!("hosts[{place}]");
        if names.insert(host.name.as_str(), place).is_some() {
            let problem = format!("the host {} is listed twice; join the two", host.name);
            return Err(wrong(field, problem));
        }
        for &rank in &host.ranks {
            let slot = host_of.get_mut(rank).ok_or_else(|| {
                let problem = format!(
                    "has rank {rank}, and there are {total} ranks in all, from 0; \
                     every rank from 0 on must be on one host"
                );
                wrong(&field, problem)
            })?;
            if let Some(other) = slot.replace(&host.name) {
                let problem = format!("rank {rank} is on {other} already; keep it on one host");
                return Err(wrong(&field, problem));
            }
        }
    }
    Ok(())
}

fn check_inside(contents: &Contents) -> Result<(), PlatformError> {
    let total: usize = contents.hosts.iter().map(|host| host.ranks.len()).sum();
    for (place, inside) in contents.inside.iter().enumerate() {
        let found = inside.group_of_rank.len();
        if found != total {
            let problem = format!("{found} ranks have a group, and there are {total} ranks");
            return Err(wrong(format!("inside[{place}].groups"), problem));
        }
        let mut host_of = HashMap::new();
        for host in &contents.hosts {
            for &rank in &host.ranks {
                let group = inside.group_of_rank[rank];
                let known = *host_of.entry(group).or_insert(&host.name);
                if known != &host.name {
                    let problem = format!(
                        "group {group} is on {known} and on {}; give groups of different hosts \
                         different numbers",
                        host.name
                    );
                    return Err(wrong(format!("inside[{place}].groups"), problem));
                }
            }
        }
    }
    Ok(())
}

fn check_clusters(contents: &Contents) -> Result<(), PlatformError> {
    let mut cluster_of: Vec<Option<Cluster>> = vec![None; contents.hosts.len()];
    for (place, cluster) in contents.clusters.iter_enumerated() {
        let field = |name: &str| format!("clusters[{place}].{name}");
        if cluster.hosts.is_empty() {
            return Err(wrong(
                field("hosts"),
                "is empty; a cluster has at least one host",
            ));
        }
        for &host in &cluster.hosts {
            let Some(slot) = cluster_of.get_mut(host) else {
                return Err(wrong(field("hosts"), "names a host that is not listed"));
            };
            if let Some(other) = slot.replace(place) {
                let problem = format!(
                    "{} is in cluster {} already; keep it in one",
                    contents.hosts[host].name, contents.clusters[other].name
                );
                return Err(wrong(field("hosts"), problem));
            }
        }
    }
    match cluster_of.iter().position(Option::is_none) {
        Some(host) => {
            let problem = format!("none has the host {}", contents.hosts[host].name);
            Err(wrong("clusters", problem))
        }
        None => Ok(()),
    }
}

fn check_leaders(contents: &Contents) -> Result<(), PlatformError> {
    for (place, cluster) in contents.clusters.iter_enumerated() {
        if !contents.ranks_of(place).contains(&cluster.leader) {
            let problem = format!("rank {} is not in this cluster", cluster.leader);
            return Err(wrong(format!("clusters[{place}].leader"), problem));
        }
    }
    Ok(())
}

fn check_within(contents: &Contents) -> Result<(), PlatformError> {
    let lacks = |cluster: &PlatformCluster| cluster.hosts.len() > 1 && cluster.within.is_none();
    match contents.clusters.position(lacks) {
        Some(place) => {
            let problem = "is missing, and the cluster has several hosts; measure it, or copy that \
                           of a cluster like it";
            Err(wrong(format!("clusters[{place}].within"), problem))
        }
        None => Ok(()),
    }
}

fn check_all_links(contents: &Contents) -> Result<(), PlatformError> {
    for from in contents.clusters.keys() {
        for to in contents.clusters.keys().skip(from.0 + 1) {
            let has = |pair| contents.links.contains_key(&pair);
            if !has((from, to)) && !has((to, from)) {
                let name = |cluster: Cluster| &contents.clusters[cluster].name;
                let problem = format!(
                    "there is none between {} and {}; measure it, or write one",
                    name(from),
                    name(to)
                );
                return Err(wrong("links", problem));
            }
        }
    }
    Ok(())
}

fn check_links(contents: &Contents) -> Result<(), PlatformError> {
    let clusters = contents.clusters.next_key();
    for &(from, to) in contents.links.keys() {
        if from >= clusters || to >= clusters || from == to {
            let problem = format!("there is no link from cluster {from} to cluster {to}");
            return Err(wrong("links", problem));
        }
    }
    for parallel in &contents.parallel {
        let is_inside = parallel.level.is_none() || parallel.from == parallel.to;
        let exists = parallel.from < clusters && parallel.to < clusters && is_inside;
        let rate = parallel.bytes_per_second;
        if !exists || parallel.pairs == 0 || !(rate.is_finite() && rate > 0.0) {
            return Err(wrong(
                "parallel",
                "has a line of no link, no pairs or no rate",
            ));
        }
    }
    Ok(())
}
