//! Failures as reported by launchers, and the limits against loops.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::checkpoints::{Checkpoint, Checkpoints, fits};
use super::launchers::{Death, Heard};
use super::*;

fn heard(text: &str) -> Heard {
    let mut heard = Heard::default();
    text.lines().for_each(|line| heard.line(line));
    heard
}

/// An attempt of three ranks with this status, `left` of which left a partial profile.
fn facts(statuses: Statuses, status: u8, left: usize) -> Facts {
    Facts {
        status,
        statuses,
        finalized: false,
        left: (left > 0).then_some(PartialProfileCount {
            partial_profiles: left,
            ranks: 3,
        }),
        heard: Heard::default(),
        silent_hosts: Vec::new(),
        stopped_by: None,
        stalled: false,
    }
}

fn killed(signal: u8, rank: Option<usize>, host: Option<&str>) -> End {
    let host = host.map(str::to_owned);
    End::Killed { signal, rank, host }
}

const CLEANED_UP: &str = "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n\
    =   PID 13457 RUNNING AT n2\n=   EXIT CODE: 9\n\
    YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)";

const INTEL: &str = "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n\
    =   RANK 1 PID 77 RUNNING AT n3\n=   KILLED BY SIGNAL: 11 (Segmentation fault)";

const OPEN_MPI: &str =
    "mpirun noticed that process rank 1 with PID 0 on node n1 exited on signal 9 (Killed).";

#[test]
fn launchers_name_the_rank_the_host_and_the_signal_as_far_as_they_do() {
    let death = |rank, host: &str, signal| Death {
        rank,
        host: Some(host.to_owned()),
        signal: Some(signal),
    };
    assert_eq!(heard(OPEN_MPI).deaths, [death(Some(1), "n1", 9)]);
    assert_eq!(heard(CLEANED_UP).deaths, [death(None, "n2", 9)]);
    assert_eq!(heard(INTEL).deaths, [death(Some(1), "n3", 11)]);
    let slurm = "srun: error: n7: task 12: Segmentation fault (core dumped)\n\
        srun: error: n8: task 3: Exited with exit code 1";
    assert_eq!(heard(slurm).deaths, [death(Some(12), "n7", 11)]);
    let pals = "n3.hsn.cluster: rank 3 died from signal 9";
    assert_eq!(heard(pals).deaths, [death(Some(3), "n3.hsn.cluster", 9)]);
}

#[test]
fn launchers_name_a_host_whose_daemon_was_lost() {
    for text in [
        "  HNP daemon   : [[39823,0],0] on node n0\n  Remote daemon: [[39823,0],2] on node n2",
        "srun: error: Node failure on n2",
    ] {
        assert_eq!(heard(text).lost_hosts, ["n2"], "{text}");
    }
}

#[test]
fn what_a_program_prints_is_no_loss() {
    let text = "node n2 is lost\nPID 3 RUNNING AT n1\n= \n=\nExited on signal 9\n\
        srun: error: n1: task x: Killed\nRemote daemon: here";
    assert_eq!(heard(text), Heard::default());
}

#[test]
fn a_signal_is_understood_from_the_status_of_each_launcher() {
    let shell = |status| facts(Statuses::Shell, status, 2).end();
    for (status, signal) in [(137, 9), (139, 11), (143, 15)] {
        assert_eq!(shell(status), killed(signal, None, None));
    }
    let bare = |status| facts(Statuses::Bare, status, 0).end();
    for signal in [9, 11, 15] {
        assert_eq!(bare(signal), killed(signal, None, None));
    }
    // SIGTERM is caught: each rank leaves its partial profile.
    let all_left = facts(Statuses::Bare, 15, 3).end();
    assert_eq!(all_left, killed(15, None, None));
}

#[test]
fn exit_codes_and_aborts_are_the_programs() {
    // _exit(3), MPI_Abort(7), the status of Open MPI for _exit(0), lost daemons without a name.
    for status in [3, 7, 1, 205] {
        assert_eq!(facts(Statuses::Shell, status, 3).end(), End::Program);
    }
    for status in [3, 7, 1, 255] {
        assert_eq!(facts(Statuses::Bare, status, 3).end(), End::Program);
        assert_eq!(facts(Statuses::Bare, status, 0).end(), {
            match status {
                7 => killed(7, None, None),
                _ => End::Program,
            }
        });
    }
}

#[test]
fn status_zero_is_not_trusted_without_a_whole_profile() {
    for statuses in [Statuses::Shell, Statuses::Bare] {
        assert_eq!(facts(statuses, 0, 3).end(), End::Program);
        assert_eq!(facts(statuses, 0, 0).end(), End::Program);
    }
}

