//! Test vectors of the literature, closed forms, and the costs of computed groups.

use treepie_base::Leaf;
use treepie_topology::Topology;
use treepie_traffic::Matrix;

use super::*;
use crate::containment::partition::group_counts;

const MINUTE: f64 = 60.0;
const YEAR: f64 = 365.25 * 86_400.0;

fn near(found: f64, expected: f64, by: f64) {
    assert!(
        (found - expected).abs() <= by,
        "{found} instead of {expected}"
    );
}

/// Cells of a box, each of which sends 1 to its neighbours; `wraps` joins the ends.
fn mesh(sides: &[usize], wraps: bool) -> Matrix {
    let cells = sides.iter().product();
    let mut entries = Vec::new();
    for cell in 0..cells {
        let mut stride = 1;
        for &side in sides {
            let place = cell / stride % side;
            if place + 1 < side || wraps {
                let next = cell - place * stride + (place + 1) % side * stride;
                entries.extend([(cell, next, 1.0), (next, cell, 1.0)]);
            }
            stride *= side;
        }
    }
    Matrix::from_entries(cells, entries).unwrap()
}

/// Groups that are boxes of a mesh.
fn tiles(sides: &[usize], tile: &[usize]) -> Vec<usize> {
    let tile_of = |cell: usize| {
        let (mut rest, mut group, mut stride) = (cell, 0, 1);
        for (&side, &width) in sides.iter().zip(tile) {
            group += rest % side / width * stride;
            rest /= side;
            stride *= side / width;
        }
        group
    };
    (0..sides.iter().product()).map(tile_of).collect()
}

/// A domain for each rank.
fn single(ranks: usize) -> Domains {
    Domains::from_labels(&(0..ranks).collect::<Vec<_>>())
}

fn all_to_all(ranks: usize) -> Matrix {
    let pairs = (0..ranks * ranks).map(|pair| (pair / ranks, pair % ranks));
    let pairs = pairs.filter(|(from, to)| from != to);
    Matrix::from_entries(ranks, pairs.map(|(from, to)| (from, to, 1.0))).unwrap()
}

/// Traffic of NAS CG on `side` x `side` ranks: sums over rows by recursive doubling, and exchanges
/// with the transposed rank. A vector counts `vector`; `scalars` is the additional traffic of all
/// outer iterations for each step of a sum.
fn cg(side: usize, vector: f64, scalars: f64) -> Matrix {
    let mut entries = Vec::new();
    for rank in 0..side * side {
        let (row, column) = (rank / side, rank % side);
        let mut bit = 1;
        while bit < side {
            entries.push((rank, row * side + (column ^ bit), vector + scalars));
            bit *= 2;
        }
        if row != column {
            entries.push((rank, column * side + row, vector));
        }
    }
    Matrix::from_entries(side * side, entries).unwrap()
}

fn rows(side: usize) -> Vec<usize> {
    (0..side * side).map(|rank| rank / side).collect()
}

fn cut(bytes: &Matrix, groups: &[usize]) -> Cut {
    Cut::new(bytes, groups, &single(groups.len())).unwrap()
}

/// The cut of the computed groups for ranks that are a domain each.
fn found(bytes: &Matrix, groups: usize) -> Cut {
    let domains = single(bytes.order());
    let of_rank = grouped(bytes, &domains, &[], groups).unwrap();
    Cut::new(bytes, &of_rank, &domains).unwrap()
}

#[test]
fn the_optima_in_the_captions_of_dalys_figures_are_met() {
    for (mtbf, daly, young, at_daly, at_young) in [
        (24.0 * 60.0, 116.69, 120.0, 1.0958, 1.0958),
        (6.0 * 60.0, 56.71, 60.0, 1.2204, 1.2207),
        (15.0, 9.14, 12.25, 5.0083, 5.147),
    ] {
        let failures = Failures::new(mtbf * MINUTE, 1, 5.0 * MINUTE, 10.0 * MINUTE).unwrap();
        near(failures.daly() / MINUTE, daly, 0.005);
        near(failures.young() / MINUTE, young, 0.005);
        near(failures.run_time(failures.daly()), at_daly, 5e-5);
        near(failures.run_time(failures.young()), at_young, 5e-4);
    }
}

#[test]
fn daly_takes_the_mtbf_where_a_checkpoint_takes_twice_as_long() {
    assert_eq!(Failures::new(100.0, 1, 200.0, 0.0).unwrap().daly(), 100.0);
}

