//! The report in one HTML file: its contents, and its display by a browser.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{Desk, halo, text_of};
use treepie_base::Process;
use treepie_placement::file::PlacementFile;
use treepie_profile::{Host, Profile};
use treepie_traffic::Traffic;

const PLATFORM: &str = include_str!("../../../profiles/two-clusters.platform.yaml");

/// A desk with a profile, its placement, the profile of its replay, a platform,
/// and the report of `files`.
fn reported(files: &[&str]) -> (Desk, String) {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    desk.run(&["map", "app.profile.yaml", "--topology", "4:2:2"])
        .good();
    let placement = PlacementFile::read(&desk.path("app.placement.yaml")).unwrap();
    let mut replayed = halo();
    for (process, &rank) in placement.permutation.iter_enumerated() {
        replayed.process_of_rank[rank] = process;
    }
    replayed.write(&desk.path("after.profile.yaml")).unwrap();
    desk.write("two.platform.yaml", PLATFORM);
    let arguments = [&["report"], files, &["-o", "report.html"]].concat();
    let answer = desk.run(&arguments).good();
    assert!(
        answer.out.starts_with("report.html: written, "),
        "{}",
        answer.out
    );
    let text = desk.text("report.html");
    (desk, text)
}

const ALL: [&str; 4] = [
    "app.profile.yaml",
    "app.placement.yaml",
    "after.profile.yaml",
    "two.platform.yaml",
];

#[test]
fn the_report_tells_what_ran_where_what_crosses_what_was_gained_and_what_is_left() {
    let (_desk, page) = reported(&ALL);
    assert_eq!(text_of(&page, "top-level"), "-98.5 %");
    assert_eq!(text_of(&page, "dist-comm"), "-54.7 %");
    assert_eq!(text_of(&page, "busiest-link"), "-97.9 %");
    assert_eq!(text_of(&page, "sent"), "1.52 MiB");
    let levels = text_of(&page, "levels");
    assert!(
        levels.contains("between nodes (network) 1.52 MiB 100.0 % 24 KiB 1.5 % -98.5 %"),
        "{levels}"
    );
    assert!(
        text_of(&page, "links").contains("of a node 390 KiB 8 KiB -97.9 %"),
        "{page}"
    );
    assert!(text_of(&page, "left").contains("between nodes: 12 pairs of ranks, were 24"));
    assert!(text_of(&page, "promised").contains("between nodes (network) 24 KiB 24 KiB"));
    assert!(text_of(&page, "ranks").contains("node 0 socket 0 0 1"));
    for figure in ["tree", "heat", "map"] {
        assert!(page.contains(&format!("<figure id=\"{figure}\">\n<svg role=\"img\"")));
    }
}

#[test]
fn a_report_of_a_placement_alone_finds_its_profile_and_says_that_nothing_was_measured() {
    let (_desk, page) = reported(&["app.placement.yaml"]);
    assert_eq!(text_of(&page, "top-level"), "-98.5 %");
    assert!(text_of(&page, "gained").contains("computed for the placement"));
    assert!(!page.contains("id=\"promised\""));
}

#[test]
fn a_report_of_a_profile_alone_says_what_could_be_done_next() {
    let (_desk, page) = reported(&["app.profile.yaml", "--topology", "4:2:2"]);
    assert_eq!(text_of(&page, "top-level"), "1.52 MiB");
    assert!(page.contains("treepie map app.profile.yaml -o app.placement.yaml"));
    assert!(!page.contains("id=\"gained\""));
}

#[test]
fn a_report_needs_nothing_from_elsewhere_and_runs_nothing() {
    let (_desk, page) = reported(&ALL);
    for foreign in ["<script", "<link", "<img", "url(", "@import", "src="] {
        assert!(!page.contains(foreign), "{foreign} is in the page");
    }
    // Links lead to parts of the page.
    let links = page.matches("href=").count();
    assert_eq!(links, page.matches("<a href=\"#").count());
    assert_eq!(links, page.matches("<section id=").count());
    let addresses = page.matches("http").count();
    let of_the_drawings = page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    // `http-equiv` is the only other word.
    assert_eq!(addresses, of_the_drawings + 1);
}

#[test]
fn files_that_do_not_fit_a_report_are_refused() {
    let desk = Desk::new();
    desk.halo("app.profile.yaml");
    desk.write("two.platform.yaml", PLATFORM);
    let of = |files: &[&str]| desk.run(&[&["report"], files, &["-o", "r.html"]].concat());
    let none = of(&["two.platform.yaml"]).refusal(2);
    assert!(
        none.contains("there is no profile among the files"),
        "{none}"
    );
    let three = of(&["app.profile.yaml"; 3]).refusal(2);
    assert!(three.contains("one profile too many"), "{three}");
    let small = of(&["app.profile.yaml", "--topology", "2:2"]).refusal(1);
    assert!(small.contains("has 4 cores and 16 processes"), "{small}");
    assert!(!desk.path("r.html").exists());
}

#[test]
fn the_tree_of_a_machine_is_drawn_with_and_without_a_job() {
    let (desk, _) = reported(&ALL);
    for arguments in [
        &["show", "4:2:2", "-o", "tree.png"][..],
        &[
            "show",
            "app.placement.yaml",
            "--draw",
            "tree",
            "-o",
            "tree.png",
        ],
        &[
            "show",
            "app.profile.yaml",
            "--topology",
            "4:2:2",
            "--draw",
            "tree",
            "-o",
            "tree.svg",
        ],
    ] {
        desk.run(arguments).good();
    }
    assert!(support::is_picture(&desk.path("tree.png")));
    let drawn = desk.text("tree.svg");
    assert!(drawn.contains("between nodes (network)"), "{drawn}");
    assert!(drawn.contains("1.52 MiB, 100.0 %"), "{drawn}");
}

