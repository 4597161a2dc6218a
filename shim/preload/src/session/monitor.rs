//! Monitor thread: writes checkpoints, ends phase intervals, and answers requests of this host's
//! other ranks. A rank that is about to end the job has the others write their partial profiles
//! first, because some launchers kill without warning.
//!
//! The ranks of a host reach each other through datagram sockets whose names are made of the run's
//! number and the rank, in Linux's abstract name space: no files, and no strangers. A message is
//! one byte, since signal handlers send it too. No MPI call is made here.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use libc::{c_int, sa_family_t, sockaddr_un, socklen_t};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;

use super::decision::Recording;
use super::partial;
use crate::guard::guarded;
use crate::machine::with_signals_blocked;
use crate::record::phases;

/// "Write your partial profile", and the answer.
const WRITE: u8 = b'l';
const WRITTEN: u8 = b'd';
/// This process ends its own monitor.
const QUIT: u8 = b'q';

/// How long a rank that ends the job waits for the others.
const LONGEST_WAIT: c_int = 2_000;

/// The monitor of this process.
struct Monitor {
    run: u64,
    rank: u64,
    ranks: u64,
    /// Where others call this process; `None` where the system gave no socket.
    socket: Option<c_int>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
    /// Whether this process has called the others.
    called: AtomicBool,
}

static MONITOR: OnceCell<Monitor> = OnceCell::new();

/// Starts the thread. Without it nothing is lost in an orderly job.
pub fn start(recording: &Recording, rank: usize) {
    let mut monitor = Monitor {
        run: recording.run.run,
        rank: rank as u64,
        ranks: recording.run.ranks as u64,
        socket: None,
        thread: Mutex::new(None),
        called: AtomicBool::new(false),
    };
    monitor.socket = monitor.named_socket();
    let checkpoint = recording.checkpoint;
    if let Some(socket) = monitor.socket {
        let work = move || guarded("watching for checkpoints", || run(socket, checkpoint));
        // The thread inherits that signals are blocked: they are the application's.
        let thread = with_signals_blocked(|| {
            thread::Builder::new()
                .name("treepie".to_owned())
                .stack_size(256 * 1024)
                .spawn(work)
        });
        monitor.thread = Mutex::new(thread.ok());
    }
    let _ = MONITOR.set(monitor);
}

/// Ends the thread, and waits for that.
pub fn stop() {
    let Some(monitor) = MONITOR.get() else { return };
    let (Some(socket), Some(thread)) = (monitor.socket, monitor.thread.lock().take()) else {
        return;
    };
    if send(socket, QUIT, &monitor.name_of(monitor.rank), 0) && thread.join().is_ok() {
        // SAFETY: the descriptor is ours, and its thread has ended.
        unsafe { libc::close(socket) };
    }
}

fn run(socket: c_int, checkpoint: Option<Duration>) {
    let mut next_checkpoint = checkpoint.map(|each| now() + each);
    loop {
        let interval = phases::turn_interval();
        if let (Some(due), Some(each)) = (next_checkpoint, checkpoint)
            && now() >= due
        {
            partial::write();
            next_checkpoint = Some(now() + each);
        }
        let until = next_checkpoint.map(|due| due.saturating_sub(now()));
        let sleep = interval.into_iter().chain(until).min();
        if answer(socket, sleep) == Some(QUIT) {
            return;
        }
    }
}

fn now() -> Duration {
    Duration::from_nanos(phases::now())
}

/// Waits so long, or without end, and does what is asked for.
fn answer(socket: c_int, sleep: Option<Duration>) -> Option<u8> {
    let milliseconds = match sleep {
        // A little late is on time; early is a turn for nothing.
        Some(sleep) => c_int::try_from(sleep.as_millis() + 1).unwrap_or(c_int::MAX),
        None => -1,
    };
    let (byte, from, length) = receive(socket, milliseconds)?;
    if byte == WRITE {
        partial::write();
        send(socket, WRITTEN, &(from, length), libc::MSG_DONTWAIT);
    }
    Some(byte)
}

