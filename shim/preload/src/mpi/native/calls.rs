//! The native functions with Rust's types. Communicators, groups and datatypes
//! are handles of this MPI.

use std::ffi::{CStr, c_char, c_void};

use super::{Native, NativeError};
use crate::mpi::lookup::find;
use crate::mpi::{Comm, Datatype, Group, Handle, SUCCESS, Win, Word, c_int};

pub(super) fn check(call: &'static str, code: c_int) -> Result<(), NativeError> {
    match code {
        SUCCESS => Ok(()),
        code => Err(NativeError::Failed { call, code }),
    }
}

/// A call that sets one integer.
pub(super) fn integer(
    call: &'static str,
    get: impl FnOnce(&mut c_int) -> c_int,
) -> Result<c_int, NativeError> {
    let mut value = 0;
    check(call, get(&mut value)).map(|()| value)
}

/// A call that makes one handle.
pub(super) fn handle<H: Handle>(
    call: &'static str,
    get: impl FnOnce(&mut H) -> c_int,
) -> Result<H, NativeError> {
    let mut value = H::ABSENT;
    check(call, get(&mut value)).map(|()| value)
}

/// The native functions with Rust's types. Communicators, groups and datatypes
/// are handles of this MPI.
///
/// SAFETY of all calls here: the functions are those of the MPI procedures named,
/// pointers are to live values of the right type for the length of the call, and
/// handles come from this MPI; a stale handle is an error that the native MPI reports.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Native {
    /// `MPI_Comm_rank`.
    pub fn rank(&self, comm: Comm) -> Result<usize, NativeError> {
        integer("MPI_Comm_rank", |rank| unsafe {
            (self.functions.comm_rank)(comm, rank)
        })
        .map(|rank| rank as usize)
    }

    /// `MPI_Comm_size`.
    pub fn size(&self, comm: Comm) -> Result<usize, NativeError> {
        integer("MPI_Comm_size", |size| unsafe {
            (self.functions.comm_size)(comm, size)
        })
        .map(|size| size as usize)
    }

    /// `MPI_Comm_test_inter`.
    pub fn is_inter(&self, comm: Comm) -> Result<bool, NativeError> {
        integer("MPI_Comm_test_inter", |flag| unsafe {
            (self.functions.comm_test_inter)(comm, flag)
        })
        .map(|flag| flag != 0)
    }

    /// `MPI_Comm_group`.
    pub fn group(&self, comm: Comm) -> Result<Group, NativeError> {
        handle("MPI_Comm_group", |group| unsafe {
            (self.functions.comm_group)(comm, group)
        })
    }

    /// `MPI_Comm_remote_group`.
    pub fn remote_group(&self, comm: Comm) -> Result<Group, NativeError> {
        handle("MPI_Comm_remote_group", |group| unsafe {
            (self.functions.comm_remote_group)(comm, group)
        })
    }

    /// `MPI_Win_get_group`.
    pub fn window_group(&self, window: Win) -> Result<Group, NativeError> {
        handle("MPI_Win_get_group", |group| unsafe {
            (self.functions.win_get_group)(window, group)
        })
    }

    /// The ranks that the members of `group` have in `other`; `u32::MAX` for
    /// those that are not in it.
    pub fn translate(&self, group: Group, other: Group) -> Result<Vec<u32>, NativeError> {
        let size = integer("MPI_Group_size", |size| unsafe {
            (self.functions.group_size)(group, size)
        })?;
        let ranks: Vec<c_int> = (0..size).collect();
        let mut translated = vec![0; ranks.len()];
        let code = unsafe {
            (self.functions.group_translate_ranks)(
                group,
                size,
                ranks.as_ptr(),
                other,
                translated.as_mut_ptr(),
            )
        };
        check("MPI_Group_translate_ranks", code)?;
        Ok(translated
            .into_iter()
            .map(|rank| u32::try_from(rank).unwrap_or(u32::MAX))
            .collect())
    }

    /// `MPI_Group_incl`: the group whose rank `i` is rank `ranks[i]` of `group`.
    pub fn include(&self, group: Group, ranks: &[c_int]) -> Result<Group, NativeError> {
        handle("MPI_Group_incl", |made| unsafe {
            (self.functions.group_incl)(group, ranks.len() as c_int, ranks.as_ptr(), made)
        })
    }

    /// `MPI_Group_free`.
    pub fn free_group(&self, mut group: Group) {
        unsafe { (self.functions.group_free)(&mut group) };
    }

    /// `MPI_Comm_split` into one communicator ordered by `key`.
    pub fn split(&self, comm: Comm, key: usize) -> Result<Comm, NativeError> {
        handle("MPI_Comm_split", |made| unsafe {
            (self.functions.comm_split)(comm, 0, key as c_int, made)
        })
    }

    /// [`Native::split`], an error of which is returned whatever the error handler
    /// of `comm` is.
    pub fn split_quietly(&self, comm: Comm, key: usize) -> Result<Comm, NativeError> {
        // Others are in the call already: what fails here does not keep this process from it.
        let handler = self.error_handler(comm).ok();
        let _ = handler.map(|_| self.return_errors(comm));
        let made = self.split(comm, key);
        if let Some(handler) = handler {
            let _ = self.set_error_handler(comm, handler);
            self.free_error_handler(handler);
        }
        made
    }

    /// `MPI_Comm_free`.
    pub fn free_communicator(&self, mut comm: Comm) {
        unsafe { (self.functions.comm_free)(&mut comm) };
    }

    /// `MPI_Comm_set_name`.
    pub fn set_name(&self, comm: Comm, name: &CStr) -> Result<(), NativeError> {
        let code = unsafe { (self.functions.comm_set_name)(comm, name.as_ptr()) };
        check("MPI_Comm_set_name", code)
    }

    /// Whether the status at this address is of a cancelled call
    /// (`MPI_Test_cancelled`).
    pub fn is_cancelled(&self, status: Word) -> bool {
        let flag = integer("MPI_Test_cancelled", |flag| unsafe {
            (self.functions.test_cancelled)(status, flag)
        });
        flag.is_ok_and(|flag| flag != 0)
    }

    /// Whether another job spawned this one (`MPI_Comm_get_parent`).
    pub fn has_parent(&self) -> Result<bool, NativeError> {
        let parent = handle("MPI_Comm_get_parent", |parent| unsafe {
            (self.functions.comm_get_parent)(parent)
        })?;
        Ok(!self.is_null_communicator(parent))
    }

    /// `MPI_Bcast` of bytes from rank 0; any length.
    pub fn broadcast(&self, comm: Comm, bytes: &mut [u8]) -> Result<(), NativeError> {
        for part in bytes.chunks_mut(1 << 30) {
            let code = unsafe {
                (self.functions.bcast)(part.as_mut_ptr(), part.len() as c_int, self.byte, 0, comm)
            };
            check("MPI_Bcast", code)?;
        }
        Ok(())
    }

    /// `MPI_Send` of bytes, any length.
    pub fn send(&self, comm: Comm, to: usize, bytes: &[u8]) -> Result<(), NativeError> {
        for part in bytes.chunks(1 << 30) {
            let code = unsafe {
                (self.functions.send)(
                    part.as_ptr(),
                    part.len() as c_int,
                    self.byte,
                    to as c_int,
                    0,
                    comm,
                )
            };
            check("MPI_Send", code)?;
        }
        Ok(())
    }

    /// `MPI_Recv` of as many bytes as [`Native::send`] was given.
    pub fn receive(&self, comm: Comm, from: usize, bytes: &mut [u8]) -> Result<(), NativeError> {
        // Larger than every family's MPI_Status, which MPI_STATUS_IGNORE would
        // spare us at the price of one more constant.
        let mut status = [0u64; 8];
        for part in bytes.chunks_mut(1 << 30) {
            let code = unsafe {
                (self.functions.recv)(
                    part.as_mut_ptr(),
                    part.len() as c_int,
                    self.byte,
                    from as c_int,
                    0,
                    comm,
                    status.as_mut_ptr(),
                )
            };
            check("MPI_Recv", code)?;
        }
        Ok(())
    }

    /// Bytes of one element of `datatype`; 0 where the native MPI refuses the handle.
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

    fn ask_type_size(&self, datatype: Datatype) -> u64 {
        let mut size = 0;
        if unsafe { (self.functions.type_size)(datatype, &mut size) } != SUCCESS {
            return 0;
        }
        if size == self.abi.undefined {
            let mut large = 0;
            unsafe { (self.functions.type_size_x)(datatype, &mut large) };
            return u64::try_from(large).unwrap_or(0);
        }
        u64::try_from(size).unwrap_or(0)
    }

    /// `MPI_Get_processor_name`.
    pub fn processor_name(&self) -> String {
        self.text(
            self.abi.max_processor_name,
            self.functions.get_processor_name,
        )
    }

    /// `MPI_Get_library_version`, its first line.
    pub fn library_version(&self) -> String {
        let text = self.text(
            self.abi.max_library_version,
            self.functions.get_library_version,
        );
        let line = text.lines().next().unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn text(
        &self,
        room: usize,
        get: unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int,
    ) -> String {
        let mut text = vec![0u8; room + 1];
        let mut length = 0;
        if unsafe { get(text.as_mut_ptr().cast(), &mut length) } != SUCCESS {
            return String::new();
        }
        text.truncate(usize::try_from(length).unwrap_or(0).min(room));
        String::from_utf8_lossy(&text)
            .trim_end_matches('\0')
            .to_owned()
    }

    /// Whether this is Intel MPI, whose launcher reports every abort of anything
    /// but the world as a crash, with a status of its own.
    pub fn is_intel(&self) -> bool {
        self.library_version().starts_with("Intel")
    }

    /// `MPI_Get_version`: the MPI standard that it says it follows.
    pub fn standard_version(&self) -> String {
        let (mut major, mut minor) = (0, 0);
        unsafe { (self.functions.get_version)(&mut major, &mut minor) };
        format!("{major}.{minor}")
    }

    /// `MPI_Abort` on the native world.
    pub fn abort(&self, code: c_int) {
        unsafe { (self.functions.abort)(self.world, code) };
    }

    /// `MPI_Comm_f2c`; `None` where the MPI has none (a macro, in some).
    pub fn of_fortran_handle(&self, comm: c_int) -> Option<Comm> {
        let address = find(c"PMPI_Comm_f2c").or_else(|| find(c"MPI_Comm_f2c"))?;
        Some(unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int) -> Comm>(address)(comm)
        })
    }

    /// `MPI_Comm_c2f`; `None` where the MPI has none (a macro, in some).
    pub fn fortran_handle(&self, comm: Comm) -> Option<c_int> {
        let address = find(c"PMPI_Comm_c2f").or_else(|| find(c"MPI_Comm_c2f"))?;
        Some(unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Comm) -> c_int>(address)(comm)
        })
    }
}
