//! Monitor thread: saves counts, ends phase intervals, and answers requests of this host's other
//! ranks. A rank that is about to end the job first requests the others' partial profiles, because
//! some launchers kill without warning.
//!
//! The ranks of a host reach each other through datagram sockets whose names consist of the run's
//! number and the rank, in Linux's abstract name space: no files. All users of a host see these
//! names, and may send; so the kernel attaches the sender's user to each message, and messages of
//! other users are not answered. A message is one byte, since signal handlers send it too. No MPI
//! call is made here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use std::{io, mem, ptr};

use libc::{c_int, sa_family_t, sockaddr_un, socklen_t, uid_t};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use treepie_base::Rank;
use treepie_mpi::system::with_signals_blocked;
use treepie_process::guard::guarded;
use treepie_record::{clock, phases};

use super::decision::Recording;
use super::partial;

/// The request "write your partial profile", and its answer.
const WRITE: u8 = b'l';
const WRITTEN: u8 = b'd';
/// A message that only wakes the monitor.
const WAKE: u8 = b'w';

/// Longest time in milliseconds that a rank that ends the job waits for the others.
const LONGEST_WAIT: c_int = 2_000;

/// Monitor of this process.
struct Monitor {
    run: u64,
    rank: u64,
    ranks: u64,
    /// Socket on which other ranks reach this process; `None` if the system gave none.
    socket: Option<c_int>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
    /// True if the thread is to end.
    ends: Arc<AtomicBool>,
    /// True if this process has called the others.
    called: AtomicBool,
}

static MONITOR: OnceCell<Monitor> = OnceCell::new();

