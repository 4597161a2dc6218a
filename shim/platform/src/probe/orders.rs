//! Orders of rank 0 to the others, and their answers.

use std::collections::VecDeque;

use super::task::{Answer, Order, Task};
use crate::probe::messenger::{Messenger, receive_value, send_value};
use crate::probe::perform::perform_all;

/// Runs one round: all get their orders, rank 0 performs its own part, and all have answered before
/// the next round begins.
pub(crate) fn run_task(
    messenger: &mut impl Messenger,
    task: &Task,
    pairs: &[Pair],
) -> Vec<Option<Answer>> {
    run_all(messenger, task, &[pairs]).concat()
}

/// Runs rounds that a pair begins as soon as both have completed the previous one: no pair waits
/// for rank 0, which may be far. No deadlock is possible, since all perform their rounds in the
/// same order.
pub(crate) fn run_all(
    messenger: &mut impl Messenger,
    task: &Task,
    rounds: &[impl AsRef<[Pair]>],
) -> Vec<Vec<Option<Answer>>> {
    let ranks = messenger.ranks();
    let mut orders: Vec<Vec<Order>> = vec![Vec::new(); ranks];
    for &(measuring, mirroring) in rounds.iter().flat_map(AsRef::as_ref) {
        for (rank, partner, measures) in
            [(mirroring, measuring, false), (measuring, mirroring, true)]
        {
            orders[rank].push(Order {
                task: task.clone(),
                partner,
                measures,
            });
        }
    }
    let mut answers = run_orders(messenger, &orders);
    let mut answer = |measuring: usize| answers[measuring].pop_front();
    rounds
        .iter()
        .map(|pairs| pairs.as_ref().iter().map(|pair| answer(pair.0)).collect())
        .collect()
}

/// Sends all ranks their orders, performs those of rank 0, and returns all answers by rank.
pub(crate) fn run_orders(
    messenger: &mut impl Messenger,
    orders: &[Vec<Order>],
) -> Vec<VecDeque<Answer>> {
    let ranks = messenger.ranks();
    let is_told = |rank: &usize| !orders[*rank].is_empty();
    for rank in (1..ranks).filter(is_told) {
        send_value(messenger, rank, &orders[rank]);
    }
    let own = perform_all(messenger, &orders[0]);
    let mut answers: Vec<VecDeque<Answer>> = vec![VecDeque::new(); ranks];
    answers[0] = own.into();
    for (rank, orders) in orders.iter().enumerate().skip(1) {
        if orders.iter().any(|order| order.measures) {
            answers[rank] = receive_value(messenger, rank).unwrap_or_default();
        }
    }
    answers
}

/// Lets the members of an exchange perform it simultaneously; returns the seconds of each
/// repetition, those of the slowest member.
pub(super) fn run_exchange(
    messenger: &mut impl Messenger,
    members: &[usize],
    bytes: u64,
    times: usize,
) -> Vec<f64> {
    let mut orders: Vec<Vec<Order>> = vec![Vec::new(); messenger.ranks()];
    for &rank in members {
        orders[rank].push(Order {
            task: Task::TimedExchange {
                members: members.to_vec(),
                bytes,
                times,
            },
            partner: rank,
            measures: true,
        });
    }
    let answers = run_orders(messenger, &orders).into_iter().flatten();
    let mut slowest = vec![0.0_f64; times];
    for all in answers.filter_map(Answer::times) {
        for (slowest, seconds) in slowest.iter_mut().zip(all) {
            *slowest = slowest.max(seconds);
        }
    }
    slowest
}

/// Sends the end of the measurement to all others.
pub(crate) fn end(messenger: &mut impl Messenger) {
    for rank in 1..messenger.ranks() {
        send_value(messenger, rank, &Vec::<Order>::new());
    }
}

/// One measurement: the measuring and the echoing rank.
pub(crate) type Pair = (usize, usize);
