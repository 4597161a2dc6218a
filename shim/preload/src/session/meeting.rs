//! Meeting of all ranks in `MPI_Finalize`, where their counts are collected.
//!
//! It uses a communicator that is created in `MPI_Init`, and only point-to-point messages: at the
//! end of an erroneous program, the application's communicators may still hold messages that nobody
//! received and collectives that not all ranks have called, and creating one more communicator is
//! itself collective. The wait for a missing rank is limited.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use treepie_mpi::native::{Native, NativeError, OwnComm};
use treepie_mpi::share::BoundedMembers;

/// Time limit for a rank that has come, between two messages of the others.
const ANSWERING: Duration = Duration::from_secs(60);

/// Time limit for ranks that have not come yet, in addition to the time that the job has run so
/// far: a rank may still be working when others are done.
const COMING: Duration = Duration::from_secs(20);

struct Meeting {
    comm: OwnComm,
    began: Instant,
}

static MEETING: Mutex<Option<Meeting>> = Mutex::new(None);

/// Creates the communicator. Collective over the native world, in `MPI_Init`.
///
/// # Errors
/// A native call that failed.
pub fn prepare(native: &Native) -> Result<(), NativeError> {
    let comm = native.split(native.world, native.rank(native.world)?)?;
    native.return_errors(comm.handle())?;
    let began = Instant::now();
    *MEETING.lock() = Some(Meeting { comm, began });
    Ok(())
}

/// Waits for all ranks and passes them to `work`, or the reason why they are missing. Does nothing
/// in a job without a prepared meeting.
pub fn hold(native: &Native, work: impl FnOnce(Result<&BoundedMembers<'_>, &NativeError>)) {
    let Some(Meeting { comm, began }) = MEETING.lock().take() else {
        return;
    };
    let met = BoundedMembers::new(native, comm.handle(), ANSWERING).and_then(|members| {
        members.meet(began.elapsed() + COMING)?;
        Ok(members)
    });
    work(met.as_ref());
    if met.is_err() {
        // Freeing is collective, and messages may still be in flight.
        std::mem::forget(comm);
    }
}
