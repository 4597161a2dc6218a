//! Native functions with Rust's types. Communicators, groups and datatypes are handles of this MPI.

use std::ffi::{CStr, c_char, c_void};

use super::error::{Failed, NativeError};
use super::extent::Extent;
use super::mpi::Native;
use super::own::{OwnComm, OwnInfo};
use crate::lookup::find;
use crate::{Comm, Datatype, Group, Handle, HandleAddress, Request, StatusAddress, Win, c_int};

/// Tag of the exchange while a communicator of a window is made: a number that no program uses.
const TAG_OF_WINDOWS: c_int = 24_187;

/// Makes a call that sets one integer.
pub(super) fn integer(
    get: impl FnOnce(&mut c_int) -> Result<(), Failed>,
) -> Result<c_int, NativeError> {
    let mut value = 0;
    get(&mut value)?;
    Ok(value)
}

/// Makes a call that creates one handle.
pub(super) fn handle<H: Handle>(
    get: impl FnOnce(&mut H) -> Result<(), Failed>,
) -> Result<H, NativeError> {
    let mut value = H::ABSENT;
    get(&mut value)?;
    Ok(value)
}

/// `MPI_MAX_OBJECT_NAME` of the MPI that allows the most: MPICH.
pub const LONGEST_NAME: usize = 128;

/// Communicators, groups, datatypes, blocking messages, and the MPI's properties.
impl Native {
    /// `MPI_Comm_rank`.
    pub fn rank(&self, comm: Comm) -> Result<usize, NativeError> {
        Ok(integer(|rank| self.functions.comm_rank(comm, rank))? as usize)
    }

    /// `MPI_Comm_size`.
    pub fn size(&self, comm: Comm) -> Result<usize, NativeError> {
        Ok(integer(|size| self.functions.comm_size(comm, size))? as usize)
    }

    /// `MPI_Comm_test_inter`.
    pub fn is_inter(&self, comm: Comm) -> Result<bool, NativeError> {
        Ok(integer(|flag| self.functions.comm_test_inter(comm, flag))? != 0)
    }

    /// `MPI_Comm_group`.
    pub fn group(&self, comm: Comm) -> Result<Group, NativeError> {
        let size = integer(|size| self.functions.comm_size(comm, size))?;
        let group = handle(|group| self.functions.comm_group(comm, group))?;
        if self.group_size(group)? <= size {
            return Ok(group);
        }
        // MPICH 5.0.2: if a topology has some of the old communicator's processes, its group has
        // all of them, the others after its own.
        let own = self.include(group, &(0..size).collect::<Vec<c_int>>());
        self.free_group(group);
        own
    }

    /// `MPI_Group_size`.
    fn group_size(&self, group: Group) -> Result<c_int, NativeError> {
        integer(|size| self.functions.group_size(group, size))
    }

    /// `MPI_Comm_remote_group`.
    pub fn remote_group(&self, comm: Comm) -> Result<Group, NativeError> {
        handle(|group| self.functions.comm_remote_group(comm, group))
    }

    /// `MPI_Win_get_group`.
    pub fn window_group(&self, window: Win) -> Result<Group, NativeError> {
        handle(|group| self.functions.win_get_group(window, group))
    }

    /// Returns the ranks that the members of `group` have in `other`; `u32::MAX` for those that are
    /// not in it.
    pub fn translate(&self, group: Group, other: Group) -> Result<Vec<u32>, NativeError> {
        let size = self.group_size(group)?;
        let ranks: Vec<c_int> = (0..size).collect();
        let mut translated = vec![0; ranks.len()];
        let (from, into) = (ranks.as_ptr(), translated.as_mut_ptr());
        // SAFETY: both have `size` elements.
        unsafe {
            self.functions
                .group_translate_ranks(group, size, from, other, into)?
        };
        Ok(translated
            .into_iter()
            .map(|rank| u32::try_from(rank).unwrap_or(u32::MAX))
            .collect())
    }

    /// `MPI_Group_incl`: the group whose rank `i` is rank `ranks[i]` of `group`.
    pub fn include(&self, group: Group, ranks: &[c_int]) -> Result<Group, NativeError> {
        let (count, address) = (ranks.len() as c_int, ranks.as_ptr());
        // SAFETY: there are `count` ranks.
        handle(|made| unsafe { self.functions.group_incl(group, count, address, made) })
    }

