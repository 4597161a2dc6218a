//! `treepie why` if there is nothing to report, several jobs to choose from, or an error.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;

use support::{Answer, Desk, trace_events};
use treepie_base::Rank;
use treepie_jobstate::pages::layout::{
    AREAS_AT, COMMUNICATORS_AT, INSIDE, MAGIC, NUMBER_SHIFT, VERSION, WORDS, area, communicator,
    header, pack,
};
use treepie_jobstate::pages::{file_name, run_directory};
use treepie_jobstate::waits::communicator_key;

const NAMES: &str = "MPI_Recv receive\n";

/// The page of a rank of two, in a receive from the other; its process has ended.
fn page(run: u64, rank: u64) -> Vec<u64> {
    let mut words = vec![0; WORDS];
    words[0] = MAGIC;
    for (at, value) in [
        (header::VERSION, VERSION),
        (header::WORDS, WORDS as u64),
        (header::RUN, run),
        (header::RANKS, 2),
        (header::RANK, rank),
        (header::HANDLE_MASK, u64::MAX),
        (header::ANY_SOURCE, -1i64 as u64),
        (header::ANY_TAG, -1i64 as u64),
        (header::PROC_NULL, -2i64 as u64),
        (header::TICK, 9_000_000_000),
        (header::NAMES, NAMES.len() as u64),
        (AREAS_AT + area::THREAD, 1),
        (AREAS_AT + area::CALL, 1 << NUMBER_SHIFT | INSIDE),
        (AREAS_AT + area::SEEN, 1 << NUMBER_SHIFT | INSIDE),
        (AREAS_AT + area::SINCE, 1_000_000_000),
        (AREAS_AT + area::COMM, 9),
        (AREAS_AT + area::SOURCE_TAG, pack(1 - rank as i32, 4)),
        (COMMUNICATORS_AT + communicator::HANDLE, 9),
        (
            COMMUNICATORS_AT + communicator::KEY,
            communicator_key(&[0, 1], 1),
        ),
        (COMMUNICATORS_AT + communicator::SIZE, 2),
        (COMMUNICATORS_AT + communicator::STRIDE, 1),
        (treepie_jobstate::pages::layout::CHANNELS_AT, 1),
    ] {
        words[at] = value;
    }
    words
}

fn put(desk: &Desk, run: u64, rank: usize, words: &[u64]) {
    let directory = run_directory(&desk.path("pages"), run);
    fs::create_dir_all(&directory).unwrap();
    let words = words.iter().flat_map(|word| word.to_ne_bytes());
    let bytes: Vec<u8> = words.chain(NAMES.bytes()).collect();
    fs::write(directory.join(file_name(Rank(rank))), bytes).unwrap();
}

#[test]
fn a_killed_job_is_told_of_and_its_pages_removed_on_request() {
    let desk = Desk::new();
    for rank in 0..2 {
        put(&desk, 7, rank, &page(7, rank as u64));
    }
    let options = ["--pages", "pages", "--remove", "-o", "a.trace.json"];
    let answer = desk.run(&[&["why"][..], &options].concat()).good();
    let first = "Deadlock: ranks 0 and 1 wait for each other.\n  cycle: 0 -> 1 -> 0\n";
    assert!(answer.out.starts_with(first), "{}", answer.out);
    let expected = "rank 0: in MPI_Recv from rank 1 (tag 4, MPI_COMM_WORLD), 8 s";
    assert!(answer.out.contains(expected), "{}", answer.out);
    assert!(!run_directory(&desk.path("pages"), 7).exists());
    let found = trace_events(&desk.text("a.trace.json"));
    let bars = found.iter().filter(|event| event["ph"] == "X");
    let lengths: Vec<f64> = bars.flat_map(|bar| bar["dur"].as_f64()).collect();
    assert_eq!(lengths, [8e6, 8e6]);
    let arrows = found.iter().filter(|event| event["name"] == "waits for");
    assert_eq!(arrows.count(), 4);
}

#[test]
fn a_page_that_is_damaged_or_of_another_run_is_named_and_left_out() {
    let desk = Desk::new();
    put(&desk, 7, 0, &page(7, 0));
    put(&desk, 7, 1, &page(8, 1));
    put(&desk, 7, 2, &page(7, 0)[..400]);
    let answer = desk.run(&["why", "--pages", "pages"]).good();
    assert!(
        answer
            .err
            .contains("is the page of rank 1 of run 0000000000000008"),
        "{}",
        answer.err
    );
    assert!(answer.err.contains("2.page: is cut off"), "{}", answer.err);
    assert!(answer.out.contains("No page of rank 1"), "{}", answer.out);
    assert!(!answer.out.contains("Deadlock"), "{}", answer.out);
}