#[test]
fn a_job_whose_ranks_all_reached_the_end_is_finished_whatever_its_status() {
    for status in [0, 3, 139] {
        let ended = Facts {
            finalized: true,
            stopped_by: Some(15),
            heard: heard(OPEN_MPI),
            ..facts(Statuses::Shell, status, 0)
        };
        assert_eq!(ended.end(), End::Finished);
    }
}

#[test]
fn ranks_that_hydra_ended_after_a_program_failed_are_no_reason() {
    let with = |left| Facts {
        heard: heard(CLEANED_UP),
        ..facts(Statuses::Bare, 9, left)
    };
    assert_eq!(with(3).end(), End::Program);
    assert_eq!(with(2).end(), killed(9, None, Some("n2")));
    assert_eq!(with(0).end(), killed(9, None, Some("n2")));
}

#[test]
fn of_ranks_that_slurm_says_were_ended_the_first_is_the_reason() {
    let ended = Facts {
        heard: heard("srun: error: n0: task 0: Killed\nsrun: error: n1: task 1: Terminated"),
        ..facts(Statuses::Shell, 143, 1)
    };
    assert_eq!(ended.end(), killed(9, Some(0), Some("n0")));
}

#[test]
fn hosts_that_are_silent_or_whose_daemon_is_gone_are_lost() {
    let ended = Facts {
        heard: heard("Remote daemon: [[1,0],2] on node n2"),
        silent_hosts: vec!["n4".to_owned(), "n2".to_owned()],
        stalled: true,
        ..facts(Statuses::Shell, 205, 0)
    };
    let hosts = vec!["n2".to_owned(), "n4".to_owned()];
    assert_eq!(ended.end(), End::HostsLost { hosts });
}

#[test]
fn an_end_that_a_signal_asked_for_is_no_failure_of_hosts() {
    let ended = Facts {
        stopped_by: Some(15),
        silent_hosts: vec!["n4".to_owned()],
        ..facts(Statuses::Shell, 143, 3)
    };
    assert_eq!(ended.end(), End::Stopped { signal: 15 });
    let stalled = Facts {
        stalled: true,
        ..facts(Statuses::Shell, 143, 3)
    };
    assert_eq!(stalled.end(), End::Stalled);
}

const LIMITS: Limits = Limits {
    attempts: 5,
    time: Some(Duration::from_secs(1000)),
    at_once: Duration::from_secs(10),
};

fn ended(end: End, seconds: u64, progress: Progress) -> Ended {
    Ended {
        end,
        took: Duration::from_secs(seconds),
        progress,
        since_start: Duration::from_secs(seconds),
        can_leave_out: true,
    }
}

/// The decision after the last of these attempts; the previous ones are each followed by another.
#[track_caller]
fn after(attempts: &[Ended]) -> Decision {
    let mut history = History::default();
    let (last, before) = attempts.split_last().unwrap();
    for one in before {
        let next = history.after(one, &LIMITS);
        assert!(
            matches!(next, Decision::Restart { .. }),
            "{one:?}: {next:?}"
        );
    }
    history.after(last, &LIMITS)
}

fn restart(hosts: &[&str]) -> Decision {
    Decision::Restart {
        leave_out: hosts.iter().map(|&host| host.to_owned()).collect(),
    }
}

fn lost(host: &str) -> End {
    End::HostsLost {
        hosts: vec![host.to_owned()],
    }
}

#[test]
fn a_finished_job_and_one_that_was_told_to_end_are_not_run_again() {
    let finished = ended(End::Finished, 1, Progress::None);
    assert_eq!(after(&[finished]), Decision::Done);
    let stopped = ended(End::Stopped { signal: 15 }, 1, Progress::Made);
    assert_eq!(after(&[stopped]), Decision::GiveUp(Reason::Stopped));
}

#[test]
fn a_program_that_fails_is_run_once_more() {
    for progress in [Progress::None, Progress::Unknown] {
        let fails = ended(End::Program, 100, progress);
        let twice = [fails.clone(), fails];
        assert_eq!(after(&twice), Decision::GiveUp(Reason::Program));
    }
    let gains = ended(End::Program, 100, Progress::Made);
    assert_eq!(after(&[gains.clone(), gains.clone()]), restart(&[]));
    let all = vec![gains; LIMITS.attempts];
    assert_eq!(after(&all), Decision::GiveUp(Reason::Attempts));
}

