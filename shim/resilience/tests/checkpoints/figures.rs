//! Coti's figures 15 to 19 and 22 to 24 by shape: her text gives no seconds. Each test prints its
//! results, for `scripts/bench checkpoints`.

use treepie_base::Cluster;
use treepie_platform::Platform;
use treepie_resilience::checkpoint::{
    Experiment, Outcome, Pattern, Program, Protocol, Run, Servers, run,
};

use crate::platforms::{clusters, ethernet, experiment, link, sites};

/// A job of this experiment with waves at an interval.
fn waves(experiment: &Experiment<'_>, protocol: Protocol, interval: f64) -> (Outcome, Run) {
    let outcome = experiment.outcome(protocol).unwrap();
    let run = run(outcome.work, &outcome.course, interval).unwrap();
    (outcome, run)
}

fn tell(figure: &str, what: &str, runs: &[Run]) {
    let one = |run: &Run| format!("{:.1} s ({})", run.seconds, run.waves);
    let all: Vec<String> = runs.iter().map(one).collect();
    println!("figure {figure}: {what}: {} (waves)", all.join(", "));
}

/// Share of the variance of run times that a linear fit over the number of waves explains, and its
/// slope.
fn line(runs: &[Run]) -> (f64, f64) {
    let count = runs.len() as f64;
    let mean = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / count;
    let (waves, seconds) = (mean(&|run| run.waves as f64), mean(&|run| run.seconds));
    let along = |run: &Run| run.waves as f64 - waves;
    let up = |run: &Run| run.seconds - seconds;
    let (xx, xy, yy) = (
        mean(&|run| along(run).powi(2)),
        mean(&|run| along(run) * up(run)),
        mean(&|run| up(run).powi(2)),
    );
    (xy * xy / (xx * yy), xy / xx)
}

// The work, which the text does not give, is chosen so that 529 ranks alone cross 360 s: the test
// shows that waves get longer with ranks, and the effect of one additional wave.
#[test]
fn figure_15_one_more_wave_and_the_strongest_increase_at_529_ranks() {
    let found: Vec<Run> = [100, 144, 256, 400, 529]
        .into_iter()
        .map(|ranks| {
            let platform = sites(ranks);
            let mut experiment = experiment(&platform, Pattern::Bt, 332.0);
            experiment.servers = Servers::InEachCluster(4);
            waves(&experiment, Protocol::Blocking, 60.0).1
        })
        .collect();
    tell("15", "blocking, at 100, 144, 256, 400, 529 ranks", &found);
    let waves: Vec<u64> = found.iter().map(|run| run.waves).collect();
    assert_eq!(waves, [5, 5, 5, 5, 6], "{found:?}");
    let rises: Vec<f64> = found
        .windows(2)
        .map(|pair| pair[1].seconds - pair[0].seconds)
        .collect();
    let (last, others) = rises.split_last().unwrap();
    assert!(others.iter().all(|rise| rise < last), "{rises:?}");
}

#[test]
fn figure_16_the_time_of_400_ranks_is_linear_in_the_number_of_blocking_waves() {
    let platform = sites(400);
    let mut experiment = experiment(&platform, Pattern::Bt, 250.0);
    experiment.servers = Servers::InEachCluster(4);
    let outcome = experiment.outcome(Protocol::Blocking).unwrap();
    let runs = [15.0, 20.0, 30.0, 45.0, 60.0, 120.0]
        .map(|interval| run(outcome.work, &outcome.course, interval).unwrap());
    let (explained, slope) = line(&runs);
    tell("16", "blocking, every 15, 20, 30, 45, 60, 120 s", &runs);
    println!("figure 16: {slope:.2} s a wave, a line explains {explained:.4}");
    assert!(explained > 0.98, "{explained}");
    assert!((slope / outcome.lost() - 1.0).abs() < 1e-6, "{slope}");
}

