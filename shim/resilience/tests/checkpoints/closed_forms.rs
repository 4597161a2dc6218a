//! Closed forms and their test vectors, compared with the simulation.

use treepie_base::Cluster;
use treepie_platform::Platform;
use treepie_resilience::checkpoint::{
    Coordination, Course, Limit, Loggers, NeverEnds, Pattern, Piece, Protocol, Servers,
    message_count, run,
};

use crate::platforms::{BETWEEN, close, clusters, ethernet, experiment, link, same, sites};

/// `T = T0 + W t` with `W = floor(T / tau)`, counted up from no wave at all.
fn least_fixed_point(work: f64, wave: f64, interval: f64) -> (f64, u64) {
    let mut waves = 0;
    loop {
        let seconds = work + waves as f64 * wave;
        let due = (seconds / interval).floor() as u64;
        if due == waves {
            return (seconds, waves);
        }
        waves = due;
    }
}

#[test]
fn run_times_of_250_s_with_waves_of_5_s_are_the_least_fixed_points() {
    let expected = [
        (10.0, 495.0, 49, 500.0),
        (20.0, 330.0, 16, 1000.0 / 3.0),
        (30.0, 295.0, 9, 300.0),
        (60.0, 270.0, 4, 250.0 / (1.0 - 5.0 / 60.0)),
        (120.0, 260.0, 2, 250.0 / (1.0 - 5.0 / 120.0)),
    ];
    for (interval, seconds, waves, smooth) in expected {
        let found = run(250.0, &Course::blocking(5.0), interval).unwrap();
        same(found.seconds, seconds);
        assert_eq!(found.waves, waves);
        // The smooth form is off by at most one wave.
        assert!((smooth - found.seconds).abs() <= 5.0, "{smooth} {found:?}");
    }
}

#[test]
fn any_run_with_blocking_waves_is_the_least_fixed_point() {
    for work in [3.0, 59.9, 60.0, 250.0, 1234.5] {
        for wave in [0.25, 1.0, 7.5, 29.0] {
            for interval in [30.0, 60.0, 61.7, 300.0] {
                let found = run(work, &Course::blocking(wave), interval).unwrap();
                let (seconds, waves) = least_fixed_point(work, wave, interval);
                same(found.seconds, seconds);
                assert_eq!(found.waves, waves, "{work} {wave} {interval}");
            }
        }
    }
}

#[test]
fn a_job_whose_interval_is_not_longer_than_a_blocking_wave_never_ends() {
    for interval in [5.0, 4.0, 1e-3] {
        let expected = NeverEnds {
            interval,
            wave: 5.0,
        };
        assert_eq!(run(250.0, &Course::blocking(5.0), interval), Err(expected));
    }
    // Unless it ends before the first wave.
    assert!(run(3.0, &Course::blocking(5.0), 4.0).is_ok());
}

#[test]
fn a_wave_beside_which_the_job_goes_on_delays_the_next_one_and_not_the_job() {
    let course = Course {
        pieces: vec![Piece {
            seconds: 40.0,
            speed: 0.5,
        }],
    };
    // From 30 s on, waves are back to back: 30 + 220 / 0.5 seconds, 11 waves of 40 s.
    let found = run(250.0, &course, 30.0).unwrap();
    same(found.seconds, 470.0);
    assert_eq!(found.waves, 12);
    // A job that ends within a wave does not wait for it.
    let found = run(40.0, &course, 30.0).unwrap();
    same(found.seconds, 50.0);
    assert_eq!(found.waves, 1);
}

#[test]
fn figure_15_five_waves_of_60_s_mean_300_to_360_s_and_six_360_to_420_s() {
    for tenths in 100..4500 {
        let found = run(f64::from(tenths) / 10.0, &Course::blocking(3.0), 60.0).unwrap();
        assert_eq!(found.waves, (found.seconds / 60.0 + 1e-9).floor() as u64);
    }
}

#[test]
fn images_of_64_ranks_are_stored_in_the_larger_of_local_and_shared_times() {
    let platform = ethernet(64);
    let expected = [
        (1, 23.27, Limit::ServerCard),
        (2, 11.64, Limit::ServerCard),
        (4, 5.82, Limit::ServerCard),
        (8, 2.91, Limit::ServerCard),
        (16, 2.0, Limit::LocalDisk),
    ];
    for (servers, rounded, limit) in expected {
        let mut experiment = experiment(&platform, Pattern::Bt, 250.0);
        experiment.costs.image = 40e6;
        experiment.servers = Servers::InEachCluster(servers);
        let found = experiment.outcome(Protocol::Blocking).unwrap();
        // The gap of a long message includes its start-up time.
        let shared = 64.0 * 40e6 / (servers as f64 * 110e6);
        close(found.save, f64::max(2.0 * 40e6 / 40e6, shared), 2e-4);
        assert!((found.save - rounded).abs() < 0.006, "{}", found.save);
        assert_eq!(found.limit, Some(limit));
        assert_eq!(found.bytes, 64.0 * 40e6);
        same(found.lost(), found.coordination + found.save);
    }
}

