//! Pages are read twice, one after the other, while ranks continue.

use super::*;

/// Returns the number of false deadlocks in `jobs` jobs; `twice`: pages are read twice.
fn false_alarms(jobs: u64, twice: bool) -> usize {
    let alarms = (0..jobs).filter(|&seed| {
        let random = &mut SplitMix64::new(seed);
        let mut model = Model::random(random, seed % 2 == 0, 2);
        for _ in 0..random.below(60) {
            model.turn(random);
        }
        let mut first = model.look(random);
        if twice {
            model.pause(random);
        }
        let second = match twice {
            true => model.look(random),
            false => first.clone(),
        };
        first.sort_by_key(|page| page.rank);
        let found = verdict(&Job::between(second.len(), &first, second));
        found.kind == VerdictKind::Deadlock && goes_on(&model, &found.stuck, random)
    });
    alarms.count()
}

#[test]
fn what_is_called_a_deadlock_is_one_though_pages_are_read_while_ranks_go_on() {
    assert_eq!(false_alarms(5_000, true), 0);
}

/// Otherwise the test above would prove nothing.
#[test]
fn pages_that_are_read_once_would_cry_wolf() {
    assert!(false_alarms(5_000, false) > 5);
}

/// With one tag: pages do not always show which messages were overtaken by others, and a message
/// that may be in flight is assumed to be.
#[test]
fn a_job_in_which_nobody_can_do_anything_is_called_a_deadlock_with_what_nobody_received() {
    let mut deadlocks = 0;
    for seed in 0..5_000 {
        let random = &mut SplitMix64::new(seed);
        let mut model = Model::random(random, false, 1);
        for _ in 0..random.below(40) {
            model.turn(random);
        }
        // In some jobs, ranks compute for ever after their receives.
        model.run_out(random, seed % 2 == 0);
        model.pause(random);
        let first = model.look(random);
        model.pause(random);
        let second = model.look(random);
        let found = verdict(&Job::between(second.len(), &first, second));
        match model.is_over() {
            true => assert_eq!(found.kind, VerdictKind::Finalizing, "seed {seed}"),
            false if model.computes() => (),
            false => {
                deadlocks += 1;
                assert_eq!(found.kind, VerdictKind::Deadlock, "seed {seed}");
            }
        }
        assert!(!goes_on(&model, &found.stuck, random));
        let mut left: BTreeMap<(Rank, Rank), u64> = BTreeMap::new();
        for &(from, to, _) in &model.messages {
            *left.entry((Rank(from), Rank(to))).or_default() += 1;
        }
        // A message of an active send is reported with its rank.
        for (from, process) in model.processes.iter().enumerate() {
            if let Some(&Call::Send { to, .. }) = process.program.front() {
                left.entry((Rank(from), Rank(to)))
                    .and_modify(|messages| *messages -= 1);
            }
        }
        left.retain(|_, messages| *messages > 0);
        let told = found
            .unreceived
            .iter()
            .map(|it| ((it.from, it.to), it.messages));
        assert_eq!(told.collect::<BTreeMap<_, _>>(), left, "seed {seed}");
    }
    assert!(deadlocks > 500, "{deadlocks}");
}
