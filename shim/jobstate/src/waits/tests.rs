//! Jobs made by hand: the activity of each rank, and the verdict.
use std::collections::BTreeMap;
use treepie_base::Rank;

use super::model::envelope;
use super::*;

const WORLD: Key = 1;

/// Job of ranks that are all still, with a world of all of them.
struct Made {
    ranks: Vec<RankState>,
    moving: Vec<usize>,
    polling: Vec<usize>,
}

fn idle(rank: usize, size: usize) -> RankState {
    let world = Communicator {
        members: Some((0..size).map(Rank).collect()),
        size,
        inter: false,
        done: 0,
        last: Vec::new(),
    };
    RankState {
        rank: Rank(rank),
        host: "here".to_owned(),
        process: 100 + rank as u32,
        life: Life::Runs,
        end: None,
        tick: 10_000_000_000,
        threads: vec![thread(Activity::Outside)],
        more_threads: 0,
        communicators: BTreeMap::from([(WORLD, world)]),
        incomplete: Vec::new(),
        channels: Some(Channels::default()),
        stop: None,
    }
}

fn thread(activity: Activity) -> Thread {
    Thread {
        area: 0,
        number: 7,
        polls: 0,
        procedure: "MPI_X".to_owned(),
        is_poll: false,
        inside: activity != Activity::Outside,
        activity,
        since: 1_000_000_000,
        last_sends: Vec::new(),
        sends: 0,
    }
}

fn waits(operations: Vec<Operation>, until: Until, begun: bool) -> Activity {
    Activity::Waits {
        operations,
        until,
        begun,
    }
}

fn receive(from: usize, tag: i32) -> Activity {
    let operation = Operation::Receive(envelope(Partner::Rank(Rank(from)), tag));
    waits(vec![operation], Until::All, false)
}

fn receive_any() -> Activity {
    let operation = Operation::Receive(envelope(Partner::Any, 1));
    waits(vec![operation], Until::All, false)
}

fn send(to: usize) -> Activity {
    let operation = Operation::Send(envelope(Partner::Rank(Rank(to)), 1));
    waits(vec![operation], Until::All, false)
}

fn collective(number: u64, operation: &str, root: Option<i32>) -> Collective {
    Collective {
        communicator: Some(WORLD),
        number,
        operation: operation.to_owned(),
        root,
    }
}

fn in_collective(number: u64, operation: &str, root: Option<i32>) -> Activity {
    let operation = Operation::Collective(collective(number, operation, root));
    waits(vec![operation], Until::All, false)
}

impl Made {
    fn of(activities: Vec<Activity>) -> Made {
        let size = activities.len();
        let made = activities.into_iter().enumerate().map(|(rank, activity)| {
            let mut state = idle(rank, size);
            state.threads = vec![thread(activity)];
            state
        });
        Made {
            ranks: made.collect(),
            moving: Vec::new(),
            polling: Vec::new(),
        }
    }

    /// Adds a message with this tag from this rank, which was not received.
    fn sent(mut self, from: usize, to: usize, tag: i32) -> Made {
        let rank = &mut self.ranks[from];
        rank.threads[0]
            .last_sends
            .push(envelope(Partner::Rank(Rank(to)), tag));
        rank.threads[0].sends += 1;
        let channels = rank.channels.get_or_insert_default();
        channels.with.entry(Rank(to)).or_default().sent += 1;
        self
    }

    /// Adds a receive that this rank has posted from the other.
    fn posted(mut self, to: usize, from: usize) -> Made {
        let channels = self.ranks[to].channels.get_or_insert_default();
        channels.with.entry(Rank(from)).or_default().posted += 1;
        self
    }

    fn life(mut self, rank: usize, life: Life) -> Made {
        self.ranks[rank].life = life;
        self
    }

    /// Sets the last collective on the world from which the rank has returned; its number gives
    /// their total.
    fn done(mut self, rank: usize, last: Collective) -> Made {
        if let Some(world) = self.ranks[rank].communicators.get_mut(&WORLD) {
            world.done = last.number + 1;
            world.last = vec![last];
        }
        self
    }

    fn verdict(self) -> Verdict {
        let mut before = self.ranks.clone();
        for rank in self.moving {
            before[rank].threads[0].number -= 1;
        }
        let mut after = self.ranks;
        for rank in self.polling {
            after[rank].threads[0].polls += 3;
            after[rank].threads[0].is_poll = true;
        }
        verdict(&Job::between(after.len(), &before, after))
    }
}