#[test]
fn a_job_that_fails_at_once_twice_is_given_up() {
    for end in [End::Program, killed(11, None, None)] {
        for progress in [Progress::None, Progress::Unknown] {
            let fails = ended(end.clone(), 2, progress);
            let twice = [fails.clone(), fails];
            assert_eq!(after(&twice), Decision::GiveUp(Reason::AtOnce));
        }
    }
}

#[test]
fn an_attempt_that_lasts_is_a_gain_where_nobody_knows_of_checkpoints() {
    let quick = ended(End::Program, 2, Progress::Unknown);
    let dies = |seconds| ended(killed(11, None, None), seconds, Progress::Unknown);
    assert_eq!(after(&[dies(2), dies(100), quick]), restart(&[]));
}

#[test]
fn a_loop_that_gains_nothing_ends() {
    for end in [killed(9, None, None), End::Stalled] {
        let idle = ended(end, 100, Progress::None);
        let gains = Ended {
            progress: Progress::Made,
            ..idle.clone()
        };
        let attempts = [gains, idle.clone(), idle];
        assert_eq!(after(&attempts), Decision::GiveUp(Reason::NoProgress));
    }
    // A stalled attempt has no checkpoints, whether or not the restart knows their location.
    let stalled = ended(End::Stalled, 100, Progress::Unknown);
    let twice = [stalled.clone(), stalled];
    assert_eq!(after(&twice), Decision::GiveUp(Reason::NoProgress));
}

#[test]
fn lost_hosts_are_left_out_and_are_no_fault_of_the_programs() {
    let loses = |host| ended(lost(host), 2, Progress::None);
    assert_eq!(after(&[loses("n1")]), restart(&["n1"]));
    assert_eq!(after(&[loses("n1"), loses("n2")]), restart(&["n2"]));
    // The only host cannot be left out.
    let alone = Ended {
        can_leave_out: false,
        ..loses("n1")
    };
    let twice = [alone.clone(), alone];
    assert_eq!(after(&twice), Decision::GiveUp(Reason::AtOnce));
}

#[test]
fn the_same_rank_on_two_hosts_is_the_program_and_other_ranks_there_are_the_host() {
    let dies = |rank, host| ended(killed(9, Some(rank), Some(host)), 100, Progress::None);
    assert_eq!(after(&[dies(3, "n1")]), restart(&["n1"]));
    assert_eq!(after(&[dies(3, "n1"), dies(4, "n2")]), restart(&["n2"]));
    let twice = [dies(3, "n1"), dies(3, "n2")];
    assert_eq!(after(&twice), Decision::GiveUp(Reason::Program));
}

#[test]
fn no_attempt_starts_after_the_time() {
    let late = Ended {
        since_start: Duration::from_secs(1000),
        ..ended(lost("n1"), 100, Progress::Made)
    };
    assert_eq!(after(&[late]), Decision::GiveUp(Reason::Time));
}

fn roster(hosts: &[(&str, usize)], most: Option<usize>, keeps_ranks: bool) -> Roster {
    let host = |&(name, slots): &(&str, usize)| Host {
        name: name.to_owned(),
        slots,
    };
    Roster::new(hosts.iter().map(host).collect(), most, keeps_ranks)
}

fn chosen(roster: &mut Roster, ranks: usize) -> Vec<(String, usize)> {
    let hosts = roster.choose(ranks).unwrap();
    hosts
        .into_iter()
        .map(|host| (host.name, host.slots))
        .collect()
}

fn names(names: &[(&str, usize)]) -> Vec<(String, usize)> {
    let owned = |&(name, slots): &(&str, usize)| (name.to_owned(), slots);
    names.iter().map(owned).collect()
}

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn spare_hosts_take_over_and_without_them_the_rest_takes_more_ranks_if_allowed() {
    let four = [("a", 2), ("b", 2), ("c", 2), ("d", 2)];
    let mut with_spare = roster(&four, None, false);
    assert_eq!(chosen(&mut with_spare, 6), names(&four[..3]));
    assert_eq!(with_spare.leave_out(&list(&["b"]), Out::Lost), ["b"]);
    let others = names(&[("a", 2), ("c", 2), ("d", 2)]);
    assert_eq!(chosen(&mut with_spare, 6), others);

    let too_few = with_spare.choose(8);
    assert_eq!(too_few, Err(TooFew::Slots { slots: 6, ranks: 8 }));
    let mut crowded = roster(&four, Some(3), false);
    crowded.leave_out(&list(&["b"]), Out::Lost);
    let crowd = names(&[("a", 3), ("c", 3), ("d", 2)]);
    assert_eq!(chosen(&mut crowded, 8), crowd);
    assert!(crowded.choose(10).is_err());
}