#[test]
fn hosts_that_fail_every_five_years_lose_what_daly_says() {
    for (hosts, checkpoint, restart, mtbf, young, daly, lost) in [
        (64, 60.0, 120.0, 2_465_438.0, 17_200.0, 17_160.0, 0.71),
        (1024, 60.0, 120.0, 154_090.0, 4_300.0, 4_260.0, 2.92),
        (1024, 600.0, 900.0, 154_090.0, 13_598.0, 13_201.0, 10.01),
    ] {
        let failures = Failures::new(5.0 * YEAR, hosts, checkpoint, restart).unwrap();
        near(failures.mtbf, mtbf, 0.6);
        near(failures.young(), young, 0.6);
        near(failures.daly(), daly, 0.6);
        let run_time = failures.run_time(failures.daly());
        near(100.0 * (run_time - 1.0), lost, 0.006);
    }
}

#[test]
fn the_waste_if_others_go_on_falls_with_the_number_of_groups() {
    let failures = Failures::new(360.0, 1, 5.0, 10.0).unwrap();
    for (groups, interval, waste, at_60) in [
        (1.0, 60.0, 0.194, 0.194),
        (2.0, 84.9, 0.132, 0.139),
        (4.0, 120.0, 0.090, 0.111),
        (8.0, 169.7, 0.062, 0.097),
        (16.0, 240.0, 0.043, 0.090),
    ] {
        let failures = failures.stopping_only(1.0 / groups);
        near(failures.young(), interval, 0.05);
        near(failures.waste(failures.young()), waste, 5.1e-4);
        near(failures.waste(60.0), at_60, 5.1e-4);
    }
}

#[test]
fn tiles_of_meshes_log_their_surface() {
    for (sides, wraps, tile, logged, rolled_back) in [
        (&[4, 4][..], false, &[2, 2][..], 8.0 / 24.0, 0.25),
        (&[4, 4], true, &[2, 2], 0.5, 0.25),
        (&[16, 16], true, &[4, 4], 0.25, 0.0625),
        (&[16, 16], false, &[4, 4], 0.2, 0.0625),
        (&[16, 16], false, &[4, 8], 0.13333, 0.125),
        (&[16, 16], false, &[16, 1], 0.5, 0.0625),
        (&[8, 8, 8], false, &[4, 4, 4], 0.14286, 0.125),
        (&[8, 8, 8], true, &[4, 4, 4], 0.25, 0.125),
        (&[8, 8, 8], false, &[2, 2, 4], 0.33333, 0.03125),
    ] {
        let cut = cut(&mesh(sides, wraps), &tiles(sides, tile));
        near(cut.bytes_share, logged, 5e-6);
        assert_eq!(cut.rolled_back_share(), rolled_back, "{sides:?} {tile:?}");
    }
}

#[test]
fn tiles_of_a_square_torus_log_half_their_perimeter() {
    for (width, height) in [(1, 8), (2, 4), (4, 4), (8, 2), (1, 1)] {
        let of_torus = cut(&mesh(&[8, 8], true), &tiles(&[8, 8], &[width, height]));
        // A width of 8 wraps onto itself and has no ends.
        let ends = |other: usize, this: usize| if this == 8 { 0.0 } else { other as f64 };
        let crossing = ends(width, height) + ends(height, width);
        let area = (width * height) as f64;
        near(of_torus.bytes_share, crossing / (2.0 * area), 1e-12);
    }
}

#[test]
fn all_to_all_and_nas_ft_log_the_closed_form() {
    for (ranks, groups, percent) in [(256, 2, 50.196), (256, 16, 94.12), (64, 8, 88.89)] {
        let size = ranks / groups;
        let of_rank: Vec<usize> = (0..ranks).map(|rank| rank / size).collect();
        let cut = cut(&all_to_all(ranks), &of_rank);
        let closed = 1.0 - (size as f64 - 1.0) / (ranks as f64 - 1.0);
        near(cut.bytes_share, closed, 1e-12);
        near(100.0 * cut.bytes_share, percent, 0.006);
        near(cut.rolled_back_share(), 1.0 / groups as f64, 1e-12);
    }
}

