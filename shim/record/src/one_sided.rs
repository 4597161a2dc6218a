//! One-sided communication: data that an origin puts to a target, and data that it gets from there;
//! a get moves data from the target to the origin. Counts are kept by window and kind of epoch; the
//! matrix of the layer is computed from the same counts.

use treepie_collective::size_class;
use treepie_mpi::native::native;
use treepie_mpi::{Datatype, Handle, Op, Win, c_int};
use treepie_traffic::windows::{EpochKind, WindowCall};

use super::access_key::of_call;
use super::thread::Thread;

/// Number of elements, and their datatype.
type Elements = (i64, Datatype);

/// One-sided call, as its procedure passes it on. Fields that the procedure lacks are 0 or 1.
#[derive(Debug, Clone, Copy)]
pub struct Transfer {
    /// Number of elements in the origin buffer: those that are put, or fetched.
    pub origin_count: i64,
    /// Their datatype.
    pub origin_type: Datatype,
    /// Number of elements fetched by a call that also updates the target.
    pub result_count: i64,
    /// Their datatype.
    pub result_type: Datatype,
    /// Datatype at the target.
    pub target_type: Datatype,
    /// Operation of an accumulate; null for other calls.
    pub op: Op,
    /// Target rank in the window's group, or `MPI_PROC_NULL`.
    pub target: c_int,
    /// The window.
    pub window: Win,
}

impl Transfer {
    /// Transfer of one element.
    pub const NONE: Transfer = Transfer {
        origin_count: 1,
        origin_type: Datatype::ABSENT,
        result_count: 1,
        result_type: Datatype::ABSENT,
        target_type: Datatype::ABSENT,
        op: Op::ABSENT,
        target: 0,
        window: Win::ABSENT,
    };

    pub(super) fn origin(&self) -> Elements {
        (self.origin_count, self.origin_type)
    }

    pub(super) fn result(&self) -> Elements {
        (self.result_count, self.result_type)
    }
}

impl Thread {
    /// Counts the data that a one-sided call moves, as a call of this kind.
    #[inline(always)]
    pub(super) fn count_moved(
        &self,
        transfer: &Transfer,
        call: WindowCall,
        (elements, datatype): Elements,
    ) {
        let (Some(native), Ok(target)) = (native(), usize::try_from(transfer.target)) else {
            return;
        };
        // With MPI_NO_OP nothing goes to the target, and the call's other arguments are arbitrary.
        let is_nothing = call == WindowCall::Accumulate && native.is_no_op(transfer.op);
        if is_nothing || elements <= 0 {
            return;
        }
        let (size, is_contiguous) = native.size_and_contiguity(datatype);
        let bytes = size.saturating_mul(elements as u64);
        let is_contiguous = is_contiguous
            && (transfer.target_type == datatype || native.is_contiguous(transfer.target_type));
        let size_class = size_class(bytes);
        let key = self.with_window(transfer.window, |window| {
            let target = window.target(target)?;
            let key = of_call(window.key(), call, is_contiguous, size_class, target);
            Some((key, window.interval()))
        });
        if let Some((key, interval)) = key.flatten() {
            self.count_access(key, bytes, interval);
        }
    }

    /// Counts a call that moves no data, in the epoch that was opened last; `open` opens another.
    pub(super) fn count_epoch(&self, call: WindowCall, open: Option<EpochKind>, window: Win) {
        self.with_window(window, |window| {
            if let Some(kind) = open {
                window.open(kind);
            }
            let of_epoch = match call {
                WindowCall::Post => window.key_in(EpochKind::Start),
                _ => window.key(),
            };
            if call != WindowCall::Post {
                window.synchronised();
            }
            let interval = window.interval();
            self.count_access(of_call(of_epoch, call, true, 0, 0), 0, interval);
        });
    }
}
