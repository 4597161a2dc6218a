use super::*;
use crate::algorithms::algorithm::Algorithm;
use crate::clusters::Clusters;
use crate::grids;
use crate::network::computing::Computing;
use crate::operation::Operation;
use crate::plan::step::Plan;
use crate::problem::Uniform;
use std::collections::{HashMap, HashSet};

/// Every algorithm for every operation on uneven clusters of eight ranks.
fn all_plans() -> Vec<(String, Vec<Plan>)> {
    let network = grids::scattered(&[0, 1, 0, 2, 0, 1, 0, 1]);
    let clusters = Clusters::of_network(&network);
    let mut all = Vec::new();
    for operation in Operation::all() {
        let call = Uniform {
            operation,
            bytes: 10,
            root: 0,
        };
        for algorithm in Algorithm::of(operation) {
            let plans = algorithm.plans(&call, Some(&network), &clusters, 4);
            all.push((format!("{operation} {}", algorithm.name), plans));
        }
    }
    all
}

/// Runs traces: a receive waits for its message, a send for its receiver (so that deadlocks show),
/// lines one after the other.
fn replay(name: &str, traces: &[String]) -> usize {
    let mut next = vec![0; traces.len()];
    let lines: Vec<Vec<Vec<&str>>> = traces
        .iter()
        .map(|trace| {
            trace
                .lines()
                .map(|line| line.split(' ').collect())
                .collect()
        })
        .collect();
    let mut sent: HashMap<(usize, usize, u32), u64> = HashMap::new();
    let mut awaited: HashMap<(usize, usize, u32), u64> = HashMap::new();
    let mut messages = 0;
    loop {
        let mut moved = false;
        for rank in 0..lines.len() {
            while let Some(line) = lines[rank].get(next[rank]) {
                assert_eq!(line[0], rank.to_string(), "{name}");
                let number = |place: usize| line[place].parse::<u64>().unwrap();
                match line[1] {
                    "isend" => {
                        let key = (rank, number(2) as usize, number(3) as u32);
                        assert!(sent.insert(key, number(4)).is_none(), "{name}: {line:?}");
                        messages += 1;
                    }
                    "irecv" => {
                        let key = (number(2) as usize, rank, number(3) as u32);
                        assert!(awaited.insert(key, number(4)).is_none(), "{name}: {line:?}");
                    }
                    "wait" => {
                        let key = (number(2) as usize, number(3) as usize, number(4) as u32);
                        match (sent.get(&key), awaited.get(&key)) {
                            (Some(one), Some(other)) => assert_eq!(one, other, "{name}"),
                            _ => break,
                        }
                    }
                    "compute" => assert!(line[2].parse::<f64>().unwrap() >= 0.0),
                    "init" | "finalize" => {}
                    other => panic!("{name}: {other}"),
                }
                next[rank] += 1;
                moved = true;
            }
        }
        if !moved {
            let ends = next
                .iter()
                .zip(&lines)
                .all(|(next, lines)| *next == lines.len());
            assert!(ends, "{name} never ends: {next:?}");
            assert_eq!(sent.len(), awaited.len(), "{name}");
            return messages;
        }
    }
}

#[test]
fn traces_of_every_strategy_run_to_their_end_with_every_message_sent_and_received_once() {
    let mut messages = 0;
    for (name, plans) in all_plans() {
        messages += replay(&name, &time_independent(&plans, 8));
    }
    assert!(messages > 1000);
}

#[test]
fn goal_of_every_strategy_names_steps_before_they_are_required_and_pairs_sends_with_receives() {
    for (name, plans) in all_plans() {
        let text = goal(&plans, 8, Computing::default());
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("num_ranks 8"));
        let (mut rank, mut steps) = (usize::MAX, HashSet::new());
        let mut messages: HashMap<(usize, usize, String), Vec<String>> = HashMap::new();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["rank", number, "{"] => {
                    rank = number.parse().unwrap();
                    steps.clear();
                }
                [label, "send", bytes, "to", to, "tag", tag] => {
                    steps.insert(label.trim_end_matches(':').to_owned());
                    let key = (rank, to.parse().unwrap(), (*tag).to_owned());
                    messages.entry(key).or_default().push((*bytes).to_owned());
                }
                [label, "recv", bytes, "from", from, "tag", tag] => {
                    steps.insert(label.trim_end_matches(':').to_owned());
                    let key = (from.parse().unwrap(), rank, (*tag).to_owned());
                    messages.entry(key).or_default().push((*bytes).to_owned());
                }
                [label, "calc", time] => {
                    steps.insert(label.trim_end_matches(':').to_owned());
                    assert!(time.parse::<u64>().is_ok(), "{name}: {line}");
                }
                [one, "requires", other] => {
                    assert!(
                        steps.contains(*one) && steps.contains(*other),
                        "{name}: {line}"
                    );
                    assert_ne!(one, other);
                }
                ["}"] | [""] => {}
                _ => panic!("{name}: {line}"),
            }
        }
        for (key, ends) in messages {
            assert_eq!(ends.len(), 2, "{name}: {key:?}");
            assert_eq!(ends[0], ends[1], "{name}: {key:?}");
        }
    }
}

#[test]
fn a_broadcast_between_two_ranks_reads_as_the_formats_say() {
    let call = Uniform {
        operation: Operation::Bcast,
        bytes: 6,
        root: 0,
    };
    let flat = Algorithm::find(Operation::Bcast, "flat").unwrap();
    let plans = flat.plans(&call, None, &Clusters::one(2), 4);
    assert_eq!(
        goal(&plans, 1, Computing::default()),
        "num_ranks 2\n\nrank 0 {\ns0: send 4b to 1 tag 0\ns1: send 2b to 1 tag 1\n}\n\n\
         rank 1 {\ns0: recv 4b from 0 tag 0\ns1: recv 2b from 0 tag 1\n}\n"
    );
    assert_eq!(
        time_independent(&plans, 1),
        [
            "0 init\n0 isend 1 0 4\n0 isend 1 1 2\n0 wait 0 1 0\n0 wait 0 1 1\n0 finalize\n",
            "1 init\n1 irecv 0 0 4\n1 irecv 0 1 2\n1 wait 0 1 0\n1 wait 0 1 1\n1 finalize\n",
        ]
    );
}

#[test]
fn the_platform_for_simgrid_has_every_host_and_a_route_for_every_two_clusters() {
    let network = grids::scattered(&[0, 1, 0, 2, 0, 1, 0, 1]);
    let (xml, hosts) = simgrid(&network);
    assert_eq!(hosts.lines().count(), network.ranks());
    let listed: Vec<&str> = xml
        .split("radical=\"")
        .skip(1)
        .flat_map(|rest| rest.split('"').next().unwrap().split(','))
        .collect();
    assert_eq!(listed.len(), network.hosts());
    for host in hosts.lines() {
        assert!(listed.contains(&&host[1..]), "{host} in {listed:?}");
    }
    let (clusters, count) = (network.clusters(), |what: &str| xml.matches(what).count());
    let ranks_of = |host: &usize| network.host_of().iter().filter(|&on| on == host).count();
    let most = (0..network.hosts())
        .map(|host| ranks_of(&host))
        .max()
        .unwrap();
    assert!(xml.contains(&format!("core=\"{most}\"")), "{most} in {xml}");
    assert_eq!(count("<zoneRoute "), clusters * (clusters - 1));
    for element in ["zone", "platform"] {
        let opened = count(&format!("<{element} "));
        assert_eq!(opened, count(&format!("</{element}>")), "{element}");
    }
}
