//! Time slices of the scheduler for ranks that wait for each other on fewer cores than ranks.

/// A time slice in nanoseconds: the least that Linux accepts.
const TURN: u64 = 100_000;

/// Gives this thread, and the jobs that it starts from now on, short time slices. A rank that finds
/// no message yields; then a process that computes on its core keeps it for a slice of its own,
/// some milliseconds, unless the rank's own slices are shorter (Linux 6.12: the scheduler serves
/// short slices first; older kernels ignore it). With this, mpi4py's one-sided tests on four ranks
/// take a quarter of the time beside a compiler. Shares of the cores do not change.
pub fn take_short_turns() {
    let size = size_of::<libc::sched_attr>() as u32;
    // SAFETY: all of its fields are numbers, for which zero is valid.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    // SAFETY: this thread's attributes are written into a structure of that size.
    let known = unsafe {
        libc::syscall(
            libc::SYS_sched_getattr,
            0,
            std::ptr::from_mut(&mut attributes),
            size,
            0,
        )
    };
    if known != 0 {
        return;
    }
    attributes.size = size;
    attributes.sched_runtime = TURN;
    // SAFETY: the structure is complete, and only read.
    unsafe {
        libc::syscall(
            libc::SYS_sched_setattr,
            0,
            std::ptr::from_ref(&attributes),
            0,
        )
    };
}
