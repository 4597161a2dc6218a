//! Writes around a call: its description before, its end after.

use std::sync::atomic::{AtomicU64, Ordering};

use treepie_jobstate::pages::layout::{
    ABSENT, INSIDE, NUMBER_SHIFT, REQUEST, REQUESTS_AT, STARTED, THREADS, area, header, pack,
    request_place, send_place,
};
use treepie_mpi::native::native;
use treepie_mpi::{Handle, HandleAddress, Request, c_int};

use super::note::{Note, Procedure};
use super::words::{self, PageWords};

/// Thread's area of the page. Only that thread writes it, except for the times.
#[derive(Clone, Copy)]
pub struct Area {
    words: &'static [AtomicU64; area::LENGTH],
    /// The page; `None` if the thread has no area in it.
    page: Option<PageWords>,
}

/// Area for threads that have none in the page, or that call after its end.
static NOWHERE: [AtomicU64; area::LENGTH] = [const { AtomicU64::new(0) }; area::LENGTH];

impl Area {
    /// Returns an area for a new thread.
    #[cold]
    pub fn claim() -> Area {
        let words = words::of_process();
        let nowhere = Area {
            words: &NOWHERE,
            page: None,
        };
        let Some(page) = words else { return nowhere };
        let free = (0..THREADS).map(|number| page.area(number)).find(|area| {
            let thread = &area[area::THREAD];
            let claimed = thread.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed);
            claimed.is_ok()
        });
        if free.is_none() {
            page.0[header::MORE_THREADS].fetch_add(1, Ordering::Relaxed);
        }
        free.map_or(nowhere, |words| Area {
            words,
            page: Some(page),
        })
    }

    /// Leaves the area to the next thread that starts.
    pub fn release(self) {
        self.words[area::THREAD].store(0, Ordering::Release);
    }

    #[inline(always)]
    fn get(self, at: usize) -> u64 {
        self.words[at].load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set(self, at: usize, value: u64) {
        self.words[at].store(value, Ordering::Relaxed);
    }

    /// Begins a call. Fields that the procedure lacks are constant and skipped, so that few stores
    /// remain; readers know the fields by the procedure.
    #[inline(always)]
    pub fn begin(self, note: &Note) {
        let last = self.get(area::CALL) >> NUMBER_SHIFT;
        let number = match note.procedure.poll {
            true => {
                self.set(area::POLLS, self.get(area::POLLS) + 1);
                last
            }
            false => last + 1,
        };
        if !note.procedure.starts {
            self.describe(note);
        }
        let call = number << NUMBER_SHIFT | INSIDE | u64::from(note.procedure.number);
        self.words[area::CALL].store(call, Ordering::Release);
        if note.sends {
            self.send(note);
        }
    }

    /// Describes the partner of the call, for which it may have to wait. A sent message is in the
    /// last send.
    #[inline(always)]
    fn describe(self, note: &Note) {
        let only_sends = note.sends && note.source == ABSENT;
        if !note.comm.is_absent() && !only_sends {
            self.set(area::COMM, note.comm.word() as u64);
        }
        if note.dest != ABSENT && !note.sends {
            self.set(area::DEST, note.dest as u32 as u64);
        }
        if note.source != ABSENT {
            self.set(area::SOURCE_TAG, pack(note.source, note.receive_tag));
        }
        if !note.requests.is_absent() {
            self.ask(note.count, note.requests);
        }
    }

    /// Ends the call. `done`: whether it succeeded, which a poll may not have.
    #[inline(always)]
    pub fn end(self, done: bool, procedure: Procedure) {
        let mut call = self.get(area::CALL) & !INSIDE;
        if procedure.poll && done {
            call += 1 << NUMBER_SHIFT;
        }
        self.words[area::CALL].store(call, Ordering::Release);
    }

    /// Notes that a message is sent.
    #[inline(always)]
    fn send(self, note: &Note) {
        let number = self.get(area::SENDS) + 1;
        let at = send_place(number);
        self.set(at, note.comm.word() as u64);
        self.set(at + 1, pack(note.dest, note.tag));
        self.set(at + 2, note.elements as u64);
        self.set(area::SENDS, number);
    }

    /// Returns the number of the last call.
    pub fn number(self) -> u64 {
        self.get(area::CALL) >> NUMBER_SHIFT
    }

    /// Notes the requests of a call.
    #[inline(always)]
    fn ask(self, count: c_int, requests: HandleAddress<Request>) {
        let count = usize::try_from(count).unwrap_or(0);
        self.set(area::ASKED, count as u64);
        for at in 0..count.min(area::MOST_REQUESTS) {
            self.set(area::REQUESTS + at, request_at(requests, at));
        }
        // The completion of further requests is not tracked: they must not be reported as
        // incomplete.
        for at in area::MOST_REQUESTS..count {
            self.forget(request_at(requests, at));
        }
    }

    /// Notes that a call has completed some or all of its requests: those whose handles are null
    /// now have ended. Of persistent ones any may be complete.
    #[inline(always)]
    pub fn completed(self, note: &Note) {
        let (Some(page), Some(native)) = (self.page, native()) else {
            return;
        };
        let null = native.request_null() as u64;
        let count = usize::try_from(note.count).unwrap_or(0);
        for at in 0..count.min(area::MOST_REQUESTS) {
            let request = self.get(area::REQUESTS + at);
            let Some(slot) = slot_of(page, request) else {
                continue;
            };
            match request_at(note.requests, at) == null {
                true => page.set(slot, 0),
                false => page.set(slot + 1, page.get(slot + 1) & !STARTED),
            }
        }
    }

    /// Notes that persistent requests are started, an array of `count` at `requests`.
    pub fn started(self, count: c_int, requests: HandleAddress<Request>) {
        let Some(page) = self.page else { return };
        for at in 0..usize::try_from(count).unwrap_or(0) {
            if let Some(slot) = slot_of(page, request_at(requests, at)) {
                page.set(slot + 1, page.get(slot + 1) | STARTED);
            }
        }
    }

    /// Removes a request that has ended, or that is no longer tracked.
    pub fn forget(self, request: u64) {
        if let Some(page) = self.page
            && let Some(slot) = slot_of(page, request)
        {
            page.set(slot, 0);
        }
    }

    /// Describes a request that was created by this call. `number` is that of a collective on its
    /// communicator.
    #[inline(always)]
    pub fn requested(self, note: &Note, number: u64) {
        let Some(page) = self.page else { return };
        let request = note.request.read();
        let partner = match note.posts || note.source != ABSENT {
            true => pack(note.source, note.receive_tag),
            false => pack(note.dest, note.tag),
        };
        let at = slot_for(request.word() as u64);
        page.set(at, request.word() as u64);
        page.set(
            at + 1,
            number << NUMBER_SHIFT | u64::from(note.procedure.number),
        );
        page.set(at + 2, note.comm.word() as u64);
        page.set(at + 3, partner);
    }
}

/// Returns the position of a request in pages.
#[inline(always)]
fn slot_for(request: u64) -> usize {
    REQUESTS_AT + request_place(request) * REQUEST
}

/// Returns the position of a request, if the page still has it.
#[inline(always)]
fn slot_of(page: PageWords, request: u64) -> Option<usize> {
    let slot = slot_for(request);
    (page.get(slot) == request).then_some(slot)
}

/// Returns the request at this index in an array of the application.
#[inline(always)]
fn request_at(requests: HandleAddress<Request>, at: usize) -> u64 {
    native().map_or(0, |native| requests.nth(native, at).read().word() as u64)
}