#[test]
fn a_ring_of_receives_before_sends_is_a_deadlock_with_its_cycle() {
    let ring = Made::of((0..4).map(|rank| receive((rank + 3) % 4, 2)).collect());
    let found = ring.verdict();
    assert_eq!((found.kind, found.certain), (VerdictKind::Deadlock, true));
    assert_eq!(found.stuck, [0, 1, 2, 3].map(Rank));
    assert_eq!(found.cycle, [0, 3, 2, 1].map(Rank));
    assert_eq!(found.knot, [0, 1, 2, 3].map(Rank));
}

#[test]
fn a_message_with_another_tag_serves_nobody_and_is_named() {
    let found = Made::of(vec![receive(1, 7), receive(0, 6)])
        .sent(0, 1, 5)
        .verdict();
    assert_eq!(found.kind, VerdictKind::Deadlock);
    let left = &found.unreceived;
    assert_eq!(
        (left[0].from, left[0].to, left[0].messages),
        (Rank(0), Rank(1), 1)
    );
    assert_eq!(left[0].last[0].tag, Some(5));
}

#[test]
fn a_message_on_its_way_is_no_deadlock() {
    let job = Made::of(vec![receive(1, 7), receive(0, 6)]);
    assert_eq!(job.sent(0, 1, 6).verdict().kind, VerdictKind::Waits);
    // If more messages were sent than are remembered, one of them may match.
    let mut forgotten = Made::of(vec![receive(1, 7), receive(0, 6)]).sent(0, 1, 5);
    forgotten.ranks[0].threads[0].last_sends.clear();
    assert_eq!(forgotten.verdict().kind, VerdictKind::Waits);
}

#[test]
fn counts_that_are_not_known_prove_nothing() {
    let mut job = Made::of(vec![receive(1, 7), receive(0, 6)]);
    job.ranks[0].channels = None;
    assert_eq!(job.verdict().kind, VerdictKind::Waits);
}

#[test]
fn a_rank_that_left_for_finalize_is_part_of_the_knot() {
    let job = vec![receive(2, 2), receive(0, 2), Activity::Finalizes];
    let found = Made::of(job).verdict();
    assert_eq!(found.kind, VerdictKind::Deadlock);
    assert_eq!(found.knot, [0, 1, 2].map(Rank));
    let job = vec![receive(1, 2), receive(0, 2), Activity::Finalizes];
    let found = Made::of(job).verdict();
    assert_eq!(
        (&found.knot[..], &found.stuck[..]),
        (&[0, 1].map(Rank)[..], &[0, 1, 2].map(Rank)[..])
    );
}

#[test]
fn different_collectives_of_one_number_are_a_mismatch_also_where_one_has_returned() {
    let bcast = in_collective(1, "MPI_Bcast", Some(1));
    let reduce = in_collective(1, "MPI_Reduce", Some(0));
    let found = Made::of(vec![bcast.clone(), reduce]).verdict();
    assert_eq!(found.kind, VerdictKind::Deadlock);
    assert_eq!(found.mismatches[0].sides.len(), 2);
    let barrier = in_collective(2, "MPI_Barrier", None);
    let reduced = collective(1, "MPI_Reduce", Some(0));
    let found = Made::of(vec![bcast, barrier]).done(1, reduced).verdict();
    assert_eq!(found.kind, VerdictKind::Deadlock);
    let sides = &found.mismatches[0].sides;
    assert_eq!((sides[0].passed, sides[1].passed), (false, true));
    assert_eq!(sides[1].call.operation, "MPI_Reduce");
}

#[test]
fn one_collective_with_two_roots_is_a_mismatch() {
    let roots = [0, 1, 0].map(|root| in_collective(0, "MPI_Bcast", Some(root)));
    let found = Made::of(roots.to_vec()).verdict();
    assert_eq!(found.kind, VerdictKind::Deadlock);
    assert_eq!(found.mismatches[0].sides[0].ranks, [0, 2].map(Rank));
    assert_eq!(found.mismatches[0].sides[1].ranks, [1].map(Rank));
}

