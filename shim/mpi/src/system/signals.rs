//! Signals that a thread takes.

/// Runs `work` while this thread takes no signals.
pub fn with_signals_blocked<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: the sets are live for the calls, which fill the second one.
    let before = unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
        before
    };
    let result = work();
    // SAFETY: `before` was filled above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
    result
}