#[test]
fn pages_of_another_user_are_left_out_unless_root_asks() {
    let is_root = rustix::process::geteuid().is_root();
    assert!(
        is_root,
        "only root can give files away: run this as root, as jobs on a grid"
    );
    let desk = Desk::new();
    let (user, other) = (65534, 1);
    for rank in 0..2 {
        put(&desk, 7, rank, &page(7, rank as u64));
        let path = run_directory(&desk.path("pages"), 7).join(file_name(Rank(rank)));
        chown(path, Some(other), None).unwrap();
    }
    let root = desk.run(&["why", "--pages", "pages"]).good();
    assert!(
        root.out.starts_with("Deadlock: ranks 0 and 1"),
        "{}",
        root.out
    );
    // So that the user may run it.
    fs::set_permissions(desk.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_treepie"), desk.path("treepie")).unwrap();
    let asked = || -> Answer {
        let mut command = Command::new(desk.path("treepie"));
        command
            .args(["why", "--pages", "pages"])
            .uid(user)
            .current_dir(desk.path(""));
        command.output().unwrap().into()
    };
    let nothing = asked().refusal(1);
    let left_out = "page: belongs to user 1; left out";
    assert!(nothing.contains(left_out), "{nothing}");
    let own = run_directory(&desk.path("pages"), 7).join(file_name(Rank(0)));
    chown(own, Some(user), None).unwrap();
    let half = asked().good();
    assert!(half.err.contains(left_out), "{}", half.err);
    assert!(!half.out.contains("Deadlock"), "{}", half.out);
}

/// A user has made links to root's files in a directory that root reads, and from which root
/// removes what it read.
#[test]
fn links_among_the_pages_of_a_user_do_no_harm_to_root_who_looks_at_them() {
    let is_root = rustix::process::geteuid().is_root();
    assert!(is_root, "only root can give files away: run this as root");
    let desk = Desk::new();
    let own = desk.path("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("0.page"), "precious").unwrap();
    // A page that is a link, next to a real page.
    put(&desk, 7, 1, &page(7, 1));
    let run = run_directory(&desk.path("pages"), 7);
    symlink(own.join("0.page"), run.join("0.page")).unwrap();
    for name in ["0.page", "1.page"] {
        lchown(run.join(name), Some(65534), None).unwrap();
    }
    let words = ["why", "--pages", "pages", "--between", "0", "--remove"];
    let answer = desk.run(&words).good();
    assert!(answer.err.contains("0.page: "), "{}", answer.err);
    assert!(!answer.out.contains("precious"), "{}", answer.out);
    assert!(!run.exists());
    // The directory of a run is a link.
    symlink(&own, run_directory(&desk.path("pages"), 8)).unwrap();
    desk.run(&words).refusal(1);
    let kept = fs::read_to_string(own.join("0.page")).unwrap();
    assert_eq!(kept, "precious");
}

#[test]
fn pages_that_do_not_agree_on_the_size_of_their_job_are_answered() {
    let desk = Desk::new();
    put(&desk, 7, 0, &page(7, 0));
    let mut larger = page(7, 5);
    larger[header::RANKS] = 9;
    put(&desk, 7, 5, &larger);
    desk.run(&["why", "--pages", "pages", "--between", "0"])
        .good();
}

#[test]
fn there_is_no_cut_of_a_job_that_is_not_there() {
    let desk = Desk::new();
    let cut = |run: &str| {
        let words = ["cut", "--pages", "pages", run, "--then", "touch saved"];
        desk.run(&words).refusal(1)
    };
    let gone = cut("0123456789abcdef");
    assert!(gone.contains("has no rank on this host"), "{gone}");
    put(&desk, 7, 0, &[1; 9]);
    let damaged = cut("0000000000000007");
    assert!(damaged.contains("0.page"), "{damaged}");
    assert!(!desk.path("saved").exists());
}

#[test]
fn other_hosts_are_told_of_the_directory_of_a_run_that_is_named_by_it() {
    let desk = Desk::new();
    put(&desk, 7, 0, &page(7, 0));
    desk.write(
        "shell",
        "#!/bin/sh\nshift\necho \"$@\" >asked\nexec \"$@\"\n",
    );
    let shell = desk.path("shell");
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
    let run = format!("./pages/{:016x}", 7);
    let hosts = ["--hosts", "n2", "--remote-shell", "./shell"];
    desk.run(&[&["why", &run, "--between", "0"], &hosts[..]].concat())
        .good();
    let asked = fs::read_to_string(desk.path("asked")).unwrap();
    let pages = fs::canonicalize(desk.path("pages")).unwrap();
    assert!(
        asked.contains(&format!("--pages {}", pages.display())),
        "{asked}"
    );
}

#[test]
fn what_is_no_file_is_no_page_and_holds_nobody() {
    let desk = Desk::new();
    put(&desk, 7, 1, &page(7, 1));
    let pipe = run_directory(&desk.path("pages"), 7).join(file_name(Rank(0)));
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let answer = desk
        .run(&["why", "--pages", "pages", "--between", "0"])
        .good();
    assert!(
        answer.err.contains("0.page: is a pipe, not a file"),
        "{}",
        answer.err
    );
}

#[test]
fn no_job_many_jobs_and_wrong_names_are_refused_in_one_line() {
    let desk = Desk::new();
    let none = desk.run(&["why", "--pages", "pages"]).refusal(1);
    assert!(none.contains("no job of yours keeps pages here"), "{none}");
    put(&desk, 7, 0, &page(7, 0));
    put(&desk, 8, 0, &page(8, 0));
    let many = desk.run(&["why", "--pages", "pages"]).refusal(2);
    assert!(
        many.contains("0000000000000007 (, 2 ranks), 0000000000000008"),
        "{many}"
    );
    let wrong = desk.run(&["why", "--pages", "pages", "4711x"]).refusal(1);
    assert!(wrong.starts_with("4711x: neither a process"), "{wrong}");
    let directory = desk.run(&["why", "./pages"]).refusal(2);
    assert!(
        directory.contains("is not the directory of a run"),
        "{directory}"
    );
    let time = desk.run(&["why", "--between", "soon"]).refusal(2);
    assert!(time.contains("`soon` is no time"), "{time}");
    let hang = desk
        .run(&["profile", "--hang", "0", "--", "true"])
        .refusal(2);
    assert!(hang.contains("`0` is too short; write 1s"), "{hang}");
}