/// Starts the thread. Without it a job that ends normally loses no data.
pub fn start(recording: &Recording, rank: Rank) {
    let mut monitor = Monitor {
        run: recording.run.run,
        rank: rank.0 as u64,
        ranks: recording.run.ranks as u64,
        socket: None,
        thread: Mutex::new(None),
        ends: Arc::default(),
        called: AtomicBool::new(false),
    };
    monitor.socket = monitor.named_socket();
    let save_every = recording.save_every;
    if let Some(socket) = monitor.socket {
        let ends = Arc::clone(&monitor.ends);
        let work = move || guarded("saving what is counted", || run(socket, save_every, &ends));
        // The thread inherits the blocked signals, which are for the application.
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

/// Ends the thread, and waits until it has ended.
pub fn stop() {
    let Some(monitor) = MONITOR.get() else { return };
    let (Some(socket), Some(thread)) = (monitor.socket, monitor.thread.lock().take()) else {
        return;
    };
    monitor.ends.store(true, Ordering::Release);
    let own = monitor.name_of(monitor.rank);
    let sent = send(socket, WAKE, &own, libc::MSG_DONTWAIT);
    // If the queue is full, its other messages wake the monitor.
    let is_woken = sent || io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock;
    if is_woken && thread.join().is_ok() {
        // SAFETY: this library owns the descriptor, and its thread has ended.
        unsafe { libc::close(socket) };
    }
}

fn run(socket: c_int, save_every: Option<Duration>, ends: &AtomicBool) {
    let mut next_save = save_every.map(|each| now() + each);
    while !ends.load(Ordering::Acquire) {
        let interval = phases::turn_interval();
        if let (Some(due), Some(each)) = (next_save, save_every)
            && now() >= due
        {
            partial::write();
            next_save = Some(now() + each);
        }
        let until = next_save.map(|due| due.saturating_sub(now()));
        let sleep = interval.into_iter().chain(until).min();
        answer(socket, sleep);
    }
}

fn now() -> Duration {
    Duration::from_nanos(clock::now())
}

/// Waits for a message, for `sleep` or without limit, and carries out its request.
fn answer(socket: c_int, sleep: Option<Duration>) {
    let milliseconds = match sleep {
        // Rounded up: a wake-up that is early would be useless.
        Some(sleep) => c_int::try_from(sleep.as_millis() + 1).unwrap_or(c_int::MAX),
        None => -1,
    };
    if let Some(Message {
        byte: WRITE,
        user,
        from,
    }) = receive(socket, milliseconds)
        && is_own(user)
    {
        partial::write();
        send(socket, WRITTEN, &from, libc::MSG_DONTWAIT);
    }
}

/// True if a message comes from a process of this user: the kernel reports the real user of a
/// process.
fn is_own(user: Option<uid_t>) -> bool {
    // SAFETY: neither has preconditions.
    let own = unsafe { [libc::getuid(), libc::geteuid()] };
    user.is_some_and(|user| own.contains(&user))
}

/// Requests the partial profiles of this host's other ranks, and waits briefly until they are
/// written. Once in a process; callable in a signal handler.
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
        // An address of the system's choice, for the answers.
        let family = libc::AF_UNIX as sa_family_t;
        let unnamed = mem::size_of::<sa_family_t>() as socklen_t;
        // SAFETY: the address is live, and has this length.
        unsafe { libc::bind(socket, (&raw const family).cast(), unnamed) };
        // Names of ranks on other hosts do not exist here.
        let others = (0..self.ranks).filter(|&rank| rank != self.rank);
        let mut called = others
            .filter(|&rank| send(socket, WRITE, &self.name_of(rank), libc::MSG_DONTWAIT))
            .count();
        let began = now();
        while called > 0 {
            let spent = now().saturating_sub(began).as_millis();
            let left = LONGEST_WAIT - c_int::try_from(spent).unwrap_or(LONGEST_WAIT);
            if left <= 0 {
                break;
            }
            match receive(socket, left) {
                Some(message) => called -= usize::from(is_own(message.user)),
                None => break,
            }
        }
        // SAFETY: this library owns the descriptor.
        unsafe { libc::close(socket) };
    }

    /// Returns a socket with this rank's name.
    fn named_socket(&self) -> Option<c_int> {
        let socket = new_socket();
        let (name, length) = self.name_of(self.rank);
        // SAFETY: the name is live for the call, and has this length.
        let bound = unsafe { libc::bind(socket, (&raw const name).cast(), length) };
        if bound != 0 {
            // SAFETY: this library owns the descriptor.
            unsafe { libc::close(socket) };
            return None;
        }
        Some(socket)
    }

    /// Returns the name of a rank's socket: NUL, `treepie-`, run, `-`, rank, in hexadecimal.
    fn name_of(&self, rank: u64) -> (sockaddr_un, socklen_t) {
        // SAFETY: all zeros is a valid address.
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

/// Sends a byte; true if the receiver exists.
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

/// Returns a socket whose messages come with the user who sent them.
fn new_socket() -> c_int {
    let yes: c_int = 1;
    let length = mem::size_of::<c_int>() as socklen_t;
    // SAFETY: the option's value is live for the call, and has this length.
    unsafe {
        let socket = libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        let value = (&raw const yes).cast();
        libc::setsockopt(socket, libc::SOL_SOCKET, libc::SO_PASSCRED, value, length);
        socket
    }
}

/// Received message.
struct Message {
    byte: u8,
    /// User of the process that sent it.
    user: Option<uid_t>,
    from: (sockaddr_un, socklen_t),
}

/// Buffer for the sender's credentials only: descriptors that arrive with the message are closed.
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

// SAFETY: no pointers.
const CONTROL: usize = unsafe { libc::CMSG_SPACE(mem::size_of::<libc::ucred>() as u32) } as usize;

/// Receives a message; `None` after a timeout.
fn receive(socket: c_int, milliseconds: c_int) -> Option<Message> {
    let mut ready = libc::pollfd {
        fd: socket,
        events: libc::POLLIN,
        revents: 0,
    };
    let (mut byte, mut control) = (0u8, Control([0; CONTROL]));
    let mut part = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    // SAFETY: all memory that is written is live and has the stated lengths; all-zero headers are
    // valid, and the kernel has filled the parts that are read.
    unsafe {
        if libc::poll(&mut ready, 1, milliseconds) <= 0 {
            return None;
        }
        let (mut from, mut header): (sockaddr_un, libc::msghdr) = mem::zeroed();
        header.msg_name = (&raw mut from).cast();
        header.msg_namelen = mem::size_of::<sockaddr_un>() as socklen_t;
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = (&raw mut control.0).cast();
        header.msg_controllen = CONTROL as _;
        let received = libc::recvmsg(socket, &mut header, libc::MSG_DONTWAIT);
        (received >= 0).then(|| Message {
            byte,
            user: user_of(&header),
            from: (from, header.msg_namelen),
        })
    }
}

/// Returns the user whose process sent a message.
///
/// # Safety
/// The header is that of a received message, with its parts live.
unsafe fn user_of(header: &libc::msghdr) -> Option<uid_t> {
    // SAFETY: the caller's promise; data that the kernel marks as credentials are credentials.
    unsafe {
        let first = libc::CMSG_FIRSTHDR(header).as_ref()?;
        let is_user =
            first.cmsg_level == libc::SOL_SOCKET && first.cmsg_type == libc::SCM_CREDENTIALS;
        is_user.then(|| {
            let data = libc::CMSG_DATA(first).cast::<libc::ucred>();
            ptr::read_unaligned(data).uid
        })
    }
}