#[test]
fn a_rank_that_is_in_several_calls_is_named_once() {
    let bcast = in_collective(1, "MPI_Bcast", Some(0));
    let barrier = in_collective(1, "MPI_Barrier", None);
    let mut job = Made::of(vec![bcast.clone(), bcast.clone()]);
    let further = [bcast, barrier].map(thread);
    job.ranks[1].threads.extend(further);
    let mismatch = &job.verdict().mismatches[0];
    let sides: Vec<&[Rank]> = mismatch.sides.iter().map(|side| &side.ranks[..]).collect();
    assert_eq!(sides, [&[0, 1].map(Rank)[..], &[Rank(1)]]);
    assert_eq!(mismatch.ranks(), [0, 1].map(Rank));
}

#[test]
fn all_in_one_collective_are_no_deadlock_and_a_missing_one_is_named() {
    let barrier = || in_collective(0, "MPI_Barrier", None);
    assert_eq!(
        Made::of(vec![barrier(), barrier()]).verdict().kind,
        VerdictKind::Waits
    );
    let found = Made::of(vec![barrier(), Activity::Outside, barrier()]).verdict();
    assert_eq!(
        (found.kind, &found.roots[..]),
        (VerdictKind::Waits, &[1].map(Rank)[..])
    );
    assert_eq!(found.mismatches[0].missing, [1].map(Rank));
    assert!(found.stuck.is_empty());
}

#[test]
fn of_many_begun_receives_the_one_that_lacks_its_message_counts() {
    let request = |from| Operation::Receive(envelope(Partner::Rank(Rank(from)), 3));
    let all = waits(vec![request(0), request(2)], Until::All, true);
    let job = Made::of(vec![Activity::Finalizes, all.clone(), receive(1, 2)]);
    let job = job.sent(0, 1, 3).posted(1, 0).posted(1, 2);
    let found = job.verdict();
    assert_eq!(
        (found.kind, &found.cycle[..]),
        (VerdictKind::Deadlock, &[1, 2].map(Rank)[..])
    );
    // If both were sent, the call is about to end.
    let job = Made::of(vec![Activity::Finalizes, all, receive(1, 2)]);
    let job = job.sent(0, 1, 3).sent(2, 1, 3).posted(1, 0).posted(1, 2);
    assert_eq!(job.verdict().kind, VerdictKind::Waits);
}

#[test]
fn one_of_several_is_enough_where_any_is_waited_for() {
    let request = |from| Operation::Receive(envelope(Partner::Rank(Rank(from)), 3));
    let any = || waits(vec![request(0), request(2)], Until::Any, true);
    let posted = |job: Made| job.posted(1, 0).posted(1, 2);
    let computes = Made::of(vec![Activity::Outside, any(), receive(1, 2)]);
    assert!(posted(computes).verdict().stuck.is_empty());
    let stuck = Made::of(vec![receive(1, 2), any(), receive(1, 2)]);
    assert_eq!(posted(stuck).verdict().stuck, [0, 1, 2].map(Rank));
}

#[test]
fn two_large_sends_head_to_head_are_a_deadlock_and_a_send_that_is_received_is_not() {
    let found = Made::of(vec![send(1), send(0)]).verdict();
    assert_eq!(
        (found.kind, &found.cycle[..]),
        (VerdictKind::Deadlock, &[0, 1].map(Rank)[..])
    );
    assert_eq!(
        Made::of(vec![send(1), receive(0, 1)]).verdict().kind,
        VerdictKind::Waits
    );
}

#[test]
fn a_knot_of_receives_from_anybody_needs_all_of_them() {
    let knot = || vec![receive_any(), receive_any(), receive_any()];
    let found = Made::of(knot()).verdict();
    assert_eq!(
        (found.kind, &found.knot[..]),
        (VerdictKind::Deadlock, &[0, 1, 2].map(Rank)[..])
    );
    let mut one_computes = knot();
    one_computes[2] = Activity::Outside;
    assert_eq!(Made::of(one_computes).verdict().kind, VerdictKind::Waits);
}

#[test]
fn who_waits_for_a_process_that_is_gone_or_stopped_is_stuck_and_that_is_no_deadlock() {
    for (life, kind) in [
        (Life::Gone, VerdictKind::Gone),
        (Life::Stopped, VerdictKind::Stopped),
    ] {
        let job = Made::of(vec![receive(1, 1), Activity::Outside, receive(0, 1)]);
        let found = job.life(1, life).verdict();
        assert_eq!((found.kind, &found.roots[..]), (kind, &[1].map(Rank)[..]));
        assert_eq!(found.stuck, [0, 1, 2].map(Rank));
    }
}

