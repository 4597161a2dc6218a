//! Whom the native MPI tells of an error inside a plan.
//!
//! Messages are on a communicator of our own that returns errors. In the MPICH family, however,
//! `MPI_Testsome` belongs to no communicator, and tells the world's handler, which usually ends the
//! job. While a plan runs for a communicator whose own handler does not end the job, the world
//! returns errors as well; the handler of the call's communicator is called afterwards. A started
//! plan does without where the program may have several threads: it would change the handler of all
//! of them, again and again.

use parking_lot::Mutex;
use treepie_mpi::native::Native;
use treepie_mpi::{Comm, Errhandler};

/// The plans that run with the world's errors returned, and what the world's handlers are else.
static RETURNING: Mutex<Returning> = Mutex::new(Returning {
    plans: 0,
    handlers: Vec::new(),
});

struct Returning {
    plans: u32,
    handlers: Vec<(Comm, Errhandler)>,
}

/// While it lives, errors inside a plan are returned.
pub struct Returned<'a>(Option<&'a Native>);

impl<'a> Returned<'a> {
    /// For a plan that takes the place of a collective on `comm`.
    pub fn inside(native: &'a Native, comm: Comm) -> Self {
        Returned::where_wanted(native, are_wanted(native, comm))
    }

    /// For a plan of which it is known.
    pub fn where_wanted(native: &'a Native, is_wanted: bool) -> Self {
        if !is_wanted {
            return Returned(None);
        }
        let mut returning = RETURNING.lock();
        returning.plans += 1;
        if returning.plans == 1 {
            for of in [native.world, native.comm_self] {
                if let Ok(handler) = native.error_handler(of) {
                    let _ = native.return_errors(of);
                    returning.handlers.push((of, handler));
                }
            }
        }
        Returned(Some(native))
    }
}

impl Drop for Returned<'_> {
    fn drop(&mut self) {
        let Some(native) = self.0 else {
            return;
        };
        let mut returning = RETURNING.lock();
        returning.plans -= 1;
        if returning.plans == 0 {
            for (of, handler) in returning.handlers.drain(..) {
                let _ = native.set_error_handler(of, handler);
                native.free_error_handler(handler);
            }
        }
    }
}

/// Whether the world has to return errors inside a plan for `comm`.
pub fn are_wanted(native: &Native, comm: Comm) -> bool {
    !native.is_open_mpi && !ends_the_job(native, comm)
}

fn ends_the_job(native: &Native, comm: Comm) -> bool {
    native.error_handler(comm).is_ok_and(|handler| {
        native.free_error_handler(handler);
        native.is_fatal(handler)
    })
}