#[test]
fn a_server_s_disk_is_the_limit_where_it_is_slower_than_its_card() {
    let platform = ethernet(64);
    let mut experiment = experiment(&platform, Pattern::Bt, 250.0);
    experiment.costs.image = 40e6;
    experiment.costs.server_disk = 40e6;
    let found = experiment.outcome(Protocol::Blocking).unwrap();
    same(found.save, 64.0);
    assert_eq!(found.limit, Some(Limit::ServerDisk));
}

#[test]
fn an_image_of_100_mb_takes_29_7_s_between_toulouse_and_lille_and_0_85_s_inside() {
    let sizes = [2, 2];
    let mut contents = clusters(&sizes, 2, |_| unreachable!("one host each"));
    contents
        .links
        .insert((Cluster(0), Cluster(1)), link(26.97, 13.04));
    let platform = Platform::new(contents).unwrap();
    let save = |host: &str| {
        let mut experiment = experiment(&platform, Pattern::Bt, 250.0);
        experiment.costs.image = 100e6;
        experiment.costs.local_disk = f64::INFINITY;
        experiment.costs.card = 938e6 / 8.0;
        experiment.servers = Servers::Hosts(vec![host.to_owned()]);
        experiment.outcome(Protocol::Blocking).unwrap()
    };
    // Two images share the connection's link, the only one between the two.
    let found = save("n0");
    close(found.save, 2.0 * 100e6 * 8.0 / 26.97e6, 1e-4);
    assert!((found.save / 2.0 - 29.7).abs() < 0.05, "{}", found.save);

    let inside = Platform::new(clusters(&[4], 2, |_| link(938.0, 0.04))).unwrap();
    let mut local = experiment(&inside, Pattern::Bt, 250.0);
    local.costs.image = 100e6;
    local.costs.local_disk = f64::INFINITY;
    local.servers = Servers::InEachCluster(4);
    let found = local.outcome(Protocol::Blocking).unwrap();
    // Two ranks share a card.
    assert!((found.save / 2.0 - 0.85).abs() < 0.005, "{}", found.save);
}

#[test]
fn coordination_takes_the_messages_that_the_cost_model_says() {
    let expected = [
        (64, 8, 4_032, 168),
        (529, 6, 279_312, 1_076),
        (1_024, 32, 1_047_552, 2_976),
    ];
    for (ranks, clusters, markers, counts) in expected {
        assert_eq!(
            message_count(Coordination::Markers, ranks, clusters),
            markers
        );
        assert_eq!(
            message_count(Coordination::ByCluster, ranks, clusters),
            counts
        );
    }
    let platform = sites(64);
    let experiment = experiment(&platform, Pattern::Bt, 250.0);
    let messages = |protocol| experiment.outcome(protocol).unwrap().messages;
    assert_eq!(messages(Protocol::Blocking), 64 * 63);
    // Once for the cut, and once for the release.
    assert_eq!(messages(Protocol::ByCluster), 2 * (2 * 58 + 30));
    assert_eq!(messages(Protocol::Hybrid), 2 * 2 * 58);
    assert_eq!(messages(Protocol::Logging), 0);
}

#[test]
fn the_cut_of_six_sites_takes_two_exchanges_of_the_slowest_pair_and_inside_sites_none() {
    let platform = sites(64);
    let experiment = experiment(&platform, Pattern::Bt, 250.0);
    let seconds = |protocol| experiment.outcome(protocol).unwrap().coordination;
    assert!((26.08e-3..28e-3).contains(&seconds(Protocol::ByCluster)));
    assert!((13.04e-3..15e-3).contains(&seconds(Protocol::Blocking)));
    assert!(seconds(Protocol::Hybrid) < 1e-3);
}

