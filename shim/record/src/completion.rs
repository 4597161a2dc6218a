//! Calls that complete requests, and the statuses of these.

use treepie_mpi::native::{Native, native};
use treepie_mpi::{HandleAddress, IntAddress, Request, SUCCESS, StatusAddress, c_int};

use super::{cancelled, received};

/// Call that completes requests, as its procedure passes it on. Addresses that it lacks are absent.
#[derive(Debug, Clone, Copy)]
pub struct Completion {
    /// Number of requests.
    pub count: c_int,
    /// Address of the requests.
    pub requests: HandleAddress<Request>,
    /// Address of the flag: true if any or all completed.
    pub flag: IntAddress,
    /// Address of the index of the completed request, of several.
    pub index: IntAddress,
    /// Address of the number of completed requests.
    pub completed: IntAddress,
    /// Address of the indices of completed requests.
    pub indices: IntAddress,
    /// The status, or an array of them.
    pub status: StatusAddress,
    /// True if `status` is an array with one element for each request.
    pub array: bool,
}

impl Completion {
    /// Completion of one request.
    pub const NONE: Completion = Completion {
        count: 1,
        requests: HandleAddress::ABSENT,
        flag: IntAddress::ABSENT,
        index: IntAddress::ABSENT,
        completed: IntAddress::ABSENT,
        indices: IntAddress::ABSENT,
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
        cancelled::settle(native, request, status);
        received::settle(native, request, status);
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
        each: impl FnMut(Request, StatusAddress),
    ) -> c_int {
        // Read before the call, which leaves null handles.
        let requests = self.requests(native).enumerate();
        let watched: Vec<(usize, Request)> = requests
            .filter(|(_, request)| of_interest(*request))
            .collect();
        if watched.is_empty() {
            return call(self.status);
        }
        let observe = |status| self.call_with(native, watched, status, call, each);
        match self.ignores_status(native) {
            true => {
                let count = usize::try_from(self.count).unwrap_or(0);
                StatusAddress::with_room(native, count, observe)
            }
            false => observe(self.status),
        }
    }

    /// Calls the native MPI with this status; passes the `watched` requests that it completed to
    /// `each`.
    fn call_with(
        &self,
        native: &Native,
        watched: Vec<(usize, Request)>,
        status: StatusAddress,
        call: impl FnOnce(StatusAddress) -> c_int,
        mut each: impl FnMut(Request, StatusAddress),
    ) -> c_int {
        let code = call(status);
        if code == SUCCESS {
            for (at, request) in watched {
                if let Some(place) = self.status_of(at) {
                    each(request, status.nth(place, native.abi.status_bytes));
                }
            }
        }
        code
    }

    /// Returns the requests of the call.
    pub fn requests(&self, native: &Native) -> impl Iterator<Item = Request> {
        let first = self.requests;
        let count = usize::try_from(self.count).unwrap_or(0);
        (0..count).map(move |at| first.nth(native, at).read())
    }

    fn ignores_status(&self, native: &Native) -> bool {
        match self.array {
            true => self.status.word() == native.abi.statuses_ignore,
            false => self.status.word() == native.abi.status_ignore,
        }
    }

    /// Puts errors into the array of statuses, each at its index; with `all_others`, sets those of
    /// other completed requests to success. The call has set its results.
    pub fn put_errors(
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
            status.set_error(native, error);
        };
        let completed = match self.completed.is_absent() {
            true => self.count,
            false => self.completed.read(),
        };
        if all_others {
            (0..usize::try_from(completed).unwrap_or(0)).for_each(|place| put(place, SUCCESS));
        }
        errors.for_each(|(place, error)| put(place, error));
    }

    /// Returns the index of the status of the request `at`, if it completed. The call has set its
    /// results.
    pub fn status_of(&self, at: usize) -> Option<usize> {
        if !self.flag.is_absent() && self.flag.read() == 0 {
            return None;
        }
        if !self.completed.is_absent() {
            let completed = usize::try_from(self.completed.read()).unwrap_or(0);
            return (0..completed).find(|&place| self.indices.nth(place).read() == at as c_int);
        }
        if !self.index.is_absent() {
            return (self.index.read() == at as c_int).then_some(0);
        }
        Some(if self.array { at } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(integers: &[c_int]) -> IntAddress {
        IntAddress::of(integers.to_vec().leak())
    }

    fn call() -> Completion {
        Completion {
            count: 3,
            ..Completion::NONE
        }
    }

    fn status_of(completion: Completion, at: usize) -> Option<usize> {
        completion.status_of(at)
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