#[test]
fn figure_17_more_servers_shorten_blocking_runs_until_disks_are_the_limit_and_others_not() {
    let platform = ethernet(64);
    let of = |protocol| {
        [1, 2, 4, 8, 16, 32].map(|servers| {
            let mut experiment = experiment(&platform, Pattern::Bt, 250.0);
            experiment.servers = Servers::InEachCluster(servers);
            waves(&experiment, protocol, 30.0).1
        })
    };
    let blocking = of(Protocol::Blocking);
    tell("17", "blocking, 1, 2, 4, 8, 16, 32 servers", &blocking);
    for pair in blocking[..5].windows(2) {
        assert!(pair[1].seconds < pair[0].seconds, "{blocking:?}");
        assert!(pair[1].waves <= pair[0].waves, "{blocking:?}");
    }
    assert!(blocking[0].waves > 2 * blocking[4].waves, "{blocking:?}");
    assert_eq!(blocking[4].waves, blocking[5].waves);
    assert!(blocking[4].seconds - blocking[5].seconds < 1e-6 * blocking[5].seconds);
    let others = of(Protocol::NonBlocking);
    tell("17", "non-blocking, the same servers", &others);
    for run in others {
        assert!(
            (run.seconds / others[0].seconds - 1.0).abs() < 1e-3,
            "{others:?}"
        );
        assert_eq!(run.waves, others[0].waves);
    }
}

/// 144 hosts on Gigabit Ethernet: one rank on each, and a second one if there are more ranks.
fn dual_hosts(ranks: usize) -> Platform {
    let mut contents = clusters(&[ranks.min(144)], 1, |_| link(880.0, 0.05));
    for rank in 144..ranks {
        contents.hosts[rank - 144].ranks.push(rank);
    }
    Platform::new(contents).unwrap()
}

#[test]
fn figure_18_waves_cost_alike_for_all_numbers_of_ranks_and_shared_cards_are_what_slows_down() {
    let of = |ranks: usize, interval: f64| {
        let platform = dual_hosts(ranks);
        let mut experiment = experiment(&platform, Pattern::Bt, 250.0);
        experiment.servers = Servers::InEachCluster(9);
        let (outcome, blocking) = waves(&experiment, Protocol::Blocking, interval);
        let (_, other) = waves(&experiment, Protocol::NonBlocking, interval);
        let messages = outcome.plain - 250.0;
        (
            messages,
            blocking.seconds / outcome.plain,
            other.seconds / outcome.plain,
        )
    };
    let counts = [64, 100, 121, 144, 169, 196, 256];
    for ranks in counts {
        let [extreme, usual, rare] = [10.0, 60.0, 120.0].map(|interval| of(ranks, interval));
        println!(
            "figure 18: {ranks} ranks, messages {:.2} s; blocking every 10, 60, 120 s: {:.3}, \
             {:.3}, {:.3} of the run without; non-blocking {:.3}, {:.3}, {:.3}",
            usual.0, extreme.1, usual.1, rare.1, extreme.2, usual.2, rare.2
        );
        // No checkpoint is fastest, 10 s is extreme, and a longer interval closes the gap.
        assert!(
            1.0 < rare.1 && rare.1 < usual.1 && usual.1 < 1.12,
            "{usual:?}"
        );
        assert!(extreme.1 > 1.2, "{extreme:?}");
        assert!(extreme.1 - extreme.2 > usual.1 - usual.2);
        assert!(usual.1 - usual.2 > rare.1 - rare.2);
    }
    // Messages get shorter with more ranks, until two ranks share a card.
    let messages = counts.map(|ranks| of(ranks, 60.0).0);
    assert!(
        messages[..4].is_sorted_by(|one, next| one > next),
        "{messages:?}"
    );
    assert!(messages[4] > 1.3 * messages[3], "{messages:?}");
}

/// 36 hosts on Myrinet: 2 Gbit/s and 10 us, with four servers; jobs `times` as long as class C.
fn myrinet(pattern: Pattern, work: f64, times: u64) -> impl Fn(Protocol, f64) -> Run {
    let platform = Platform::new(clusters(&[64], 2, |_| link(2000.0, 0.01))).unwrap();
    let outcome = move |protocol| {
        let mut experiment = experiment(&platform, pattern, work);
        experiment.program.iterations *= times;
        experiment.servers = Servers::InEachCluster(4);
        experiment.outcome(protocol).unwrap()
    };
    move |protocol, interval| {
        let found = outcome(protocol);
        run(found.work, &found.course, interval).unwrap()
    }
}