#[test]
fn a_rank_that_moved_is_not_stuck_and_neither_is_who_waits_for_it() {
    let mut job = Made::of(vec![receive(1, 1), receive(0, 1), receive(1, 1)]);
    job.moving = vec![1];
    let found = job.verdict();
    assert_eq!(found.kind, VerdictKind::Moves);
    assert!(found.stuck.is_empty());
}

#[test]
fn ranks_that_poll_for_each_other_are_probably_in_a_deadlock() {
    let request = |from| vec![Operation::Receive(envelope(Partner::Rank(Rank(from)), 3))];
    let polls = |from| waits(request(from), Until::All, true);
    let mut job = Made::of(vec![polls(1), polls(0)]).posted(0, 1).posted(1, 0);
    job.polling = vec![0, 1];
    let found = job.verdict();
    assert_eq!((found.kind, found.certain), (VerdictKind::Deadlock, false));
}

#[test]
fn a_second_thread_that_computes_may_do_what_the_first_waits_for() {
    let mut job = Made::of(vec![receive(1, 1), receive(0, 1)]);
    job.ranks[0].threads.push(Thread {
        area: 1,
        ..thread(Activity::Outside)
    });
    assert!(job.verdict().stuck.is_empty());
    let mut job = Made::of(vec![receive(1, 1), receive(0, 1)]);
    job.ranks[0].threads.push(thread(receive(1, 2)));
    assert_eq!(job.verdict().kind, VerdictKind::Deadlock);
}

#[test]
fn ranks_that_are_not_known_may_do_anything() {
    let job = Made::of(vec![receive(1, 1), receive(2, 1), receive(0, 1)]);
    let ranks = job.ranks;
    let found = verdict(&Job::between(3, &ranks, ranks[..2].to_vec()));
    assert_eq!(
        (found.kind, &found.unknown[..]),
        (VerdictKind::Waits, &[2].map(Rank)[..])
    );
}

#[test]
fn pages_of_ranks_that_the_job_cannot_have_are_left_out() {
    let made = Made::of(vec![receive(1, 1), receive(2, 1), receive(0, 1)]);
    let ranks = made.ranks;
    // For example if the pages of a run do not agree on its size.
    for job in [
        Job::between(2, &ranks, ranks.clone()),
        Job::of_the_dead(2, ranks.clone(), 500_000_000),
    ] {
        assert_eq!(job.ranks.len(), 2);
        assert!(verdict(&job).stuck.iter().all(|rank| rank.0 < 2));
    }
}

#[test]
fn counts_of_any_size_are_added_up() {
    let mut job = Made::of(vec![receive_any(), receive_any(), receive_any()]);
    for rank in &mut job.ranks {
        let most = Channel {
            sent: u64::MAX,
            posted: u64::MAX,
            ..Channel::default()
        };
        rank.channels = Some(Channels {
            with: (0..3).map(|partner| (Rank(partner), most)).collect(),
            posted_any: u64::MAX,
        });
    }
    assert_eq!(job.verdict().unreceived, []);
}

#[test]
fn of_a_dead_job_who_had_no_signal_went_first_and_otherwise_all_counts_as_it_was() {
    let mut ranks = Made::of(vec![receive(1, 1), Activity::Outside]).ranks;
    ranks[0].end = Some(End::Signal(15));
    let found = verdict(&Job::of_the_dead(2, ranks, 500_000_000));
    assert_eq!(
        (found.kind, &found.roots[..]),
        (VerdictKind::Gone, &[1].map(Rank)[..])
    );
    let mut ranks = Made::of(vec![receive(1, 1), receive(0, 1)]).ranks;
    for rank in &mut ranks {
        rank.end = Some(End::Signal(15));
    }
    let found = verdict(&Job::of_the_dead(2, ranks, 500_000_000));
    assert_eq!(found.kind, VerdictKind::Deadlock);
}

#[test]
fn a_thousand_ranks_are_answered_at_once() {
    let size = 1024;
    let ring = (0..size)
        .map(|rank| receive((rank + 1) % size, 2))
        .collect();
    let found = Made::of(ring).verdict();
    assert_eq!(
        (found.kind, found.cycle.len()),
        (VerdictKind::Deadlock, size)
    );
}

#[test]
fn communicators_are_called_by_their_members_in_order_and_by_which_they_are() {
    let key = communicator_key(&[0, 1, 2], 1);
    assert_eq!(key, communicator_key(&[0, 1, 2], 1));
    assert_ne!(key, communicator_key(&[0, 2, 1], 1));
    assert_ne!(key, communicator_key(&[0, 1, 2], 2));
}