    /// `MPI_Group_free`.
    pub fn free_group(&self, mut group: Group) {
        let _ = self.functions.group_free(&mut group);
    }

    /// `MPI_Comm_split` into one communicator ordered by `key`.
    pub fn split(&self, comm: Comm, key: usize) -> Result<OwnComm, NativeError> {
        OwnComm::made(handle(|made| {
            self.functions.comm_split(comm, 0, key as c_int, made)
        }))
    }

    /// [`Native::split`] whose error is returned with any error handler of `comm`.
    pub fn split_quietly(&self, comm: Comm, key: usize) -> Result<OwnComm, NativeError> {
        self.quietly(comm, || self.split(comm, key))
    }

    /// `MPI_Comm_dup_with_info`.
    pub fn duplicate_with(&self, comm: Comm, info: &OwnInfo) -> Result<OwnComm, NativeError> {
        OwnComm::made(handle(|made| {
            self.functions.comm_dup_with_info(comm, info.handle(), made)
        }))
    }

    /// Returns an info with this value of a key.
    pub fn info(&self, key: &CStr, value: &CStr) -> Result<OwnInfo, NativeError> {
        let info = OwnInfo::made(handle(|made| self.functions.info_create(made)))?;
        // SAFETY: texts that end in NUL.
        unsafe {
            self.functions
                .info_set(info.handle(), key.as_ptr(), value.as_ptr())?;
        }
        Ok(info)
    }

    /// Calls `work`, whose errors on `comm` are returned.
    fn quietly<R>(&self, comm: Comm, work: impl FnOnce() -> R) -> R {
        // Others may be in the call already: an error here does not keep this process from it.
        let handler = self.error_handler(comm).ok();
        let _ = handler.map(|_| self.return_errors(comm));
        let made = work();
        if let Some(handler) = handler {
            let _ = self.set_error_handler(comm, handler);
            self.free_error_handler(handler);
        }
        made
    }

    /// Returns a communicator of the processes of a window, all of this job, whose errors are
    /// returned. Collective on them, as a fence is.
    pub fn private_of_window(&self, window: Win) -> Result<OwnComm, NativeError> {
        let group = self.window_group(window)?;
        let made = self.quietly(self.world, || {
            OwnComm::made(handle(|made| {
                self.functions
                    .comm_create_group(self.world, group, TAG_OF_WINDOWS, made)
            }))
        });
        self.free_group(group);
        let made = made?;
        self.return_errors(made.handle())?;
        Ok(made)
    }

    /// `MPI_Comm_set_name`.
    pub fn set_name(&self, comm: Comm, name: &CStr) -> Result<(), NativeError> {
        // SAFETY: the name ends in NUL.
        unsafe { self.functions.comm_set_name(comm, name.as_ptr())? };
        Ok(())
    }

    /// True if a status is that of a cancelled call (`MPI_Test_cancelled`); false if there is none.
    pub fn is_cancelled(&self, status: StatusAddress) -> bool {
        if status.error(self).is_none() {
            return false;
        }
        // SAFETY: a status is there.
        let flag = integer(|flag| unsafe { self.functions.test_cancelled(status, flag) });
        flag.is_ok_and(|flag| flag != 0)
    }

    /// Returns the source and the tag in a status; `MPI_UNDEFINED` if there is none.
    pub fn message_of(&self, status: StatusAddress) -> (c_int, c_int) {
        match status.error(self) {
            // MPI_SOURCE, MPI_TAG and MPI_ERROR are consecutive in every family.
            // SAFETY: a status is there.
            Some(error) => unsafe { (*error.sub(2), *error.sub(1)) },
            None => (self.abi.undefined, self.abi.undefined),
        }
    }

    /// `MPI_Test` of the request at `request`: true if it is complete.
    pub fn test_one(
        &self,
        request: HandleAddress<Request>,
        status: StatusAddress,
    ) -> Result<bool, c_int> {
        let mut flag = 0;
        // SAFETY: there is a request, or null, which MPI reports, and a status or the value for
        // none; whoever made the request keeps its memory.
        unsafe { self.functions.test(request.word(), &mut flag, status)? };
        Ok(flag != 0)
    }