#[test]
fn figure_19_blocking_is_better_for_cg_and_non_blocking_for_bt_at_short_intervals() {
    // Seconds of computation of one run: CG has 1,950 short iterations, BT 200 long ones.
    let cg = myrinet(Pattern::Cg, 25.0, 400);
    let bt = myrinet(Pattern::Bt, 250.0, 40);
    // Blocking waves have a cost of their own; others have none.
    for (name, job) in [("CG", &cg as &dyn Fn(Protocol, f64) -> Run), ("BT", &bt)] {
        let runs = |protocol| [15.0, 30.0, 60.0, 600.0].map(|interval| job(protocol, interval));
        for protocol in [Protocol::Blocking, Protocol::NonBlocking] {
            let what = format!("{name}, {protocol}, every 15, 30, 60, 600 s");
            tell("19", &what, &runs(protocol));
        }
        let (explained, slope) = line(&runs(Protocol::Blocking));
        assert!(explained > 0.98 && slope > 1.0, "{explained} {slope}");
        let (_, other) = line(&runs(Protocol::NonBlocking));
        assert!(other.abs() < 0.02 * slope, "{other} {slope}");
    }
    let faster = |job: &dyn Fn(Protocol, f64) -> Run, interval| {
        job(Protocol::Blocking, interval).seconds < job(Protocol::NonBlocking, interval).seconds
    };
    // The daemon delays each of CG's many messages, with or without waves.
    assert!(faster(&cg, 1_200.0));
    assert!(!faster(&bt, 1_200.0));
    assert!(!faster(&bt, 30.0));
}

/// Run time with this number of event loggers.
fn logged(platform: &Platform, program: Program, service: f64, loggers: usize) -> f64 {
    let mut experiment = experiment(platform, program.pattern, 1.0);
    experiment.program = program;
    experiment.costs.logger = service;
    experiment.costs.loggers = loggers;
    experiment.outcome(Protocol::Logging).unwrap().work
}

/// A job of short iterations whose ranks receive about `rate` messages per second.
fn receiving(rate: f64, bytes: u64) -> Program {
    Program {
        pattern: Pattern::Bt,
        iterations: 1_000,
        bytes,
        compute: 6.0 / rate,
    }
}

#[test]
fn figures_22_and_23_one_logger_serves_49_clients_and_8_serve_144() {
    // r s = 0.056 for figure 23's job, derived from its knee; figure 22's receives at most 0.37
    // times as much. The test shows that the knee is where run times of whole jobs have it.
    let (rate, service) = (100.0, 0.056 / 100.0);
    let small = ethernet(49);
    let one = logged(&small, receiving(0.35 * rate, 1_000), service, 1);
    println!("figure 22: 49 clients, 1 logger: {one:.1} s, and with 2, 4, 8");
    for loggers in [2, 4, 8] {
        let more = logged(&small, receiving(0.35 * rate, 1_000), service, loggers);
        assert!((more / one - 1.0).abs() < 1e-3, "{loggers}: {more} {one}");
    }
    let large = ethernet(144);
    let times = [1, 2, 4, 8, 9, 12, 16]
        .map(|loggers| logged(&large, receiving(rate, 1_000), service, loggers));
    println!("figure 23: 144 clients, 1, 2, 4, 8, 9, 12, 16 loggers: {times:.1?} s");
    for pair in times[..4].windows(2) {
        assert!(pair[1] < 0.6 * pair[0], "{times:?}");
    }
    for more in &times[4..] {
        assert!((more / times[3] - 1.0).abs() < 0.02, "{times:?}");
    }
}

#[test]
fn figure_24_a_logger_at_each_site_slows_down_less_from_the_first_rank_that_moves() {
    let times = |moved: usize| {
        let sizes: Vec<usize> = [25 - moved, moved]
            .into_iter()
            .filter(|&size| size > 0)
            .collect();
        let mut contents = clusters(&sizes, 1, |_| link(930.4, 0.06));
        if moved > 0 {
            contents
                .links
                .insert((Cluster(0), Cluster(1)), link(42.4, 8.6));
        }
        let platform = Platform::new(contents).unwrap();
        // Class A: 64^3 points.
        let program = Program {
            bytes: 2 * 5 * 8 * 64 * 64 / 5,
            ..receiving(100.0, 0)
        };
        [1, 2].map(|loggers| logged(&platform, program, 20e-6, loggers))
    };
    let at_home = times(0);
    assert_eq!(at_home[0], at_home[1]);
    let mut before = at_home;
    for moved in [1, 4, 8, 12] {
        let [one, two] = times(moved);
        println!("figure 24: {moved} of 25 ranks moved, one logger {one:.2} s, two {two:.2} s");
        assert!(two < one, "{moved}: {two} {one}");
        assert!(one > at_home[0] && two > at_home[1]);
        assert!(
            moved == 1 || one >= 0.99 * before[0],
            "{moved}: {one} {before:?}"
        );
        before = [one, two];
    }
}
