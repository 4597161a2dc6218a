//! Processes of this host, and their pages.

use std::fs;

use treepie_jobstate::pages::{Page, ProcessStatus, process_of_stat, reads_input};

/// True if this is a name of this host, with or without its domain.
pub(crate) fn is_this_host(name: &str) -> bool {
    let own = rustix::system::uname();
    let own = own.nodename().to_string_lossy();
    let first = |name: &str| name.split('.').next().unwrap_or_default().to_lowercase();
    first(name) == first(&own)
}

/// The process of a page, if it lives on this host: process numbers are reused.
pub(crate) fn process_of(page: &Page) -> Option<ProcessStatus> {
    let process = process(page.state.process)?;
    let is_it = process.started == page.started && process.state != 'Z';
    // The kernel waits for a running thread before it reports its system call. A wave of cuts,
    // which polls all the time, does not need it.
    let is_inside = page.state.threads.iter().any(|thread| thread.inside);
    let may_read = process.state == 'S' && !is_inside && page.state.stop.is_none();
    is_it.then(|| ProcessStatus {
        reads_input: may_read && reads_its_input(page.state.process),
        ..process
    })
}

/// True if a thread of this process is in a read of standard input; `false` if this user may not
/// see that.
pub(crate) fn reads_its_input(number: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{number}/task"));
    let mut threads = threads.into_iter().flatten().flatten();
    threads.any(|thread| {
        let call = fs::read_to_string(thread.path().join("syscall"));
        call.is_ok_and(|text| reads_input(&text))
    })
}

pub(crate) fn process(number: u32) -> Option<ProcessStatus> {
    let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    process_of_stat(&text)
}

pub(crate) fn is_descendant(mut number: u32, ancestor: u32) -> bool {
    // No tree of processes is deeper.
    for _ in 0..64 {
        if number == ancestor {
            return true;
        }
        match process(number) {
            Some(process) if process.parent > 1 => number = process.parent,
            _ => return false,
        }
    }
    false
}