    /// Returns the bytes of a received message, or 0 if they exceed the MPI's range, or there is no
    /// status.
    pub fn bytes_of(&self, status: StatusAddress) -> u64 {
        if status.error(self).is_none() {
            return 0;
        }
        let byte = self.byte();
        // SAFETY: a status is there.
        let count = integer(|count| unsafe { self.functions.get_count(status, byte, count) });
        count.map_or(0, |count| u64::try_from(count).unwrap_or(0))
    }

    /// True if another job spawned this one (`MPI_Comm_get_parent`).
    pub fn has_parent(&self) -> Result<bool, NativeError> {
        let parent = handle(|parent| self.functions.comm_get_parent(parent))?;
        Ok(!self.is_null_communicator(parent))
    }

    /// `MPI_Bcast` of bytes from rank 0; any length.
    pub fn broadcast(&self, comm: Comm, bytes: &mut [u8]) -> Result<(), NativeError> {
        for part in bytes.chunks_mut(1 << 30) {
            let (address, length) = (part.as_mut_ptr(), part.len() as c_int);
            // SAFETY: the part has this length.
            unsafe { self.functions.bcast(address, length, self.byte, 0, comm)? };
        }
        Ok(())
    }

    /// `MPI_Send` of bytes, any length.
    pub fn send(&self, comm: Comm, to: usize, bytes: &[u8]) -> Result<(), NativeError> {
        for part in bytes.chunks(1 << 30) {
            let (address, length) = (part.as_ptr(), part.len() as c_int);
            // SAFETY: the part has this length.
            unsafe {
                self.functions
                    .send(address, length, self.byte, to as c_int, 0, comm)?
            };
        }
        Ok(())
    }

    /// `MPI_Recv` of the same number of bytes as the matching [`Native::send`].
    pub fn receive(&self, comm: Comm, from: usize, bytes: &mut [u8]) -> Result<(), NativeError> {
        // Larger than every family's MPI_Status; MPI_STATUS_IGNORE would avoid it, but need one
        // more constant.
        let mut status = [0u64; 8];
        for part in bytes.chunks_mut(1 << 30) {
            let (address, length) = (part.as_mut_ptr(), part.len() as c_int);
            let (from, status) = (from as c_int, status.as_mut_ptr());
            // SAFETY: the part has this length, and the status is large enough.
            unsafe {
                self.functions
                    .recv(address, length, self.byte, from, 0, comm, status)?
            };
        }
        Ok(())
    }

    /// Returns the bytes of one element of `datatype`; 0 if the native MPI rejects the handle.
    #[inline(always)]
    pub fn type_size(&self, datatype: Datatype) -> u64 {
        let known = self.abi.type_size(datatype.word());
        let known = known.or_else(|| self.predefined_types.size(datatype.word()));
        known.unwrap_or_else(|| self.learn_type_size(datatype))
    }

    #[cold]
    #[inline(never)]
    fn learn_type_size(&self, datatype: Datatype) -> u64 {
        let size = self.ask_type_size(datatype);
        self.predefined_types.learn(datatype.word(), size);
        size
    }

    /// True if the bytes of an element of `datatype` are contiguous, and the next element follows
    /// directly. Predefined datatypes need no query.
    #[inline(always)]
    pub fn is_contiguous(&self, datatype: Datatype) -> bool {
        let word = datatype.word();
        self.abi.type_size(word).is_some()
            || self.predefined_types.contains(word)
            || self.has_no_gaps(datatype)
    }

    /// Returns [`Native::type_size`] and [`Native::is_contiguous`] by one query.
    #[inline(always)]
    pub fn size_and_contiguity(&self, datatype: Datatype) -> (u64, bool) {
        let word = datatype.word();
        let known = self.abi.type_size(word);
        match known.or_else(|| self.predefined_types.size(word)) {
            Some(size) => (size, true),
            None => (self.learn_type_size(datatype), self.is_contiguous(datatype)),
        }
    }

