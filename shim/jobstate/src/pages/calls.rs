//! Reading of the calls in a page: threads, their requests and their last sends.

use super::decode::Reader;
use super::layout::{
    ABSENT, AREAS_AT, INSIDE, NUMBER_SHIFT, REQUEST, REQUESTS, REQUESTS_AT, STARTED, THREADS, area,
    header, request_place, send_place, unpack,
};
use super::procedure::Procedure;
use crate::waits::{Activity, Collective, Envelope, Incomplete, Operation, Partner, Thread, Until};

impl Reader<'_> {
    fn envelope(&self, comm: u64, partner_and_tag: u64, elements: u64) -> Envelope {
        let (partner, tag) = unpack(partner_and_tag);
        let communicator = self.communicator(comm);
        let is = |at: usize, number: i32| self.get(at) as i32 == number;
        let member = || {
            let members = self.communicators.get(&communicator?)?.members.as_ref()?;
            members.get(usize::try_from(partner).ok()?)
        };
        let partner = match partner {
            partner if is(header::PROC_NULL, partner) => Partner::Nobody,
            partner if is(header::ANY_SOURCE, partner) => Partner::Any,
            _ => member().map_or(Partner::Unknown, Partner::Rank),
        };
        Envelope {
            communicator,
            partner,
            tag: (!is(header::ANY_TAG, tag) && tag != ABSENT).then_some(tag),
            elements,
        }
    }

    fn collective(&self, procedure: &Procedure<'_>, comm: u64, root: u64) -> Collective {
        let communicator = self.communicator(comm);
        let known = communicator.and_then(|key| self.communicators.get(&key));
        Collective {
            communicator,
            number: known.map_or(0, |known| known.done),
            operation: procedure.operation(),
            root: procedure.has_root().then(|| unpack(root).0),
        }
    }

    pub(super) fn thread(&self, at: usize) -> Thread {
        let call = self.get(at + area::CALL);
        let procedure = self.procedure(call & (INSIDE - 1)).filter(|_| call != 0);
        let is_inside = call & INSIDE != 0;
        let activity = match procedure {
            Some(procedure) if is_inside || procedure.is_poll() => self.activity(procedure, at),
            _ if is_inside => Activity::InCall,
            _ => Activity::Outside,
        };
        let mut last_sends = self.last_sends(at);
        let mut sends = self.get(at + area::SENDS);
        // A send in progress has not been counted yet; its operation shows it.
        if is_inside && procedure.is_some_and(|procedure| procedure.role == "send") {
            sends = sends.saturating_sub(1);
            last_sends.pop();
        }
        let seen = self.get(at + area::SEEN);
        let still = seen >> NUMBER_SHIFT == call >> NUMBER_SHIFT;
        Thread {
            area: (at - AREAS_AT) / area::LENGTH,
            number: call >> NUMBER_SHIFT,
            polls: self.get(at + area::POLLS),
            procedure: procedure.map_or(String::new(), |procedure| procedure.name.to_owned()),
            is_poll: procedure.is_some_and(Procedure::is_poll),
            inside: is_inside,
            activity,
            since: if still { self.get(at + area::SINCE) } else { 0 },
            last_sends,
            sends,
        }
    }

    /// Returns the activity of a thread in a call of this procedure.
    fn activity(&self, procedure: &Procedure<'_>, at: usize) -> Activity {
        let comm = self.get(at + area::COMM);
        let sent = || self.send(at, self.get(at + area::SENDS));
        let received = || self.envelope(comm, self.get(at + area::SOURCE_TAG), 0);
        let all = |operations| Activity::Waits {
            operations,
            until: Until::All,
            begun: false,
        };
        match (
            procedure.role.split(' ').next().unwrap_or_default(),
            procedure.word(),
        ) {
            ("finalize", _) => Activity::Finalizes,
            (_, word) if word.starts_with("Sendrecv") => all(vec![
                Operation::Receive(received()),
                Operation::Send(sent()),
            ]),
            ("send", _) if !procedure.is_immediate() => all(vec![Operation::Send(sent())]),
            ("receive", "Recv" | "Probe" | "Mprobe" | "Iprobe" | "Improbe") => {
                all(vec![Operation::Receive(received())])
            }
            ("complete", word) => Activity::Waits {
                operations: self.asked(at),
                until: match word.ends_with("any") || word.ends_with("some") {
                    true => Until::Any,
                    false => Until::All,
                },
                begun: true,
            },
            _ if procedure.is_collective() && !procedure.is_immediate() => {
                let root = self.get(at + area::DEST);
                let collective = self.collective(procedure, comm, root);
                all(vec![Operation::Collective(collective)])
            }
            _ => Activity::InCall,
        }
    }

    /// Returns the operations of the requests of a thread's call.
    fn asked(&self, at: usize) -> Vec<Operation> {
        let count = self.get(at + area::ASKED) as usize;
        let null = self.handle(self.get(header::REQUEST_NULL));
        let listed = count.min(area::MOST_REQUESTS);
        let mut operations: Vec<Operation> = (0..listed)
            .map(|place| self.get(at + area::REQUESTS + place))
            .filter(|&request| self.handle(request) != null)
            .map(|request| self.request(request))
            .collect();
        if count > listed {
            operations.push(Operation::Unknown);
        }
        operations
    }

    /// Returns the operation of a request.
    fn request(&self, request: u64) -> Operation {
        let at = REQUESTS_AT + request_place(request) * REQUEST;
        let what = self.get(at + 1);
        let procedure = self.procedure(what & (INSIDE - 1));
        let Some(procedure) = procedure.filter(|_| self.get(at) == request) else {
            return Operation::Unknown;
        };
        let (comm, partner) = (self.get(at + 2), self.get(at + 3));
        match (procedure.role, procedure.word()) {
            ("receive" | "receive-init", _) => Operation::Receive(self.envelope(comm, partner, 0)),
            // Either half may be the incomplete one.
            (_, word) if word.starts_with("Isendrecv") => Operation::Unknown,
            ("send" | "send-init", _) => Operation::Send(self.envelope(comm, partner, 0)),
            _ if procedure.is_collective() => {
                let mut collective = self.collective(procedure, comm, partner);
                collective.number = what >> NUMBER_SHIFT;
                Operation::Collective(collective)
            }
            _ => Operation::Unknown,
        }
    }

    /// Returns the requests that a rank in `MPI_Finalize` has begun and not completed.
    pub(super) fn incomplete(&self) -> Vec<Incomplete> {
        let finalizes = |at: usize| {
            let call = self.get(at + area::CALL);
            let procedure = self.procedure(call & (INSIDE - 1));
            call & INSIDE != 0 && procedure.is_some_and(|procedure| procedure.role == "finalize")
        };
        if !(0..THREADS).any(|number| finalizes(AREAS_AT + number * area::LENGTH)) {
            return Vec::new();
        }
        let places = (0..REQUESTS).map(|place| REQUESTS_AT + place * REQUEST);
        let incomplete = places.filter_map(|at| {
            let (request, what) = (self.get(at), self.get(at + 1));
            let procedure = self.procedure(what & (STARTED - 1))?;
            let is_begun = !procedure.is_prepared() || what & STARTED != 0;
            (request != 0 && is_begun).then(|| Incomplete {
                procedure: procedure.name.to_owned(),
                operation: self.request(request),
            })
        });
        incomplete.collect()
    }

    /// Returns the last sends, the latest last.
    fn last_sends(&self, at: usize) -> Vec<Envelope> {
        let sends = self.get(at + area::SENDS);
        let first = sends.saturating_sub(area::MOST_SENDS as u64) + 1;
        (first..=sends)
            .map(|number| self.send(at, number))
            .collect()
    }

    /// Returns the send with this number, one of the last.
    fn send(&self, at: usize, number: u64) -> Envelope {
        let at = at + send_place(number);
        self.envelope(self.get(at), self.get(at + 1), self.get(at + 2))
    }
}