#[test]
fn rows_of_nas_cg_log_the_closed_form() {
    for (side, percent) in [(4, 27.27), (8, 22.58), (16, 18.987)] {
        let cut = cut(&cg(side, 1.0, 0.0), &rows(side));
        let (ranks, transposed) = ((side * side) as f64, (side * side - side) as f64);
        let closed = transposed / (ranks * (side as f64).log2() + transposed);
        near(cut.bytes_share, closed, 1e-12);
        near(100.0 * cut.bytes_share, percent, 0.006);
        assert_eq!(cut.rolled_back_share(), 1.0 / side as f64);
    }
}

#[test]
fn all_bytes_and_messages_of_nas_cg_class_c_log_what_hydee_reports() {
    // An outer iteration multiplies 26 times, sums one number 52 times and two numbers once.
    let vectors = 26.0 * 150_000.0 / 16.0 * 8.0;
    let bytes = cut(&cg(16, vectors, 52.0 * 8.0 + 16.0), &rows(16));
    near(100.0 * bytes.bytes_share, 18.984, 0.0005);
    let messages = cut(&cg(16, 26.0, 53.0), &rows(16));
    near(100.0 * messages.bytes_share, 7.16, 0.005);
}

#[test]
fn the_groups_that_are_found_log_no_more_than_tiles_and_rows() {
    for (bytes, groups, share) in [
        (mesh(&[4, 4], false), 4, 8.0 / 24.0),
        (mesh(&[16, 16], true), 16, 0.25),
        (mesh(&[16, 16], false), 8, 0.13334),
        (mesh(&[8, 8, 8], false), 8, 0.14286),
        (cg(4, 1.0, 0.0), 4, 12.0 / 44.0),
        (cg(16, 1.0, 0.0), 16, 0.18988),
        (all_to_all(64), 8, 0.88889),
    ] {
        let cut = found(&bytes, groups);
        assert_eq!(cut.groups(), groups);
        assert!(
            cut.bytes_share <= share + 1e-5,
            "{} above {share}",
            cut.bytes_share
        );
    }
}

#[test]
fn groups_never_cut_a_domain_and_stay_within_a_tenth_of_their_size() {
    // Hosts of 1, 2, 3, 1, 2, 3, ... ranks.
    let mut host_of = Vec::new();
    for host in 0..24 {
        host_of.extend(std::iter::repeat_n(host, 1 + host % 3));
    }
    let domains = Domains::from_labels(&host_of);
    let bytes = mesh(&[host_of.len()], false);
    for groups in group_counts(&domains, &[]) {
        let of_rank = grouped(&bytes, &domains, &[], groups).unwrap();
        let of_first =
            |rank: usize| of_rank[host_of.iter().position(|&h| h == host_of[rank]).unwrap()];
        assert!((0..of_rank.len()).all(|rank| of_rank[rank] == of_first(rank)));
        let cut = Cut::new(&bytes, &of_rank, &domains).unwrap();
        assert_eq!(cut.groups(), groups);
        assert!(cut.sizes.iter().all(|&size| size > 0));
        let limit = (11 * host_of.len()).div_ceil(10 * groups);
        // A host of 3 ranks does not fit into smaller groups.
        assert!(
            *cut.sizes.iter().max().unwrap() <= limit.max(3),
            "{:?}",
            cut.sizes
        );
    }
}

#[test]
fn a_level_above_the_domains_is_a_candidate_for_groups() {
    // Racks of 3 and 1 hosts: too uneven for moves, and the only division without a cut.
    let topology = Topology::join(
        "rack",
        &["3:1", "1:1"].map(|arities| Topology::from_arities(arities).unwrap()),
    );
    let topology = topology.unwrap();
    let leaves = Leaf::list(0..4);
    let racks = Domains::at_depth(&topology, &leaves, 1);
    let hosts = Domains::at_depth(&topology, &leaves, 2);
    assert_eq!((racks.count(), hosts.count()), (2, 4));
    assert_eq!(racks.of_rank(), [0, 0, 0, 1]);
    assert_eq!(group_counts(&hosts, &[racks]), [1, 2, 3, 4]);
}

#[test]
fn a_failure_rolls_back_all_groups_that_its_domain_touches() {
    let bytes = mesh(&[4], false);
    let hosts = Domains::from_labels(&[0, 0, 1, 1]);
    let inside = Cut::new(&bytes, &[0, 0, 1, 1], &hosts).unwrap();
    assert_eq!(inside.rolled_back, 2.0);
    let across = Cut::new(&bytes, &[0, 1, 1, 1], &hosts).unwrap();
    assert_eq!(across.rolled_back, (4.0 + 3.0) / 2.0);
    // 52, 51, 51, 51 and 51 ranks: 20.0 %.
    let sizes = [52, 51, 51, 51, 51];
    let groups: Vec<usize> = sizes
        .iter()
        .enumerate()
        .flat_map(|(group, &size)| std::iter::repeat_n(group, size))
        .collect();
    near(
        cut(&mesh(&[256], false), &groups).rolled_back_share(),
        0.2,
        5e-5,
    );
}

