//! The host's functions with Rust's types. Communicators, groups and datatypes
//! are handles of the host's.

use std::ffi::{CStr, c_char, c_void};

use super::functions::{CopyCallback, DeleteCallback, ErrorCallback};
use super::{Host, HostError};
use crate::api::next::find;
use crate::api::{SUCCESS, Word, c_int};

pub(super) fn check(call: &'static str, code: c_int) -> Result<(), HostError> {
    match code {
        SUCCESS => Ok(()),
        code => Err(HostError::Failed { call, code }),
    }
}

/// A call that sets one integer.
pub(super) fn integer(
    call: &'static str,
    get: impl FnOnce(&mut c_int) -> c_int,
) -> Result<c_int, HostError> {
    let mut value = 0;
    check(call, get(&mut value)).map(|()| value)
}

/// A call that makes one handle.
fn handle(call: &'static str, get: impl FnOnce(&mut Word) -> c_int) -> Result<Word, HostError> {
    let mut value = 0;
    check(call, get(&mut value)).map(|()| value)
}

/// The host's functions with Rust's types. Communicators, groups and datatypes
/// are handles of this MPI.
///
/// SAFETY of all calls here: the functions are those of the MPI procedures named,
/// pointers are to live values of the right type for the length of the call, and
/// handles come from this MPI; a stale handle is an error that the host reports.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Host {
    /// `MPI_Comm_rank`.
    pub fn rank(&self, comm: Word) -> Result<usize, HostError> {
        integer("MPI_Comm_rank", |rank| unsafe {
            (self.functions.comm_rank)(comm, rank)
        })
        .map(|rank| rank as usize)
    }

    /// `MPI_Comm_size`.
    pub fn size(&self, comm: Word) -> Result<usize, HostError> {
        integer("MPI_Comm_size", |size| unsafe {
            (self.functions.comm_size)(comm, size)
        })
        .map(|size| size as usize)
    }

    /// `MPI_Comm_test_inter`.
    pub fn is_inter(&self, comm: Word) -> Result<bool, HostError> {
        integer("MPI_Comm_test_inter", |flag| unsafe {
            (self.functions.comm_test_inter)(comm, flag)
        })
        .map(|flag| flag != 0)
    }

    /// `MPI_Comm_group`.
    pub fn group(&self, comm: Word) -> Result<Word, HostError> {
        handle("MPI_Comm_group", |group| unsafe {
            (self.functions.comm_group)(comm, group)
        })
    }

    /// `MPI_Comm_remote_group`.
    pub fn remote_group(&self, comm: Word) -> Result<Word, HostError> {
        handle("MPI_Comm_remote_group", |group| unsafe {
            (self.functions.comm_remote_group)(comm, group)
        })
    }

    /// `MPI_Win_get_group`.
    pub fn window_group(&self, window: Word) -> Result<Word, HostError> {
        handle("MPI_Win_get_group", |group| unsafe {
            (self.functions.win_get_group)(window, group)
        })
    }

    /// The ranks that this process sends to in neighbourhood collectives, in the
    /// order of their arguments (MPI-4.1, section 8.6); none where `comm` has no
    /// topology.
    pub fn neighbours(&self, comm: Word) -> Result<Vec<c_int>, HostError> {
        let topology = integer("MPI_Topo_test", |topology| unsafe {
            (self.functions.topo_test)(comm, topology)
        })?;
        match topology {
            kind if kind == self.abi.cart => self.cartesian_neighbours(comm),
            kind if kind == self.abi.graph => self.graph_neighbours(comm),
            kind if kind == self.abi.dist_graph => self.dist_graph_destinations(comm),
            _ => Ok(Vec::new()),
        }
    }

    fn cartesian_neighbours(&self, comm: Word) -> Result<Vec<c_int>, HostError> {
        let dimensions = integer("MPI_Cartdim_get", |count| unsafe {
            (self.functions.cartdim_get)(comm, count)
        })?;
        let mut neighbours = Vec::new();
        for dimension in 0..dimensions {
            let (mut before, mut after) = (0, 0);
            let code =
                unsafe { (self.functions.cart_shift)(comm, dimension, 1, &mut before, &mut after) };
            check("MPI_Cart_shift", code)?;
            neighbours.extend([before, after]);
        }
        Ok(neighbours)
    }

    fn graph_neighbours(&self, comm: Word) -> Result<Vec<c_int>, HostError> {
        let rank = self.rank(comm)? as c_int;
        let count = integer("MPI_Graph_neighbors_count", |count| unsafe {
            (self.functions.graph_neighbors_count)(comm, rank, count)
        })?;
        let mut neighbours = vec![0; count as usize];
        let code =
            unsafe { (self.functions.graph_neighbors)(comm, rank, count, neighbours.as_mut_ptr()) };
        check("MPI_Graph_neighbors", code).map(|()| neighbours)
    }

    fn dist_graph_destinations(&self, comm: Word) -> Result<Vec<c_int>, HostError> {
        let (mut incoming, mut outgoing, mut weighted) = (0, 0, 0);
        let code = unsafe {
            (self.functions.dist_graph_neighbors_count)(
                comm,
                &mut incoming,
                &mut outgoing,
                &mut weighted,
            )
        };
        check("MPI_Dist_graph_neighbors_count", code)?;
        // Room for weights, which are written where the graph has them.
        let mut sources = vec![0; 2 * incoming as usize];
        let mut destinations = vec![0; 2 * outgoing as usize];
        let (sources, source_weights) = sources.split_at_mut(incoming as usize);
        let (destinations, weights) = destinations.split_at_mut(outgoing as usize);
        let code = unsafe {
            (self.functions.dist_graph_neighbors)(
                comm,
                incoming,
                sources.as_mut_ptr(),
                source_weights.as_mut_ptr(),
                outgoing,
                destinations.as_mut_ptr(),
                weights.as_mut_ptr(),
            )
        };
        check("MPI_Dist_graph_neighbors", code).map(|()| destinations.to_vec())
    }

    /// The ranks that the members of `group` have in `other`; `u32::MAX` for
    /// those that are not in it.
    pub fn translate(&self, group: Word, other: Word) -> Result<Vec<u32>, HostError> {
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
    pub fn include(&self, group: Word, ranks: &[c_int]) -> Result<Word, HostError> {
        handle("MPI_Group_incl", |made| unsafe {
            (self.functions.group_incl)(group, ranks.len() as c_int, ranks.as_ptr(), made)
        })
    }

    /// `MPI_Group_free`.
    pub fn free_group(&self, mut group: Word) {
        unsafe { (self.functions.group_free)(&mut group) };
    }

    /// `MPI_Comm_split` into one communicator ordered by `key`.
    pub fn split(&self, comm: Word, key: usize) -> Result<Word, HostError> {
        handle("MPI_Comm_split", |made| unsafe {
            (self.functions.comm_split)(comm, 0, key as c_int, made)
        })
    }

    /// [`Host::split`], an error of which is returned whatever the error handler
    /// of `comm` is.
    pub fn split_quietly(&self, comm: Word, key: usize) -> Result<Word, HostError> {
        let mut handler = self.error_handler(comm)?;
        self.return_errors(comm)?;
        let made = self.split(comm, key);
        self.set_error_handler(comm, handler)?;
        unsafe { (self.functions.errhandler_free)(&mut handler) };
        made
    }

    /// `MPI_Comm_free`.
    pub fn free_communicator(&self, mut comm: Word) {
        unsafe { (self.functions.comm_free)(&mut comm) };
    }

    /// `MPI_Comm_set_name`.
    pub fn set_name(&self, comm: Word, name: &CStr) -> Result<(), HostError> {
        let code = unsafe { (self.functions.comm_set_name)(comm, name.as_ptr()) };
        check("MPI_Comm_set_name", code)
    }

    /// Gives `to` the error handler of `from`.
    pub fn copy_error_handler(&self, from: Word, to: Word) -> Result<(), HostError> {
        let mut handler = handle("MPI_Comm_get_errhandler", |handler| unsafe {
            (self.functions.comm_get_errhandler)(from, handler)
        })?;
        let code = unsafe { (self.functions.comm_set_errhandler)(to, handler) };
        unsafe { (self.functions.errhandler_free)(&mut handler) };
        check("MPI_Comm_set_errhandler", code)
    }

    /// Whether the status at this address is of a cancelled call
    /// (`MPI_Test_cancelled`).
    pub fn is_cancelled(&self, status: Word) -> bool {
        let flag = integer("MPI_Test_cancelled", |flag| unsafe {
            (self.functions.test_cancelled)(status, flag)
        });
        flag.is_ok_and(|flag| flag != 0)
    }

    /// `MPI_Comm_get_errhandler`.
    pub fn error_handler(&self, comm: Word) -> Result<Word, HostError> {
        handle("MPI_Comm_get_errhandler", |handler| unsafe {
            (self.functions.comm_get_errhandler)(comm, handler)
        })
    }

    /// `MPI_Comm_create_errhandler`.
    pub fn create_error_handler(&self, function: ErrorCallback) -> Result<Word, HostError> {
        handle("MPI_Comm_create_errhandler", |handler| unsafe {
            (self.functions.comm_create_errhandler)(function, handler)
        })
    }

    /// `MPI_Comm_set_errhandler`.
    pub fn set_error_handler(&self, comm: Word, handler: Word) -> Result<(), HostError> {
        let code = unsafe { (self.functions.comm_set_errhandler)(comm, handler) };
        check("MPI_Comm_set_errhandler", code)
    }

    /// `MPI_Comm_call_errhandler`.
    pub fn call_error_handler(&self, comm: Word, error: c_int) {
        unsafe { (self.functions.comm_call_errhandler)(comm, error) };
    }

    /// Whether another job spawned this one (`MPI_Comm_get_parent`).
    pub fn has_parent(&self) -> Result<bool, HostError> {
        let parent = handle("MPI_Comm_get_parent", |parent| unsafe {
            (self.functions.comm_get_parent)(parent)
        })?;
        Ok(!self.is_null_communicator(parent))
    }

    /// Has `callback` called when `MPI_COMM_SELF` is freed: the first thing that
    /// `MPI_Finalize` does, with MPI still whole, in the reverse order of
    /// setting (MPI-4.1, section 11.2.4).
    pub fn at_finalize(&self, callback: DeleteCallback) -> Result<(), HostError> {
        let keyval = self.new_keyval(never_copied, callback)?;
        self.set_attribute(self.comm_self, keyval)
    }

    /// `MPI_Comm_create_keyval`.
    pub(super) fn new_keyval(
        &self,
        copy: CopyCallback,
        delete: DeleteCallback,
    ) -> Result<c_int, HostError> {
        integer("MPI_Comm_create_keyval", |keyval| unsafe {
            (self.functions.comm_create_keyval)(copy, delete, keyval, 0)
        })
    }

    /// A new keyval whose attributes say no more than that they are there; they
    /// go with `MPI_Comm_dup`.
    pub fn new_mark(&self) -> Result<c_int, HostError> {
        self.new_keyval(always_copied, forgotten)
    }

    /// `MPI_Comm_set_attr`, with no value.
    pub fn set_attribute(&self, comm: Word, keyval: c_int) -> Result<(), HostError> {
        let code = unsafe { (self.functions.comm_set_attr)(comm, keyval, 0) };
        check("MPI_Comm_set_attr", code)
    }

    /// Whether `comm` has an attribute (`MPI_Comm_get_attr`).
    pub fn has_attribute(&self, comm: Word, keyval: c_int) -> bool {
        let (mut value, mut flag) = (0, 0);
        let code = unsafe { (self.functions.comm_get_attr)(comm, keyval, &mut value, &mut flag) };
        code == SUCCESS && flag != 0
    }

    /// `MPI_Bcast` of bytes from rank 0; any length.
    pub fn broadcast(&self, comm: Word, bytes: &mut [u8]) -> Result<(), HostError> {
        for part in bytes.chunks_mut(1 << 30) {
            let code = unsafe {
                (self.functions.bcast)(part.as_mut_ptr(), part.len() as c_int, self.byte, 0, comm)
            };
            check("MPI_Bcast", code)?;
        }
        Ok(())
    }

    /// `MPI_Send` of bytes, any length.
    pub fn send(&self, comm: Word, to: usize, bytes: &[u8]) -> Result<(), HostError> {
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

    /// `MPI_Recv` of as many bytes as [`Host::send`] was given.
    pub fn receive(&self, comm: Word, from: usize, bytes: &mut [u8]) -> Result<(), HostError> {
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

    /// Bytes of one element of `datatype`; 0 where the host refuses the handle.
    #[inline(always)]
    pub fn type_size(&self, datatype: Word) -> u64 {
        let known = self.abi.type_size(datatype);
        known.unwrap_or_else(|| self.ask_type_size(datatype))
    }

    fn ask_type_size(&self, datatype: Word) -> u64 {
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

    /// `MPI_Error_string`.
    pub fn error_text(&self, error: c_int) -> String {
        // Larger than every family's MPI_MAX_ERROR_STRING.
        let mut text = vec![0u8; 4096];
        let mut length = 0;
        let code =
            unsafe { (self.functions.error_string)(error, text.as_mut_ptr().cast(), &mut length) };
        let length = usize::try_from(length).unwrap_or(0).min(text.len());
        match code {
            SUCCESS => String::from_utf8_lossy(&text[..length]).into_owned(),
            _ => format!("error {error}"),
        }
    }

    /// `MPI_Get_version`: the MPI standard that the host says it follows.
    pub fn standard_version(&self) -> String {
        let (mut major, mut minor) = (0, 0);
        unsafe { (self.functions.get_version)(&mut major, &mut minor) };
        format!("{major}.{minor}")
    }

    /// `MPI_Abort` on the host's world.
    pub fn abort(&self, code: c_int) {
        unsafe { (self.functions.abort)(self.world, code) };
    }

    /// `MPI_Comm_f2c`; `None` where the MPI has none (a macro, in some).
    pub fn of_fortran_handle(&self, comm: c_int) -> Option<Word> {
        let address = find(c"PMPI_Comm_f2c").or_else(|| find(c"MPI_Comm_f2c"))?;
        Some(unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int) -> Word>(address)(comm)
        })
    }

    /// `MPI_Comm_c2f`; `None` where the MPI has none (a macro, in some).
    pub fn fortran_handle(&self, comm: Word) -> Option<c_int> {
        let address = find(c"PMPI_Comm_c2f").or_else(|| find(c"MPI_Comm_c2f"))?;
        Some(unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Word) -> c_int>(address)(comm)
        })
    }

    /// Has errors on `comm` returned instead of ending the job.
    pub fn return_errors(&self, comm: Word) -> Result<(), HostError> {
        let code = unsafe { (self.functions.comm_set_errhandler)(comm, self.errors_return) };
        check("MPI_Comm_set_errhandler", code)
    }
}

/// `MPI_Comm_copy_attr_function` that leaves the attribute out of the copy.
pub(super) unsafe extern "C" fn never_copied(
    _comm: Word,
    _keyval: c_int,
    _extra: Word,
    _value: Word,
    _copy: Word,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI passes the address of an int.
    unsafe { *flag = 0 };
    SUCCESS
}

/// `MPI_Comm_copy_attr_function` that hands the attribute on.
unsafe extern "C" fn always_copied(
    _comm: Word,
    _keyval: c_int,
    _extra: Word,
    value: Word,
    copy: Word,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI passes the addresses of a pointer and of an int.
    unsafe {
        *(copy as *mut Word) = value;
        *flag = 1;
    }
    SUCCESS
}

/// `MPI_Comm_delete_attr_function` that has nothing to do.
unsafe extern "C" fn forgotten(_comm: Word, _keyval: c_int, _value: Word, _extra: Word) -> c_int {
    SUCCESS
}