#[test]
fn a_plan_is_shown_in_time_and_is_part_of_a_report() {
    let plan = ["--plan", "bcast=grid-flat", "--bytes", "1M"];
    let files = [&ALL[..], &plan].concat();
    let (desk, page) = reported(&files);
    assert!(page.contains("<figure id=\"plan\">\n<svg role=\"img\""));
    let words = "predict two.platform.yaml --collective bcast --algorithm grid-flat --bytes 1M";
    let words: Vec<&str> = words.split(' ').collect();
    let predict = |more: &[&str]| desk.run(&[&words[..], more].concat()).good();
    let json = predict(&["--json", "-o", "plan.png"]).json()["plan"].clone();
    assert!(support::is_picture(&desk.path("plan.png")));
    let bars = json["bars"].as_array().unwrap();
    let last = bars.iter().map(|bar| bar["end"].as_f64().unwrap());
    assert!((last.fold(0.0, f64::max) - json["seconds"].as_f64().unwrap()).abs() < 1e-3);
    let received: u64 = bars
        .iter()
        .filter(|bar| bar["doing"] == "receives")
        .map(|bar| bar["bytes"].as_u64().unwrap())
        .sum();
    let ranks = json["ranks"].as_u64().unwrap();
    assert_eq!(received, (ranks - 1) << 20);
    let text = predict(&[]).out;
    assert!(text.contains(" until the last rank has ended, "), "{text}");
}

#[test]
fn a_plan_that_does_not_exist_is_refused_with_those_that_do() {
    let (desk, _) = reported(&ALL);
    let of = |files: &[&str], plan: &str| {
        desk.run(&[&["report"], files, &["--plan", plan]].concat())
            .refusal(2)
    };
    let unknown = of(&ALL, "bcast=quickly");
    assert!(
        unknown.contains("bcast has no algorithm `quickly`; known are flat, chain"),
        "{unknown}"
    );
    assert!(of(&ALL, "bcast").contains("such as bcast=grid-ecef"));
    assert!(of(&ALL, "alltoallv=pairwise").contains("another size for every rank"));
    assert!(of(&ALL[..1], "bcast=flat").contains("there is no platform"));
}

/// Chromium as installed by `scripts/setup test`.
fn browser(arguments: &[&str], page: &Path, home: &Path) -> (String, String) {
    let output = Command::new("timeout")
        .args([
            "60",
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
        ])
        .args(["--hide-scrollbars", "--enable-logging=stderr"])
        .arg(format!("--user-data-dir={}", home.display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "chromium is needed (scripts/setup test installs it): {error}"
    );
    (String::from_utf8_lossy(&output.stdout).into_owned(), error)
}

#[test]
fn the_heat_map_is_in_the_order_of_ranks_where_no_machine_is_known() {
    let desk = Desk::new();
    // More processes than this machine has cores.
    let mut crowded = Profile::new(4096);
    crowded.hosts = vec![Host {
        name: "mygale".to_owned(),
        processes: (0..4096).map(Process).collect(),
    }];
    crowded.point_to_point.add(0, 4095, Traffic::new(1, 1024));
    crowded.write(&desk.path("app.profile.yaml")).unwrap();
    let words = ["report", "app.profile.yaml", "-o", "report.html"];
    desk.run(&words).good();
    let page = desk.text("report.html");
    assert!(page.contains("Nothing is known of the cores"));
    assert!(page.contains("<figure id=\"heat\">\n<svg role=\"img\""));
}

#[test]
fn a_browser_shows_the_report_in_light_and_dark_without_a_complaint() {
    let (desk, _) = reported(&ALL);
    let page = desk.path("report.html");
    let home = desk.path("browser");
    let (shown, told) = browser(&["--dump-dom"], &page, &home);
    // The result of the browser: if it had to repair the page, rows would be lost.
    assert_eq!(text_of(&shown, "top-level"), "-98.5 %");
    assert!(text_of(&shown, "levels").contains("DistComm (bytes x hops) 4 792 320 2 170 880"));
    assert_eq!(
        shown.matches("<figure").count(),
        shown.matches("</svg>").count()
    );
    assert!(!told.contains("CONSOLE"), "{told}");
    let mut grounds = Vec::new();
    for (name, scheme) in [("light.png", "1"), ("dark.png", "0")] {
        let picture = desk.path(name);
        let shot = format!("--screenshot={}", picture.display());
        let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
        let (_, told) = browser(&["--window-size=1160,2400", &shot, &scheme], &page, &home);
        assert!(!told.contains("CONSOLE"), "{told}");
        grounds.push(ground_of(&picture));
    }
    assert!(grounds[0] > 240 && grounds[1] < 48, "{grounds:?}");
}

/// The grey of a page's background, the most frequent value of its pixels; at least a third of the
/// rows must have other values, or the page is blank.
fn ground_of(path: &Path) -> u8 {
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    let bytes = frame.color_type.samples();
    let ground: Vec<u8> = pixels[..bytes].to_vec();
    let rows = pixels.chunks(frame.line_size).take(frame.height as usize);
    let drawn = rows.filter(|row| row.chunks(bytes).any(|pixel| pixel != ground));
    let drawn = drawn.count();
    assert!(
        drawn * 3 > frame.height as usize,
        "{drawn} rows of {}",
        frame.height
    );
    ground[0]
}