#[test]
fn a_non_blocking_wave_costs_no_time_where_its_links_have_room_and_time_where_they_have_not() {
    let platform = ethernet(64);
    let lost = |bytes: u64, compute: f64| {
        let mut experiment = experiment(&platform, Pattern::Bt, 250.0);
        experiment.program.bytes = bytes;
        experiment.program.compute = compute;
        experiment.costs.image = 40e6;
        let found = experiment.outcome(Protocol::NonBlocking).unwrap();
        // All images pass the one server, regardless of other traffic.
        assert!(found.save >= 64.0 * 40e6 / 110e6, "{}", found.save);
        found.lost() / found.save
    };
    // Messages of 10 bytes need a thousandth of a card.
    same(lost(10, 1e-3), 0.0);
    // The server's card is the limit, and hosts' cards have capacity for both.
    assert!(lost(1 << 20, 1.0) < 0.01);
    // Messages that fill a card all the time share it with images.
    assert!(lost(1 << 20, 0.0) > 0.01);
}

#[test]
fn a_mebibyte_in_flight_from_lille_to_toulouse_is_drained_in_311_ms() {
    let slowest = link(26.97, 13.04);
    let drained = slowest.gap(1 << 20) - slowest.gap(0);
    assert!((drained - 0.311).abs() < 0.0005, "{drained}");
}

#[test]
fn between_sites_bandwidth_times_latency_is_a_tcp_window_s_35_6_to_56_kb() {
    let products = BETWEEN.map(|(_, _, mbit, milliseconds)| {
        let link = link(mbit, milliseconds);
        let per_byte = (link.gap(1 << 20) - link.gap(0)) / f64::from(1 << 20);
        link.latency() / per_byte / 1e3
    });
    let least = products.into_iter().fold(f64::INFINITY, f64::min);
    let most = products.into_iter().fold(0.0, f64::max);
    assert!((least - 35.6).abs() < 0.05, "{least}");
    assert!((most - 56.0).abs() < 0.05, "{most}");
}

#[test]
fn non_blocking_waves_take_the_bandwidth_of_all_images_in_an_interval() {
    let platform = ethernet(64);
    let mut experiment = experiment(&platform, Pattern::Bt, 250.0);
    experiment.program.bytes = 10;
    experiment.costs.image = 40e6;
    let found = experiment.outcome(Protocol::NonBlocking).unwrap();
    for waves in [1_u32, 2, 5, 9] {
        // The last wave begins at the end, and the job does not wait for it.
        let interval = found.work / f64::from(waves);
        assert!(found.save < interval);
        let run = run(found.work, &found.course, interval).unwrap();
        assert_eq!(run.waves, u64::from(waves));
        let bandwidth = run.waves as f64 * found.bytes / run.seconds;
        same(bandwidth, 64.0 * 40e6 / interval);
    }
}

#[test]
fn a_job_that_one_logger_serves_at_49_clients_has_at_most_0_37_of_the_rate_that_8_serve_at_144() {
    let loggers = |clients, rate, loggers| Loggers {
        clients,
        rate,
        service: 1e-3,
        loggers,
    };
    // Figure 23 is flat from 8 loggers on, figure 22 from one on.
    let rate = 8.0 / (144.0 * 1e-3);
    same(loggers(144, rate, 8).utilization(), 1.0);
    let most = 144.0 / (8.0 * 49.0);
    same(loggers(49, most * rate, 1).utilization(), 1.0);
    assert!((most - 0.37).abs() < 0.005, "{most}");
}

#[test]
fn figure_24_a_logger_elsewhere_has_a_message_carry_150_times_as_many_determinants() {
    let loggers = Loggers {
        clients: 25,
        rate: 100.0,
        service: 20e-6,
        loggers: 1,
    };
    // To Sophia and back, and inside Orsay.
    let [elsewhere, own] = [8.6e-3, 0.06e-3].map(|latency| loggers.carried(2.0 * latency));
    same(elsewhere, 1.72);
    let factor = elsewhere / own;
    assert!((factor / 150.0 - 1.0).abs() < 0.05, "{factor}");
}

#[test]
fn loggers_that_can_t_keep_up_hold_the_job_up_by_what_they_lack() {
    let loggers = |loggers| Loggers {
        clients: 144,
        rate: 100.0,
        service: 0.56e-3,
        loggers,
    };
    same(loggers(1).knee(), 8.064);
    let factors: Vec<f64> = [1, 2, 4, 8, 9, 16]
        .into_iter()
        .map(|count| loggers(count).run_time_factor())
        .collect();
    for (found, expected) in factors
        .into_iter()
        .zip([8.064, 4.032, 2.016, 1.008, 1.0, 1.0])
    {
        same(found, expected);
    }
    same(loggers(1).carried(17.2e-3), 1.72);
}
