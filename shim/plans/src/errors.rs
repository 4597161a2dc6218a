//! Error handlers that the native MPI calls for an error inside a plan.
//!
//! Messages use a private communicator that returns errors. In the MPICH family, however,
//! `MPI_Testsome` belongs to no communicator, and calls the world's handler, which usually ends the
//! job. While a plan runs for a communicator whose own handler does not end the job, the world
//! returns errors as well; the handler of the call's communicator is called afterwards. A started
//! plan does not do this if the program may have several threads: it would repeatedly change the
//! handler of all of them.

use parking_lot::Mutex;
use treepie_mpi::native::Native;
use treepie_mpi::{Comm, Errhandler};

/// Number of plans that run while the world returns errors, and the world's usual handlers.
static RETURNING: Mutex<Returning> = Mutex::new(Returning {
    plans: 0,
    handlers: Vec::new(),
});

struct Returning {
    plans: u32,
    handlers: Vec<(Comm, Errhandler)>,
}

/// Guard object during whose life errors inside a plan are returned.
pub struct Returned<'a>(Option<&'a Native>);

impl<'a> Returned<'a> {
    /// Creates it for a plan that replaces a collective on `comm`.
    pub fn inside(native: &'a Native, comm: Comm) -> Self {
        Returned::where_wanted(native, are_wanted(native, comm))
    }

    /// Creates it for a plan for which the need is known.
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

/// True if the world must return errors inside a plan for `comm`.
pub fn are_wanted(native: &Native, comm: Comm) -> bool {
    !native.is_open_mpi && !ends_the_job(native, comm)
}

fn ends_the_job(native: &Native, comm: Comm) -> bool {
    native.error_handler(comm).is_ok_and(|handler| {
        native.free_error_handler(handler);
        native.is_fatal(handler)
    })
}