#[test]
fn hosts_come_back_when_they_answer_until_they_were_lost_twice() {
    let mut hosts = roster(&[("a", 1), ("b", 1), ("c", 1)], None, false);
    hosts.leave_out(&list(&["a", "nobody"]), Out::Lost);
    assert_eq!(hosts.may_come_back(), ["a"]);
    hosts.is_back("a");
    assert_eq!(chosen(&mut hosts, 2), names(&[("a", 1), ("b", 1)]));
    hosts.leave_out(&list(&["a"]), Out::Lost);
    assert_eq!(hosts.may_come_back(), [""; 0]);
}

#[test]
fn a_host_where_a_rank_died_comes_back_only_where_the_others_do_not_suffice() {
    let mut hosts = roster(&[("a", 1), ("b", 1), ("c", 1)], None, false);
    hosts.leave_out(&list(&["a"]), Out::Suspect);
    assert_eq!(hosts.may_come_back(), [""; 0]);
    assert_eq!(chosen(&mut hosts, 2), names(&[("b", 1), ("c", 1)]));
    assert_eq!(chosen(&mut hosts, 3).len(), 3);
}

#[test]
fn the_last_host_is_never_left_out() {
    let mut hosts = roster(&[("a", 1), ("b", 1)], None, false);
    assert_eq!(hosts.leave_out(&list(&["a", "b"]), Out::Lost), ["a"]);
    assert!(!hosts.can_leave_out());
}

#[test]
fn with_local_files_a_spare_takes_the_place_of_a_lost_host_and_nobody_else_moves() {
    let mut hosts = roster(
        &[("a", 2), ("b", 2), ("c", 2), ("d", 1), ("e", 2)],
        None,
        true,
    );
    assert_eq!(
        chosen(&mut hosts, 6),
        names(&[("a", 2), ("b", 2), ("c", 2)])
    );
    hosts.leave_out(&list(&["b"]), Out::Lost);
    assert_eq!(
        chosen(&mut hosts, 6),
        names(&[("a", 2), ("e", 2), ("c", 2)])
    );
    hosts.leave_out(&list(&["a"]), Out::Lost);
    let host = "a".to_owned();
    assert_eq!(hosts.choose(6), Err(TooFew::Spares { host, slots: 2 }));
}

fn checkpoint(name: &str, second: u64, bytes: u64) -> Checkpoint {
    Checkpoint {
        path: PathBuf::from(name),
        modified: SystemTime::UNIX_EPOCH + Duration::from_secs(second),
        bytes,
    }
}

#[test]
fn a_restart_begins_from_the_newest_whole_checkpoint_of_this_job() {
    let other = checkpoint("old.900", 9, 5);
    let mut known = Checkpoints::new(vec![other.clone()]);
    let found = [
        other,
        checkpoint("c.80", 3, 5),
        checkpoint("c.100", 3, 5),
        checkpoint("c.120", 4, 0),
    ];
    assert_eq!(known.newest(&found), Some(&found[2]));
    known.suspect(found[2].clone());
    assert_eq!(known.newest(&found), Some(&found[1]));
    known.suspect(found[1].clone());
    assert_eq!(known.newest(&found), None);
    // It was written again.
    let again = [checkpoint("c.100", 7, 5)];
    assert_eq!(known.newest(&again), Some(&again[0]));
}

#[test]
fn progress_is_a_checkpoint_that_is_new_or_was_written_again() {
    let known = Checkpoints::default();
    let before = [checkpoint("c.1", 1, 5)];
    let progress = |after: &[Checkpoint]| known.progress(&before, after);
    assert_eq!(progress(&before), Progress::None);
    assert_eq!(progress(&[]), Progress::None);
    assert_eq!(progress(&[checkpoint("c.2", 2, 0)]), Progress::None);
    assert_eq!(progress(&[checkpoint("c.2", 2, 1)]), Progress::Made);
    assert_eq!(progress(&[checkpoint("c.1", 2, 5)]), Progress::Made);
}

#[test]
fn patterns_fit_names_as_in_a_shell() {
    for (pattern, name, expected) in [
        ("melt.restart.*", "melt.restart.140", true),
        ("melt.restart.*", "melt.restart.", true),
        ("melt.restart.*", "melt.restart", false),
        ("*.ckpt", ".hidden.ckpt", false),
        (".*", ".hidden", true),
        ("a?c*e", "abcde", true),
        ("a?c*e", "ace", false),
        ("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ("", "", true),
    ] {
        assert_eq!(fits(name, pattern), expected, "{pattern} {name}");
    }
}
