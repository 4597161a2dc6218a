//! The meeting of all ranks in `MPI_Finalize`, where what they counted is collected.
//!
//! It is held over a communicator that is made in `MPI_Init`, point-to-point: at the end of a wrong
//! program, messages that nobody received and collectives that not all have called are still on the
//! application's communicators, and making one more is a collective itself. A rank that does not
//! come is not waited for without end.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use treepie_mpi::native::{Native, NativeError, OwnComm};
use treepie_mpi::share::BoundedMembers;

/// Patience with a rank that has come, from one message of the others to the next.
const ANSWERING: Duration = Duration::from_secs(60);

/// Patience with ranks that have not come yet, beyond the time that the job has run so far: a rank
/// may have work left when others have none.
const COMING: Duration = Duration::from_secs(20);

struct Meeting {
    comm: OwnComm,
    began: Instant,
}

static MEETING: Mutex<Option<Meeting>> = Mutex::new(None);

/// Makes the communicator. Collective over the native world, in `MPI_Init`.
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

/// Waits for all ranks and gives them to `work`, or the reason why they are not there. Nothing in a
/// job where no meeting was prepared.
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
        // Freeing is collective, and messages may still be under way.
        std::mem::forget(comm);
    }
}
