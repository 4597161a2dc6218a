//! Native functions for running plans: non-blocking messages, datatypes, packing and reductions.

use super::calls::integer;
use super::error::NativeError;
use super::extent::Extent;
use super::mpi::Native;
use crate::{Comm, Datatype, Handle, Op, Request, Word, c_int};

/// Message as MPI takes it: address, count, datatype.
pub type Message = (Word, c_int, Datatype);

/// Errors here are MPI's own codes, which the application may see.
impl Native {
    /// `MPI_Allgather` of `mine`, which has the same length on all ranks.
    pub fn allgather(&self, comm: Comm, mine: &[u8]) -> Result<Vec<u8>, NativeError> {
        let (length, byte) = (mine.len() as c_int, self.byte);
        let mut all = vec![0; mine.len() * self.size(comm)?];
        let (from, into) = (mine.as_ptr(), all.as_mut_ptr());
        // SAFETY: `mine` has this length, and `all` the total length over all ranks.
        unsafe {
            self.functions
                .allgather(from, length, byte, into, length, byte, comm)?
        };
        Ok(all)
    }

    /// Returns the minimum of the ranks' values on all of them, by which they detect together that
    /// one of them cannot continue. Collective.
    pub fn least(&self, comm: Comm, mine: u8) -> Result<u8, NativeError> {
        let all = self.allgather(comm, &[mine])?;
        Ok(all.into_iter().fold(mine, u8::min))
    }

    /// `MPI_Iallreduce` of the minimum of each of `count` numbers.
    ///
    /// # Safety
    /// Both are memory of `count` numbers that stays valid, and that nobody else uses, until the
    /// request is complete.
    pub unsafe fn begin_least(
        &self,
        (mine, least): (*const i64, *mut i64),
        count: usize,
        comm: Comm,
    ) -> Result<Request, c_int> {
        let (count, int64, min) = (count as c_int, self.int64, self.min);
        let mut request = Request::ABSENT;
        // SAFETY: the caller's promise.
        unsafe {
            self.functions
                .iallreduce(mine, least, count, int64, min, comm, &mut request)?
        };
        Ok(request)
    }

    /// `MPI_BYTE`.
    pub fn byte(&self) -> Datatype {
        self.byte
    }

    /// `MPI_Isend`.
    ///
    /// # Safety
    /// The message stays valid until the request is complete.
    pub unsafe fn begin_send(
        &self,
        (address, count, datatype): Message,
        to: usize,
        tag: c_int,
        comm: Comm,
    ) -> Result<Request, c_int> {
        let (to, mut request) = (to as c_int, Request::ABSENT);
        // SAFETY: the caller's promise.
        unsafe {
            self.functions
                .isend(address, count, datatype, to, tag, comm, &mut request)?
        };
        Ok(request)
    }

    /// `MPI_Irecv`.
    ///
    /// # Safety
    /// No other code uses the memory until the request is complete.
    pub unsafe fn begin_receive(
        &self,
        (address, count, datatype): Message,
        from: usize,
        tag: c_int,
        comm: Comm,
    ) -> Result<Request, c_int> {
        let (from, mut request) = (from as c_int, Request::ABSENT);
        // SAFETY: the caller's promise.
        unsafe {
            self.functions
                .irecv(address, count, datatype, from, tag, comm, &mut request)?
        };
        Ok(request)
    }

    /// True if elements of `datatype` can be reduced with `op`, by a reduction of no elements on
    /// `alone`, a communicator of this process that returns errors: `MPI_Reduce_local` would end
    /// the job.
    pub fn can_reduce(&self, datatype: Datatype, op: Op, alone: Comm) -> bool {
        let (left, mut right) = (0, 0);
        // SAFETY: no element is read or written.
        let reduced = unsafe {
            self.functions
                .allreduce(&left, &mut right, 0, datatype, op, alone)
        };
        reduced.is_ok()
    }