    #[inline(never)]
    fn has_no_gaps(&self, datatype: Datatype) -> bool {
        let size = self.ask_type_size(datatype);
        let extent = self.extent(datatype);
        extent.is_some_and(|Extent { step, first, span }| {
            first == 0 && step == span && u64::try_from(step) == Ok(size)
        })
    }

    fn ask_type_size(&self, datatype: Datatype) -> u64 {
        let (mut size, mut large) = (0, 0);
        if self.functions.type_size(datatype, &mut size).is_err() {
            return 0;
        }
        if size == self.abi.undefined {
            let _ = self.functions.type_size_x(datatype, &mut large);
            return u64::try_from(large).unwrap_or(0);
        }
        u64::try_from(size).unwrap_or(0)
    }

    /// `MPI_Get_processor_name`.
    pub fn processor_name(&self) -> String {
        let name = self.text(self.abi.max_processor_name, |text, length| {
            // SAFETY: `text` is large enough for the longest name of this MPI.
            unsafe { self.functions.get_processor_name(text, length) }
        });
        name.unwrap_or_default()
    }

    /// `MPI_Comm_get_name`; empty if there is none.
    pub fn name(&self, comm: Comm) -> String {
        let text = self.text(LONGEST_NAME, |text, length| {
            // SAFETY: `text` is large enough for the longest name of any MPI.
            unsafe { self.functions.comm_get_name(comm, text, length) }
        });
        text.unwrap_or_default()
    }

    /// `MPI_Get_library_version`, its first line.
    pub fn library_version(&self) -> String {
        let text = self.text(self.abi.max_library_version, |text, length| {
            // SAFETY: `text` is large enough for the longest version of this MPI.
            unsafe { self.functions.get_library_version(text, length) }
        });
        let text = text.unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns a text that `get` writes to an address, with space for `room` characters and a NUL,
    /// together with its length; `None` on failure.
    pub(super) fn text(
        &self,
        room: usize,
        get: impl FnOnce(*mut c_char, &mut c_int) -> Result<(), Failed>,
    ) -> Option<String> {
        let mut text = vec![0u8; room + 1];
        let mut length = 0;
        get(text.as_mut_ptr().cast(), &mut length).ok()?;
        text.truncate(usize::try_from(length).unwrap_or(0).min(room));
        let text = String::from_utf8_lossy(&text);
        Some(text.trim_end_matches('\0').to_owned())
    }

    /// True if several threads may call MPI concurrently (`MPI_Query_thread`); also if the MPI does
    /// not answer.
    pub fn has_many_threads(&self) -> bool {
        let level = integer(|level| self.functions.query_thread(level));
        level.map_or(true, |level| level >= self.abi.thread_multiple)
    }

    /// True if this is Intel MPI, whose launcher reports every abort of a communicator other than
    /// the world as a crash, with another exit status.
    pub fn is_intel(&self) -> bool {
        self.library_version().starts_with("Intel")
    }

    /// `MPI_Get_version`: the MPI standard that it claims to follow.
    pub fn standard_version(&self) -> String {
        let (mut major, mut minor) = (0, 0);
        let _ = self.functions.get_version(&mut major, &mut minor);
        format!("{major}.{minor}")
    }

    /// `MPI_Abort` on the native world.
    pub fn abort(&self, code: c_int) {
        let _ = self.functions.abort(self.world, code);
    }

    /// `MPI_Comm_f2c`; `None` if the MPI has no such function (a macro, in some).
    pub fn of_fortran_handle(&self, comm: c_int) -> Option<Comm> {
        let address = find(c"PMPI_Comm_f2c").or_else(|| find(c"MPI_Comm_f2c"))?;
        // SAFETY: the function of this name takes an `int` and returns a handle, in every family.
        Some(unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int) -> Comm>(address)(comm)
        })
    }

    /// `MPI_Comm_c2f`; `None` if the MPI has no such function (a macro, in some).
    pub fn fortran_handle(&self, comm: Comm) -> Option<c_int> {
        let address = find(c"PMPI_Comm_c2f").or_else(|| find(c"MPI_Comm_c2f"))?;
        // SAFETY: the function of this name takes a handle and returns an `int`, in every family.
        Some(unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Comm) -> c_int>(address)(comm)
        })
    }
}
