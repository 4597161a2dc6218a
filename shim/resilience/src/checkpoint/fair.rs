//! Fair sharing of links: max-min fair rates, computed by progressive filling (Bertsekas and
//! Gallager, Data Networks, 6.5.2).

/// A flow, or several equal ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// The links that it uses.
    pub links: Vec<usize>,
    /// Its share of a link relative to other flows.
    pub weight: f64,
    /// Its maximum rate.
    pub most: f64,
}

/// Bottleneck of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bottleneck {
    /// A link, by its index.
    Link(usize),
    /// Its own maximum rate.
    Itself,
}

/// The rate of each flow on links of these capacities, and its bottleneck. The rates of all flows
/// rise together, by their weights, until a link is full or they reach their maximum.
pub(crate) fn max_min(capacities: &[f64], flows: &[Flow]) -> Vec<(f64, Bottleneck)> {
    let mut left = capacities.to_vec();
    let mut weight = vec![0.0; capacities.len()];
    for flow in flows {
        for &link in &flow.links {
            weight[link] += flow.weight;
        }
    }
    let mut found = vec![None; flows.len()];
    while let Some(level) = next_level(&left, &weight, flows, &found) {
        for (place, flow) in flows
            .iter()
            .enumerate()
            .filter(|&(_, flow)| flow.weight > 0.0)
        {
            if found[place].is_some() {
                continue;
            }
            let reached = |limit: f64| limit <= level * (1.0 + 1e-12);
            let full = |&&link: &&usize| reached(left[link] / weight[link]);
            found[place] = match flow.links.iter().find(full) {
                Some(&link) => Some((flow.weight * level, Bottleneck::Link(link))),
                None if reached(flow.most / flow.weight) => Some((flow.most, Bottleneck::Itself)),
                None => None,
            };
        }
        (left, weight) = what_is_left(capacities, flows, &found);
    }
    let nothing = (0.0, Bottleneck::Itself);
    found
        .into_iter()
        .map(|one| one.unwrap_or(nothing))
        .collect()
}

/// The rate, for a weight of 1, at which the next link is full or the next flow reaches its
/// maximum.
fn next_level(
    left: &[f64],
    weight: &[f64],
    flows: &[Flow],
    found: &[Option<(f64, Bottleneck)>],
) -> Option<f64> {
    let links = left.iter().zip(weight).filter(|&(_, &weight)| weight > 0.0);
    let links = links.map(|(left, weight)| left / weight);
    let open = flows
        .iter()
        .zip(found)
        .filter(|(flow, found)| found.is_none() && flow.weight > 0.0);
    let own = open.map(|(flow, _)| flow.most / flow.weight);
    links.chain(own).min_by(f64::total_cmp)
}

/// Capacity left by flows with a fixed rate, and the weight of the others, by link.
fn what_is_left(
    capacities: &[f64],
    flows: &[Flow],
    found: &[Option<(f64, Bottleneck)>],
) -> (Vec<f64>, Vec<f64>) {
    let (mut left, mut weight) = (capacities.to_vec(), vec![0.0; capacities.len()]);
    for (flow, found) in flows.iter().zip(found) {
        for &link in &flow.links {
            match found {
                Some((rate, _)) => left[link] = (left[link] - rate).max(0.0),
                None => weight[link] += flow.weight,
            }
        }
    }
    (left, weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(links: &[usize], weight: f64, most: f64) -> Flow {
        Flow {
            links: links.to_vec(),
            weight,
            most,
        }
    }

    fn rates(capacities: &[f64], flows: &[Flow]) -> Vec<f64> {
        max_min(capacities, flows)
            .into_iter()
            .map(|one| one.0)
            .collect()
    }

    #[test]
    fn flows_of_one_link_share_it_by_weight_and_what_one_leaves_goes_to_the_others() {
        let none = f64::INFINITY;
        let flows = [
            flow(&[0], 1.0, none),
            flow(&[0], 2.0, none),
            flow(&[0], 1.0, 10.0),
        ];
        let found = rates(&[100.0], &flows);
        assert_eq!(found, [30.0, 60.0, 10.0]);
    }

    #[test]
    fn a_flow_of_two_links_is_held_back_by_the_fuller_one() {
        // The example of the textbook: one flow over both links, three and one on a single link.
        let none = f64::INFINITY;
        let flows = [
            flow(&[0, 1], 1.0, none),
            flow(&[0], 1.0, none),
            flow(&[0], 1.0, none),
            flow(&[1], 1.0, none),
        ];
        let found = max_min(&[3.0, 5.0], &flows);
        assert_eq!(found[0], (1.0, Bottleneck::Link(0)));
        assert_eq!(found[3], (4.0, Bottleneck::Link(1)));
    }

    #[test]
    fn flows_without_a_weight_and_links_without_a_flow_change_nothing() {
        let flows = [flow(&[0], 0.0, 5.0), flow(&[], 1.0, 7.0)];
        assert_eq!(rates(&[3.0, 4.0], &flows), [0.0, 7.0]);
    }
}