/// Has the other ranks of this host write their partial profiles, and waits until they have, but
/// not long. Once in a process; callable in a signal handler.
pub fn call_others() {
    if let Some(monitor) = MONITOR.get()
        && partial::is_armed()
        && !monitor.called.swap(true, Ordering::AcqRel)
    {
        monitor.call_others();
    }
}

impl Monitor {
    fn call_others(&self) {
        let socket = new_socket();
        // A name of the system's choice, for the answers.
        let family = libc::AF_UNIX as sa_family_t;
        let unnamed = mem::size_of::<sa_family_t>() as socklen_t;
        // SAFETY: the address is live, and has this length.
        unsafe { libc::bind(socket, (&raw const family).cast(), unnamed) };
        // Nobody has the names of ranks on other hosts.
        let others = (0..self.ranks).filter(|&rank| rank != self.rank);
        let mut called = others
            .filter(|&rank| send(socket, WRITE, &self.name_of(rank), libc::MSG_DONTWAIT))
            .count();
        let began = now();
        while called > 0 {
            let spent = now().saturating_sub(began).as_millis();
            let left = LONGEST_WAIT - c_int::try_from(spent).unwrap_or(LONGEST_WAIT);
            if left <= 0 || receive(socket, left).is_none() {
                break;
            }
            called -= 1;
        }
        // SAFETY: the descriptor is ours.
        unsafe { libc::close(socket) };
    }

    /// A socket that has this rank's name.
    fn named_socket(&self) -> Option<c_int> {
        let socket = new_socket();
        let (name, length) = self.name_of(self.rank);
        // SAFETY: the name is live for the call, and has this length.
        let bound = unsafe { libc::bind(socket, (&raw const name).cast(), length) };
        if bound != 0 {
            // SAFETY: the descriptor is ours.
            unsafe { libc::close(socket) };
            return None;
        }
        Some(socket)
    }

    /// The name of a rank's socket: NUL, `treepie-`, run, `-`, rank, in hexadecimal.
    fn name_of(&self, rank: u64) -> (sockaddr_un, socklen_t) {
        // SAFETY: an address of zeros is an address.
        let mut name: sockaddr_un = unsafe { mem::zeroed() };
        name.sun_family = libc::AF_UNIX as sa_family_t;
        let mut at = 1;
        let mut put = |byte: u8| {
            name.sun_path[at] = byte as libc::c_char;
            at += 1;
        };
        b"treepie-".iter().for_each(|&byte| put(byte));
        for number in [self.run, rank] {
            for shift in (0..16).rev() {
                put(b"0123456789abcdef"[(number >> (4 * shift)) as usize & 15]);
            }
            put(b'-');
        }
        let length = mem::offset_of!(sockaddr_un, sun_path) + at;
        (name, length as socklen_t)
    }
}

/// Sends a byte; whether the receiver is there.
fn send(socket: c_int, byte: u8, (to, length): &(sockaddr_un, socklen_t), flags: c_int) -> bool {
    // SAFETY: a live byte, and a live address of this length.
    let sent = unsafe {
        libc::sendto(
            socket,
            (&raw const byte).cast(),
            1,
            flags,
            (&raw const *to).cast(),
            *length,
        )
    };
    sent == 1
}

fn new_socket() -> c_int {
    // SAFETY: no pointers.
    unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) }
}

/// A byte, and whom it is from; nothing when the time is over.
fn receive(socket: c_int, milliseconds: c_int) -> Option<(u8, sockaddr_un, socklen_t)> {
    let mut ready = libc::pollfd {
        fd: socket,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut byte = 0u8;
    // SAFETY: all that is written to is live and as long as is said.
    unsafe {
        if libc::poll(&mut ready, 1, milliseconds) <= 0 {
            return None;
        }
        let mut from: sockaddr_un = mem::zeroed();
        let mut length = mem::size_of::<sockaddr_un>() as socklen_t;
        let received = libc::recvfrom(
            socket,
            (&raw mut byte).cast(),
            1,
            libc::MSG_DONTWAIT,
            (&raw mut from).cast(),
            &mut length,
        );
        (received == 1).then_some((byte, from, length))
    }
}
