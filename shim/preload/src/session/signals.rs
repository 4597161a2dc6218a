//! SIGTERM and SIGINT: this rank writes its partial profile, then the application's or the system's
//! action for the signal is taken.

use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use libc::{c_int, c_void, sigaction, siginfo_t};
use once_cell::sync::OnceCell;
use treepie_record::page;

use super::{monitor, partial};

const SIGNALS: [c_int; 2] = [libc::SIGTERM, libc::SIGINT];

/// Caught signals.
struct Caught {
    /// Previous action of each.
    before: [sigaction; SIGNALS.len()],
    /// True while they are caught.
    now: AtomicBool,
}

static CAUGHT: OnceCell<Caught> = OnceCell::new();

type Handler = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// Catches the signals that are not ignored. A handler that the application sets later replaces
/// this one.
pub fn catch() {
    // SAFETY: actions are live for the calls; the handler is of the kind that
    // SA_SIGINFO announces.
    unsafe {
        let mut before: [sigaction; SIGNALS.len()] = mem::zeroed();
        for (signal, before) in SIGNALS.into_iter().zip(&mut before) {
            libc::sigaction(signal, ptr::null(), before);
        }
        let now = AtomicBool::new(true);
        if CAUGHT.set(Caught { before, now }).is_err() {
            return;
        }
        for (signal, before) in SIGNALS.into_iter().zip(&before) {
            if before.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut action: sigaction = *before;
            action.sa_sigaction = on_signal as Handler as usize;
            action.sa_flags |= libc::SA_SIGINFO | libc::SA_ONSTACK;
            // If the previous action resets after one signal, this handler resets it then.
            action.sa_flags &= !libc::SA_RESETHAND;
            libc::sigaction(signal, &action, ptr::null_mut());
        }
    }
}

/// Restores the previous actions, unless they have been changed since.
pub fn release() {
    let Some(caught) = CAUGHT.get() else { return };
    if !caught.now.swap(false, Ordering::AcqRel) {
        return;
    }
    for (signal, before) in SIGNALS.into_iter().zip(&caught.before) {
        // SAFETY: actions are live for the calls.
        unsafe {
            let mut now: sigaction = mem::zeroed();
            libc::sigaction(signal, ptr::null(), &mut now);
            if now.sa_sigaction == on_signal as Handler as usize {
                libc::sigaction(signal, before, ptr::null_mut());
            }
        }
    }
}

/// Handler that makes only calls that are allowed in signal handlers.
unsafe extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: errno is this thread's.
    let error = unsafe { *libc::__errno_location() };
    page::ends_by_signal(signal);
    partial::write();
    let at = SIGNALS.iter().position(|&known| known == signal);
    if let (Some(caught), Some(at)) = (CAUGHT.get(), at) {
        // SAFETY: the action is the one that this library's handler replaced.
        unsafe { chain(signal, &caught.before[at], info, context) };
    }
    // SAFETY: errno is this thread's.
    unsafe { *libc::__errno_location() = error };
}

/// Takes the action that would have been taken without this library.
///
/// # Safety
/// `before` is the action that the signal had.
unsafe fn chain(signal: c_int, before: &sigaction, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the caller's promise; the flags give the parameters of a handler.
    unsafe {
        match before.sa_sigaction {
            libc::SIG_IGN => (),
            libc::SIG_DFL => {
                monitor::call_others();
                // The signal is blocked while its handler runs: it ends the process when this one
                // returns.
                libc::sigaction(signal, before, ptr::null_mut());
                libc::raise(signal);
            }
            handler => {
                if before.sa_flags & libc::SA_RESETHAND != 0 {
                    let mut default: sigaction = mem::zeroed();
                    default.sa_sigaction = libc::SIG_DFL;
                    libc::sigaction(signal, &default, ptr::null_mut());
                }
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    mem::transmute::<usize, Handler>(handler)(signal, info, context);
                } else {
                    mem::transmute::<usize, unsafe extern "C" fn(c_int)>(handler)(signal);
                }
            }
        }
    }
}
