//! Time-independent traces with windows, in a separate order.

use std::collections::HashMap;

use treepie_collective::read::simulate::{Bar, Doing};
use treepie_collective::{Action, Plan};

/// Departure and arrival times of the messages of a simulation, by sender, receiver and tag.
pub struct Times {
    left: HashMap<(usize, usize, u32), f64>,
    came: HashMap<(usize, usize, u32), f64>,
}

impl Times {
    pub fn new(bars: &[Bar]) -> Self {
        let (mut left, mut came) = (HashMap::new(), HashMap::new());
        let (mut sent, mut received) = (HashMap::<_, u32>::new(), HashMap::<_, u32>::new());
        for bar in bars {
            let peer = bar.peer.unwrap_or(0);
            let add = |all: &mut HashMap<_, f64>, tags: &mut HashMap<_, u32>, from, to| {
                let tag = tags.entry((from, to)).or_default();
                all.insert((from, to, *tag), bar.end);
                *tag += 1;
            };
            match bar.doing {
                Doing::Send => add(&mut left, &mut sent, bar.rank, peer),
                Doing::Receive => add(&mut came, &mut received, peer, bar.rank),
                Doing::Reduce | Doing::Copy => {}
            }
        }
        Times { left, came }
    }

    /// The steps of a rank's plan in the order in which they began: sends by their departure.
    pub fn order(&self, rank: usize, plan: &Plan) -> Vec<usize> {
        let mut done: Vec<f64> = Vec::with_capacity(plan.steps().len());
        let mut begun: Vec<(f64, usize)> = Vec::with_capacity(plan.steps().len());
        for (place, step) in plan.steps().iter().enumerate() {
            let needed = plan.needs(step).iter().map(|&needed| done[needed as usize]);
            let ready = needed.fold(0.0, f64::max);
            let (begins, ends) = match step.action {
                Action::Send { to, tag, .. } => {
                    let left = self.left.get(&(rank, to, tag)).copied().unwrap_or(ready);
                    (left.max(ready), left.max(ready))
                }
                Action::Receive { from, tag, .. } => {
                    let came = self.came.get(&(from, rank, tag)).copied().unwrap_or(ready);
                    (ready, came.max(ready))
                }
                Action::Reduce { .. } | Action::Copy { .. } => (ready, ready),
            };
            begun.push((begins, place));
            done.push(ends);
        }
        begun.sort_by(|one, other| one.0.total_cmp(&other.0));
        begun.into_iter().map(|(_, place)| place).collect()
    }
}

/// The steps of a plan in the listed order, with receives that wait for nothing first.
pub fn listed(plan: &Plan) -> Vec<usize> {
    let mut all: Vec<usize> = (0..plan.steps().len()).collect();
    all.sort_by_key(|&place| {
        let step = &plan.steps()[place];
        !(matches!(step.action, Action::Receive { .. }) && plan.needs(step).is_empty())
    });
    all
}

/// The trace of a rank whose steps begin in this order, with the given maximum number of messages
/// in flight on the links to another rank.
pub fn trace(rank: usize, plan: &Plan, order: &[usize], window: impl Fn(usize) -> usize) -> String {
    let mut text = format!("{rank} init\n");
    let mut waited = vec![false; plan.steps().len()];
    let mut wait = |place: usize| match plan.steps()[place].action {
        // A message is waited for once.
        _ if std::mem::replace(&mut waited[place], true) => String::new(),
        Action::Send { to, tag, .. } => format!("{rank} wait {rank} {to} {tag}\n"),
        Action::Receive { from, tag, .. } => format!("{rank} wait {from} {rank} {tag}\n"),
        Action::Reduce { .. } | Action::Copy { .. } => String::new(),
    };
    // Levels of links have different windows, or equal ones.
    let mut under_way: HashMap<usize, Vec<usize>> = HashMap::new();
    for &place in order {
        let step = &plan.steps()[place];
        text.extend(plan.needs(step).iter().map(|&needed| wait(needed as usize)));
        let action = match step.action {
            Action::Send { to, tag, range } => {
                let window = window(to);
                let sent = under_way.entry(window).or_default();
                text.extend(
                    sent.len()
                        .checked_sub(window)
                        .map(|first| wait(sent[first])),
                );
                sent.push(place);
                format!("{rank} isend {to} {tag} {}\n", range.length)
            }
            Action::Receive { from, tag, range } => {
                format!("{rank} irecv {from} {tag} {}\n", range.length)
            }
            Action::Reduce { left: range, .. } | Action::Copy { from: range, .. } => {
                format!("{rank} compute {}\n", range.length)
            }
        };
        text += &action;
    }
    text.extend((0..plan.steps().len()).map(wait));
    text + &format!("{rank} finalize\n")
}
