//! Calls that complete requests, and the statuses of these.

use treepie_mpi::native::{Native, native};
use treepie_mpi::{Request, SUCCESS, StatusAddress, Word, c_int};

use super::registry::handle_at;
use super::{cancelled, received};

/// Call that completes requests, as its procedure passes it on. Addresses that it lacks are 0.
#[derive(Debug, Clone, Copy)]
pub struct Completion {
    /// Number of requests.
    pub count: c_int,
    /// Address of the requests.
    pub requests: Word,
    /// Address of the flag: true if any or all completed.
    pub flag: Word,
    /// Address of the index of the completed request, of several.
    pub index: Word,
    /// Address of the number of completed requests.
    pub completed: Word,
    /// Address of the indices of completed requests.
    pub indices: Word,
    /// The status, or an array of them.
    pub status: StatusAddress,
    /// True if `status` is an array with one element for each request.
    pub array: bool,
}

impl Completion {
    /// Completion of one request.
    pub const NONE: Completion = Completion {
        count: 1,
        requests: 0,
        flag: 0,
        index: 0,
        completed: 0,
        indices: 0,
        status: StatusAddress::ABSENT,
        array: false,
    };
}

/// Calls the native MPI while requests are watched; `call` takes the status.
#[cold]
pub fn complete(completion: &Completion, call: &dyn Fn(StatusAddress) -> c_int) -> c_int {
    let Some(native) = native() else {
        return call(completion.status);
    };
    let is_watched = |request| cancelled::is_watched(request) || received::is_open(request);
    completion.observed(native, is_watched, call, |request, status| {
        // SAFETY: it is the status of a request that the call has completed.
        unsafe {
            cancelled::settle(native, request, status);
            received::settle(native, request, status);
        }
    })
}

impl Completion {
    /// Calls the native MPI, and passes to `each` the requests of interest that it completed, with
    /// their statuses, even if the application wants none. `call` takes the status.
    pub fn observed(
        &self,
        native: &Native,
        of_interest: impl Fn(Request) -> bool,
        call: impl FnOnce(StatusAddress) -> c_int,
        mut each: impl FnMut(Request, StatusAddress),
    ) -> c_int {
        // Read before the call, which leaves null handles.
        let requests = self.requests(native).enumerate();
        let watched: Vec<(usize, Request)> = requests
            .filter(|(_, request)| of_interest(*request))
            .collect();
        if watched.is_empty() {
            return call(self.status);
        }
        let mut room = Vec::new();
        let mut status = self.status;
        if self.ignores_status(native) {
            let count = usize::try_from(self.count).unwrap_or(0).max(1);
            room.resize(count * native.abi.status_bytes / 8 + 1, 0u64);
            status = StatusAddress::of_room(&mut room);
        }
        let code = call(status);
        if code == SUCCESS {
            for (at, request) in watched {
                // SAFETY: the call succeeded, and its arguments hold its results.
                if let Some(place) = unsafe { self.status_of(at) } {
                    each(request, status.nth(place, native.abi.status_bytes));
                }
            }
        }
        code
    }

    /// Returns the requests of the call.
    pub fn requests(&self, native: &Native) -> impl Iterator<Item = Request> {
        let (first, bytes) = (self.requests, native.abi.handle_bytes);
        let count = usize::try_from(self.count).unwrap_or(0);
        (0..count).map(move |at| handle_at(first + at * bytes))
    }

    fn ignores_status(&self, native: &Native) -> bool {
        match self.array {
            true => self.status.word() == native.abi.statuses_ignore,
            false => self.status.word() == native.abi.status_ignore,
        }
    }

    /// Puts errors into the array of statuses, each at its index; with `all_others`, sets those of
    /// other completed requests to success.
    ///
    /// # Safety
    /// The call has set its results, its arguments are these, and the indices are among the
    /// completed ones.
    pub unsafe fn put_errors(
        &self,
        native: &Native,
        all_others: bool,
        errors: impl Iterator<Item = (usize, c_int)>,
    ) {
        if self.ignores_status(native) {
            return;
        }
        let put = |place: usize, error: c_int| {
            let status = self.status.nth(place, native.abi.status_bytes);
            // SAFETY: the caller's promise.
            unsafe { *((status.word() + native.abi.status_error) as *mut c_int) = error };
        };
        let told = match self.completed {
            0 => self.count,
            // SAFETY: as above.
            completed => unsafe { *(completed as *const c_int) },
        };
        if all_others {
            (0..usize::try_from(told).unwrap_or(0)).for_each(|place| put(place, SUCCESS));
        }
        errors.for_each(|(place, error)| put(place, error));
    }

    /// Returns the index of the status of the request `at`, if it completed.
    ///
    /// # Safety
    /// The call has set its results, and its arguments are these.
    pub unsafe fn status_of(&self, at: usize) -> Option<usize> {
        // SAFETY: the caller's promise.
        let integer = |address: Word| unsafe { *(address as *const c_int) };
        if self.flag != 0 && integer(self.flag) == 0 {
            return None;
        }
        if self.completed != 0 {
            let completed = usize::try_from(integer(self.completed)).unwrap_or(0);
            return (0..completed).find(|&place| integer(self.indices + place * 4) == at as c_int);
        }
        if self.index != 0 {
            return (integer(self.index) == at as c_int).then_some(0);
        }
        Some(if self.array { at } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(integers: &[c_int]) -> Word {
        integers.as_ptr() as Word
    }

    fn call() -> Completion {
        Completion {
            count: 3,
            ..Completion::NONE
        }
    }

    fn status_of(completion: Completion, at: usize) -> Option<usize> {
        // SAFETY: the addresses are of live integers.
        unsafe { completion.status_of(at) }
    }

    #[test]
    fn each_form_of_completion_says_which_status_is_whose() {
        let (no, yes, two) = ([0], [1], [2]);
        let wait = call();
        assert_eq!(status_of(wait, 0), Some(0));
        let test = Completion {
            flag: address(&no),
            ..call()
        };
        assert_eq!(status_of(test, 0), None);
        let any = Completion {
            flag: address(&yes),
            index: address(&two),
            ..call()
        };
        assert_eq!((status_of(any, 2), status_of(any, 1)), (Some(0), None));
        let all = Completion {
            array: true,
            ..call()
        };
        assert_eq!(status_of(all, 2), Some(2));
        let indices = [2, 0];
        let some = Completion {
            completed: address(&two),
            indices: address(&indices),
            array: true,
            ..call()
        };
        assert_eq!((status_of(some, 0), status_of(some, 1)), (Some(1), None));
    }
}