fn question<'a>(bytes: &'a Matrix, domains: &'a Domains, plan: &'a Plan) -> Question<'a> {
    Question {
        bytes,
        messages: Some(bytes),
        domains,
        levels: &[],
        failures: Failures::new(360.0, 1, 5.0, 10.0).unwrap(),
        run_time: Some(100.0),
        interval: None,
        log_memory: None,
        plan,
    }
}

#[test]
fn logs_grow_with_the_interval_and_the_limit_of_memory_drops_those_that_do_not_fit() {
    let bytes = mesh(&[16, 16], true);
    let domains = single(256);
    let plan = Plan::Series;
    let asked = Question {
        log_memory: Some(6.0),
        ..question(&bytes, &domains, &plan)
    };
    let divisions = trade_offs(&asked).unwrap();
    for division in &divisions {
        for outlook in [&division.others_wait, &division.others_go_on] {
            let log = division.cut.largest_log * outlook.interval / 100.0;
            assert_eq!(outlook.largest_log, Some(log));
            assert_eq!(outlook.fits, log <= 6.0);
        }
        let both = [
            division.others_wait.interval,
            division.others_go_on.interval,
        ];
        assert!(both[0] <= both[1]);
    }
    // Without a limit the report would recommend a group for each rank.
    let chosen = divisions
        .iter()
        .find(|one| one.others_go_on.least_loss)
        .unwrap();
    assert!(chosen.cut.groups() > 1 && chosen.cut.groups() < 256);
    let without_limit = question(&bytes, &domains, &plan);
    let last = trade_offs(&without_limit).unwrap().pop().unwrap();
    assert!(last.cut.groups() == 256 && last.others_go_on.least_loss);
    // If others wait, logs only add cost.
    assert!(divisions[0].others_wait.least_loss && divisions[0].on_front);
}

#[test]
fn a_division_that_another_beats_is_not_on_the_front() {
    // Three pairs: of the divisions without logging, 3 groups roll back fewest.
    let pairs = [(0, 1), (2, 3), (4, 5)];
    let bytes = pairs.map(|(a, b)| (a, b, 1.0));
    let bytes = Matrix::from_entries(6, bytes).unwrap();
    let domains = single(6);
    let divisions = trade_offs(&question(&bytes, &domains, &Plan::Series)).unwrap();
    let front = divisions.iter().map(|one| (one.cut.groups(), one.on_front));
    assert_eq!(
        front.collect::<Vec<_>>(),
        [(1, false), (2, false), (3, true), (4, true), (6, true)]
    );
}

#[test]
fn questions_without_an_answer_are_refused() {
    let domains = single(2);
    let refusal = |bytes: &Matrix, plan: Plan| {
        let domains = single(bytes.order());
        trade_offs(&question(bytes, &domains, &plan))
            .unwrap_err()
            .to_string()
    };
    let empty = Matrix::zero(2);
    assert!(refusal(&empty, Plan::Series).starts_with("no byte was sent"));
    assert!(refusal(&Matrix::zero(1), Plan::Series).starts_with("1 rank cannot be divided"));
    let bytes = mesh(&[2], false);
    assert!(refusal(&bytes, Plan::Count(3)).starts_with("3 groups were asked for"));
    assert!(refusal(&bytes, Plan::Count(0)).starts_with("0 groups were asked for"));
    assert!(refusal(&bytes, Plan::Given(vec![0])).starts_with("groups are given for 1 ranks"));
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for failures in [
            Failures::new(wrong, 1, 1.0, 1.0),
            Failures::new(1.0, 1, wrong, 1.0),
        ] {
            assert!(
                failures
                    .unwrap_err()
                    .to_string()
                    .contains("expected a finite time above 0")
            );
        }
        let asked = Question {
            run_time: Some(wrong),
            ..question(&bytes, &domains, &Plan::Series)
        };
        assert!(trade_offs(&asked).is_err(), "{wrong}");
    }
    assert!(Failures::new(1.0, 1, 1.0, 0.0).is_ok());
    assert!(Failures::new(1.0, 1, 1.0, -1.0).is_err());
}
