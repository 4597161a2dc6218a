//! The native functions that plans are run with: non-blocking messages, datatypes,
//! packing, reductions, and attributes that hold an address.

use super::attributes::never_copied;
use super::calls::{check, integer};
use super::functions::DeleteCallback;
use super::{Native, NativeError};
use crate::mpi::{Comm, Datatype, Handle, Op, Request, SUCCESS, Word, c_int};

/// What memory the elements of a datatype take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// From one element to the next, in bytes.
    pub step: i64,
    /// Where an element's first byte is, from its address.
    pub first: i64,
    /// From an element's first byte to behind its last.
    pub span: i64,
}

/// Errors here are MPI's own codes, which the application may get to see.
///
/// SAFETY of all calls here: as in `calls`; addresses of messages are those of
/// live memory of the length that count and datatype say, until the request is
/// complete.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Native {
    /// `MPI_Allgather` of `mine`, of one length on all ranks.
    pub fn allgather(&self, comm: Comm, mine: &[u8]) -> Result<Vec<u8>, NativeError> {
        let length = mine.len() as c_int;
        let mut all = vec![0; mine.len() * self.size(comm)?];
        let code = unsafe {
            (self.functions.allgather)(
                mine.as_ptr(),
                length,
                self.byte,
                all.as_mut_ptr(),
                length,
                self.byte,
                comm,
            )
        };
        check("MPI_Allgather", code).map(|()| all)
    }

    /// The least of what the ranks give, on all of them: how they find out together that one of them
    /// can't go on. Collective.
    pub fn least(&self, comm: Comm, mine: u8) -> Result<u8, NativeError> {
        let all = self.allgather(comm, &[mine])?;
        Ok(all.into_iter().fold(mine, u8::min))
    }

    /// `MPI_BYTE`.
    pub fn byte(&self) -> Datatype {
        self.byte
    }

    /// `MPI_Isend`.
    ///
    /// # Safety
    /// The message stays where it is until the request is complete.
    pub unsafe fn begin_send(
        &self,
        (address, count, datatype): (Word, c_int, Datatype),
        to: usize,
        tag: c_int,
        comm: Comm,
    ) -> Result<Request, c_int> {
        let mut request = Request::ABSENT;
        let code = unsafe {
            (self.functions.isend)(
                address,
                count,
                datatype,
                to as c_int,
                tag,
                comm,
                &mut request,
            )
        };
        code_or(code, request)
    }

    /// `MPI_Irecv`.
    ///
    /// # Safety
    /// Nothing else uses the memory until the request is complete.
    pub unsafe fn begin_receive(
        &self,
        (address, count, datatype): (Word, c_int, Datatype),
        from: usize,
        tag: c_int,
        comm: Comm,
    ) -> Result<Request, c_int> {
        let mut request = Request::ABSENT;
        let code = unsafe {
            (self.functions.irecv)(
                address,
                count,
                datatype,
                from as c_int,
                tag,
                comm,
                &mut request,
            )
        };
        code_or(code, request)
    }

    /// Whether elements of `datatype` can be reduced with `op`, as the native MPI says of no
    /// elements on `alone`, a communicator of this process that returns errors:
    /// `MPI_Reduce_local` would end the job.
    pub fn can_reduce(&self, datatype: Datatype, op: Op, alone: Comm) -> bool {
        let (left, mut right) = (0, 0);
        let code = unsafe { (self.functions.allreduce)(&left, &mut right, 0, datatype, op, alone) };
        code == SUCCESS
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
        let code = unsafe { (self.functions.reduce_local)(left, right, count, datatype, op) };
        code_or(code, ())
    }

    /// Copies elements into elements of another datatype with the same signature, or to or from bytes,
    /// without what is between them: a message from this process, which is `rank` in `comm`, to itself.
    ///
    /// # Safety
    /// Both are live memory, and do not overlap.
    pub unsafe fn transfer(
        &self,
        from: (Word, c_int, Datatype),
        into: (Word, c_int, Datatype),
        (comm, rank, tag): (Comm, usize, c_int),
    ) -> Result<(), c_int> {
        // Larger than every family's MPI_Status.
        let mut status = [0u64; 8];
        let code = unsafe {
            (self.functions.sendrecv)(
                from.0,
                from.1,
                from.2,
                rank as c_int,
                tag,
                into.0,
                into.1,
                into.2,
                rank as c_int,
                tag,
                comm,
                status.as_mut_ptr(),
            )
        };
        code_or(code, ())
    }

    /// A datatype of so many bytes one behind the other, for more than an `int` counts: of parts that
    /// it does (`MPI_Type_create_hindexed`).
    pub fn new_type_of_bytes(&self, bytes: u64) -> Result<Datatype, c_int> {
        let starts: Vec<u64> = (0..bytes).step_by(1 << 30).collect();
        let length = |start: &u64| (bytes - start).min(1 << 30) as c_int;
        let lengths: Vec<c_int> = starts.iter().map(length).collect();
        let mut made = Datatype::ABSENT;
        let code = unsafe {
            (self.functions.type_create_hindexed)(
                lengths.len() as c_int,
                lengths.as_ptr(),
                starts.as_ptr().cast(),
                self.byte,
                &mut made,
            )
        };
        code_or(code, ())?;
        code_or(unsafe { (self.functions.type_commit)(&mut made) }, made)
    }

    /// `MPI_Type_free`.
    pub fn free_type(&self, mut datatype: Datatype) {
        unsafe { (self.functions.type_free)(&mut datatype) };
    }

    /// `MPI_Op_commutative`.
    pub fn is_commutative(&self, op: Op) -> Result<bool, NativeError> {
        integer("MPI_Op_commutative", |flag| unsafe {
            (self.functions.op_commutative)(op, flag)
        })
        .map(|flag| flag != 0)
    }

    /// The memory of a datatype's elements; `None` where the native MPI refuses it.
    pub fn extent(&self, datatype: Datatype) -> Option<Extent> {
        let (mut bound, mut step, mut first, mut span) = (0, 0, 0, 0);
        unsafe {
            if (self.functions.type_get_extent)(datatype, &mut bound, &mut step) != SUCCESS
                || (self.functions.type_get_true_extent)(datatype, &mut first, &mut span) != SUCCESS
            {
                return None;
            }
        }
        Some(Extent { step, first, span })
    }

    /// Whether MPI itself defines the datatype: then nothing was used to make it
    /// (`MPI_Type_get_envelope`).
    pub fn is_named(&self, datatype: Datatype) -> bool {
        let mut used = [0; 4];
        let [integers, addresses, datatypes, combiner] = &mut used;
        let code = unsafe {
            (self.functions.type_get_envelope)(datatype, integers, addresses, datatypes, combiner)
        };
        code == SUCCESS && used[..3] == [0; 3]
    }

    /// A keyval whose attributes hold an address, are not copied, and are handed to
    /// `delete` when their communicator ends.
    pub fn new_private_keyval(&self, delete: DeleteCallback) -> Result<c_int, NativeError> {
        self.new_keyval(never_copied, delete)
    }

    /// Sets an attribute to an address.
    pub fn set_attribute_to(
        &self,
        comm: Comm,
        keyval: c_int,
        value: Word,
    ) -> Result<(), NativeError> {
        let code = unsafe { (self.functions.comm_set_attr)(comm, keyval, value) };
        check("MPI_Comm_set_attr", code)
    }

    /// The address in an attribute; 0 where it is not set.
    #[inline]
    pub fn attribute(&self, comm: Comm, keyval: c_int) -> Word {
        let (mut value, mut flag) = (0, 0);
        let code = unsafe { (self.functions.comm_get_attr)(comm, keyval, &mut value, &mut flag) };
        match code == SUCCESS && flag != 0 {
            true => value,
            false => 0,
        }
    }

    /// The largest tag, `MPI_TAG_UB`; where the MPI does not say it, that which the standard grants.
    pub fn largest_tag(&self) -> u32 {
        let value = self.attribute(self.world, self.abi.predefined.tag_ub) as *const c_int;
        // SAFETY: the attribute is an address of an int that lives as long as the MPI.
        let largest = unsafe { value.as_ref() }.map_or(0, |&largest| largest);
        largest.max(32_767) as u32
    }

    /// `MPI_Comm_delete_attr`.
    pub fn delete_attribute(&self, comm: Comm, keyval: c_int) {
        unsafe { (self.functions.comm_delete_attr)(comm, keyval) };
    }
}

fn code_or<T>(code: c_int, value: T) -> Result<T, c_int> {
    match code {
        SUCCESS => Ok(value),
        code => Err(code),
    }
}