    /// `MPI_Reduce_local`: `right = left op right`.
    ///
    /// # Safety
    /// Both operands have `count` elements of `datatype`.
    pub unsafe fn reduce_local(
        &self,
        left: Word,
        right: Word,
        count: c_int,
        datatype: Datatype,
        op: Op,
    ) -> Result<(), c_int> {
        // SAFETY: the caller's promise.
        unsafe {
            self.functions
                .reduce_local(left, right, count, datatype, op)?
        };
        Ok(())
    }

    /// Lets the MPI's own messages progress: `MPI_Iprobe` of a message that nobody sends, from this
    /// process, which is `rank` in `comm`, to itself.
    pub fn progress(&self, (comm, rank, tag): (Comm, usize, c_int)) -> Result<(), c_int> {
        // Larger than every family's MPI_Status.
        let (mut flag, mut status) = (0, [0u64; 8]);
        let (rank, status) = (rank as c_int, status.as_mut_ptr());
        // SAFETY: a status that is large enough.
        unsafe { self.functions.iprobe(rank, tag, comm, &mut flag, status)? };
        Ok(())
    }

    /// Copies elements to elements of another datatype with the same signature, or to or from
    /// bytes, without the gaps between them: a message from this process, which is `rank` in
    /// `comm`, to itself.
    ///
    /// # Safety
    /// Both are live memory, and do not overlap.
    pub unsafe fn transfer(
        &self,
        from: Message,
        into: Message,
        (comm, rank, tag): (Comm, usize, c_int),
    ) -> Result<(), c_int> {
        // Larger than every family's MPI_Status.
        let mut status = [0u64; 8];
        let (rank, status) = (rank as c_int, status.as_mut_ptr());
        // SAFETY: the caller's promise, and a status that is large enough.
        unsafe {
            self.functions.sendrecv(
                from.0, from.1, from.2, rank, tag, into.0, into.1, into.2, rank, tag, comm, status,
            )?
        };
        Ok(())
    }

    /// Creates a datatype of `bytes` contiguous bytes, also if an `int` cannot count them: from
    /// parts that it can (`MPI_Type_create_hindexed`).
    pub fn new_type_of_bytes(&self, bytes: u64) -> Result<Datatype, c_int> {
        let starts: Vec<i64> = (0..bytes as i64).step_by(1 << 30).collect();
        let length = |start: &i64| (bytes - *start as u64).min(1 << 30) as c_int;
        let lengths: Vec<c_int> = starts.iter().map(length).collect();
        let (count, mut made) = (lengths.len() as c_int, Datatype::ABSENT);
        let (lengths, starts) = (lengths.as_ptr(), starts.as_ptr());
        // SAFETY: there are `count` lengths and starts.
        unsafe {
            self.functions
                .type_create_hindexed(count, lengths, starts, self.byte, &mut made)?
        };
        self.functions.type_commit(&mut made)?;
        Ok(made)
    }

    /// `MPI_Type_free`.
    pub fn free_type(&self, mut datatype: Datatype) {
        let _ = self.functions.type_free(&mut datatype);
    }

    /// `MPI_Op_commutative`.
    pub fn is_commutative(&self, op: Op) -> Result<bool, NativeError> {
        Ok(integer(|flag| self.functions.op_commutative(op, flag))? != 0)
    }

    /// Returns the extent of a datatype; `None` if the native MPI rejects it.
    pub fn extent(&self, datatype: Datatype) -> Option<Extent> {
        let (mut bound, mut step, mut first, mut span) = (0, 0, 0, 0);
        let functions = &self.functions;
        functions
            .type_get_extent(datatype, &mut bound, &mut step)
            .ok()?;
        functions
            .type_get_true_extent(datatype, &mut first, &mut span)
            .ok()?;
        Some(Extent { step, first, span })
    }

    /// True if the datatype is predefined (`MPI_Type_get_envelope`).
    pub fn is_named(&self, datatype: Datatype) -> bool {
        let (mut integers, mut addresses, mut datatypes, mut combiner) = (0, 0, 0, 0);
        let asked = self.functions.type_get_envelope(
            datatype,
            &mut integers,
            &mut addresses,
            &mut datatypes,
            &mut combiner,
        );
        asked.is_ok() && (integers, addresses, datatypes) == (0, 0, 0)
    }
}
