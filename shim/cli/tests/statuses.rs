//! Exit statuses, as docs/reference/exit-status.md has them. 75 to 77 need jobs of an MPI: tests/.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Answer, Desk};

/// Rows of the page whose statuses this file provokes.
const TRIED: [&str; 6] = ["0", "1", "2", "the job's", "125", "128 + n"];

fn desk() -> Desk {
    let desk = Desk::new();
    desk.launcher("mpirun", "mpirun (Open MPI) 4.1.4", "exit 7");
    desk
}

/// The status of `treepie` with these words and this job.
fn of_job(desk: &Desk, words: &str, job: &str) -> i32 {
    let all = format!("{words} -- {job}");
    desk.run(&all.split(' ').collect::<Vec<_>>()).status
}

const JOB: &str = "./mpirun -np 2 /bin/sh";

#[test]
fn the_status_of_a_job_is_that_of_its_launcher_or_says_that_the_command_failed() {
    let desk = desk();
    assert_eq!(of_job(&desk, "replay --permutation 1,0", JOB), 7);
    assert_eq!(of_job(&desk, "exec --mode off", "/bin/sh -c false"), 1);
    let runners = [
        "profile",
        "replay --permutation 1,0",
        "run",
        "supervise",
        "cut",
    ];
    for words in runners {
        assert_eq!(of_job(&desk, words, "./absent -np 2 ./app"), 125, "{words}");
        let wrong = format!("{words} --set moed=off");
        assert_eq!(of_job(&desk, &wrong, JOB), 2, "{words}");
    }
    assert_eq!(of_job(&desk, "exec --mode off", "./absent"), 125);
    for words in ["replay none.yaml", "supervise --placement none.yaml"] {
        assert_eq!(of_job(&desk, words, JOB), 125, "{words}");
    }
    desk.write("with space.so", "");
    for words in [&["profile"][..], &["replay", "--permutation", "1,0"]] {
        let job: Vec<&str> = ["--"].into_iter().chain(JOB.split(' ')).collect();
        let mut command = desk.treepie(&[words, &job].concat());
        command.env("TREEPIE_LIBRARY", desk.path("with space.so"));
        assert_eq!(Answer::from(command.output().unwrap()).status, 125);
    }
    desk.launcher("mpirun", "mpirun (Open MPI) 4.1.4", "kill -9 $$");
    assert_eq!(of_job(&desk, "replay --permutation 1,0", JOB), 128 + 9);
}

#[test]
fn a_question_has_a_status_for_success_failure_and_wrong_usage() {
    let desk = desk();
    let status = |words: &str| desk.run(&words.split(' ').collect::<Vec<_>>()).status;
    assert_eq!(status("show 4:2:2"), 0);
    for words in [
        "show none.yaml",
        "map none.yaml",
        "compare none.yaml none.yaml",
        "convert none.yaml -o a.mtx",
        "report none.yaml",
        "predict none.yaml --choices",
        "history none --store .",
        "forget none --store .",
        "prove none.yaml --against none.yaml -q",
        "hosts --network none.conf --hosts a,b",
        "doctor -q -- ./mpirun -np 2 ./absent",
    ] {
        // A file that is named twice is wrong usage.
        let expected = if words.starts_with("prove") { 2 } else { 1 };
        assert_eq!(status(words), expected, "{words}");
    }
    for words in ["show", "map", "prove", "show 4:2:2 --nothing", "nothing"] {
        assert_eq!(status(words), 2, "{words}");
    }
}

#[test]
fn the_page_has_the_statuses_that_are_tried() {
    let page = include_str!("../../../docs/reference/exit-status.md");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let mut rows: Vec<&str> = rows
        .skip(1)
        .map(|row| row.split('|').nth(1).unwrap().trim())
        .collect();
    rows.dedup();
    let others = rows.iter().filter(|row| !TRIED.contains(row));
    assert_eq!(others.collect::<Vec<_>>(), [&"75", &"76", &"77"]);
    assert_eq!(rows.len(), TRIED.len() + 3);
}

#[test]
fn an_error_names_the_page_that_helps_where_there_is_one() {
    let desk = desk();
    desk.write("broken.yaml", "treepie: placement\nversion: 1\nranks: [\n");
    desk.write("m.txt", "0 1\n1 x\n");
    let words = |text: &str| desk.run(&text.split(' ').collect::<Vec<_>>()).err;
    for (text, page) in [
        ("replay broken.yaml -- ./mpirun -np 2 /bin/sh", "files"),
        ("profile -- ./absent", ""),
        ("show none.yaml", ""),
        ("profile -o a%q.yaml -- ./mpirun -np 2 /bin/sh", "variables"),
        ("replay --order m.txt -- ./mpirun -np 2 /bin/sh", "orders"),
        ("map m.txt --tree 2:2", "files"),
        ("show torus:0x4", "networks"),
        ("why --pages .", "hangs"),
    ] {
        let line = words(text);
        let hint = format!(" (more: `treepie help {page}`)\n");
        assert_eq!(line.ends_with(&hint), !page.is_empty(), "{text}: {line}");
        assert_eq!(
            line.contains("treepie help"),
            !page.is_empty(),
            "{text}: {line}"
        );
    }
}
