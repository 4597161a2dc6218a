//! Runs a plan over the native non-blocking messages, and over shared memory where it reaches.
//! Nothing here knows which collective it is, nor who waits for it: an execution goes on turn by
//! turn, and a blocking collective is one that takes turns until it has ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use treepie_collective::{Action, Dependencies, Plan, Range, Space, Step, one_to_many};
use treepie_mpi::native::{Native, Requests};
use treepie_mpi::{Datatype, Op, Word, c_int};

use super::packed::{copy_bytes, transfer_bytes};
use super::place::Place;
use super::sweeps::Sweeps;
use super::transport::{Memory, Message};
use super::unit::{Scratch, Unit};

/// How often nothing may have happened before other processes are let in.
const PATIENCE: u32 = 32;

/// So many idle turns a process that waits for memory alone takes until the native MPI is asked to
/// go on with its own messages: others may wait for those.
const TURNS_WITHOUT_MPI: u32 = 128;

/// So many steps a process does that waits for none, or that has many requests under way, before
/// others are let in: on cores that it shares, those that pass on what it sends had to wait until
/// all is done.
const DONE_AT_ONCE: u32 = 16;

/// So many steps are started before the native MPI is asked for requests, where these are many:
/// what comes meanwhile lets earlier pieces go on. With 16 a reduction of 4 MiB took MPICH 4.0 425
/// ms for 384; with 4 messages came before their receives, and a broadcast of 1 MiB took 166
/// ms for 118.
const STARTED_AT_ONCE: u32 = 8;

/// So many idle turns show that nothing more has come where requests are many: a turn asks for some
/// of them, and takes in one message, which may be a part. With as many as ask for all of them once
/// (1 to 12), a sum of 1 MiB under MPICH 5.0, tested each millisecond, took 150 ms for 120.
const IDLE_WHERE_MANY: u32 = 16;

/// A plan with what an execution asks for at every step.
#[derive(Debug)]
pub struct Prepared {
    plan: Plan,
    dependencies: Dependencies,
    /// For each step, how many steps it waits for, and the steps that wait for none, where copies
    /// that are done with sums are not waited for.
    pending: Vec<u32>,
    ready: Vec<u32>,
    /// Which of the sends of the same data each step is one of.
    one_to_many: Vec<Option<u32>>,
    pub(crate) sweeps: Sweeps,
    /// Nothing is received.
    only_sends: bool,
}

impl Prepared {
    /// Looks at the dependencies between the steps.
    pub fn new(plan: Plan) -> Self {
        let dependencies = Dependencies::new(&plan);
        let receives = |step: &Step| matches!(step.action, Action::Receive { .. });
        let only_sends = !plan.steps().iter().any(receives);
        let sweeps = Sweeps::new(&plan, &dependencies);
        let mut pending = dependencies.pending().to_vec();
        for copy in dependencies.ready() {
            if let Some(sum) = sweeps.sum_of_copy(copy) {
                pending[sum as usize] -= 1;
            }
        }
        let starts =
            |&step: &u32| pending[step as usize] == 0 && sweeps.sum_of_copy(step).is_none();
        Prepared {
            one_to_many: one_to_many(&plan),
            ready: (0..pending.len() as u32).filter(starts).collect(),
            pending,
            sweeps,
            plan,
            dependencies,
            only_sends,
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// The memory that a plan works on.
#[derive(Debug, Clone, Copy)]
pub struct Spaces {
    /// What the plan counts in.
    pub unit: Unit,
    /// Where unit 0 of the input is.
    pub input: Word,
    /// Where unit 0 of the output is.
    pub output: Word,
    /// Where unit 0 of the scratch is.
    pub scratch: Word,
    /// The reduction.
    pub op: Op,
}

/// How far an execution is: used again by the next one, so that no memory is asked for.
#[derive(Debug, Default)]
pub struct Account {
    pub(crate) missing: Vec<u32>,
    ready: BinaryHeap<Reverse<u32>>,
    requests: Requests,
    /// Messages through memory of elements that do not lie one behind the other, by step: as bytes.
    pub(crate) packed: Vec<(u32, Scratch)>,
    /// An error in what came with a step that is complete.
    pub(crate) failed: Option<c_int>,
    /// Steps that others may wait for, since they were let in.
    done: u32,
}

impl Account {
    /// The account of a plan of which nothing is done.
    pub fn begin(&mut self, prepared: &Prepared) {
        self.missing.clear();
        self.missing.extend_from_slice(&prepared.pending);
        self.ready.clear();
        self.ready
            .extend(prepared.ready.iter().copied().map(Reverse));
        self.failed = None;
        self.done = 0;
    }

    /// So many idle turns in a row show that nothing more has come.
    pub fn idle_turns(&self, native: &Native) -> u32 {
        match self.requests.are_many(native) {
            true => IDLE_WHERE_MANY,
            false => 1,
        }
    }

    /// Whether a step waits for nothing and was not started.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }
}

/// What a turn has brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The plan has ended.
    Ended,
    /// Steps were started or completed.
    WentOn,
    /// It waits for others.
    Idle,
}

/// A plan under way, for a turn of it.
pub struct Execution<'a> {
    pub native: &'a Native,
    pub prepared: &'a Prepared,
    pub spaces: &'a Spaces,
    pub place: Place,
    pub account: &'a mut Account,
    pub memory: Option<&'a mut Memory>,
}

/// Runs a plan to its end.
///
/// # Errors
/// MPI's code; then messages may be under way, the memory must stay, and the account is of no
/// more use.
///
/// # Safety
/// The spaces are live memory of the lengths that the plan uses.
pub unsafe fn execute(
    native: &Native,
    prepared: &Prepared,
    spaces: &Spaces,
    place: Place,
    account: &mut Account,
    mut memory: Option<&mut Memory>,
) -> Result<(), c_int> {
    if let Some(memory) = &mut memory {
        memory.begin(place.call);
    }
    account.begin(prepared);
    let mut execution = Execution {
        native,
        prepared,
        spaces,
        place,
        account,
        memory,
    };
    let mut idle = 0;
    loop {
        // SAFETY: the caller's promise.
        match unsafe { execution.turn()? } {
            Turn::Ended => return Ok(()),
            Turn::WentOn => idle = 0,
            Turn::Idle => execution.wait(&mut idle)?,
        }
    }
}

impl Execution<'_> {
    /// Starts what waits for nothing, and sees what has come.
    ///
    /// # Errors
    /// As [`execute`].
    ///
    /// # Safety
    /// As [`execute`].
    #[inline(always)]
    pub unsafe fn turn(&mut self) -> Result<Turn, c_int> {
        // SAFETY: the caller's promise.
        unsafe { self.start_ready()? };
        let has_requests = !self.account.requests.is_empty();
        let is_quiet = self.memory.as_ref().is_none_or(|memory| memory.is_idle());
        if is_quiet && !has_requests && self.account.ready.is_empty() {
            return self.account.failed.map_or(Ok(Turn::Ended), Err);
        }
        let mut went_on = self.go_on_in_memory()?;
        if has_requests {
            let mut requests = std::mem::take(&mut self.account.requests);
            let progress = self.native.test(&mut requests, |step| self.complete(step));
            self.account.requests = requests;
            went_on |= progress?;
        }
        went_on |= !self.account.ready.is_empty();
        Ok(match went_on {
            true => Turn::WentOn,
            false => Turn::Idle,
        })
    }

    /// Another turn was idle: lets other processes in, and the MPI's own messages.
    fn wait(&mut self, idle: &mut u32) -> Result<(), c_int> {
        *idle += 1;
        let patience = match &self.memory {
            Some(memory) if !memory.is_idle() => memory.patience(),
            _ => PATIENCE,
        };
        if *idle > patience {
            std::thread::yield_now();
        }
        let has_requests = !self.account.requests.is_empty();
        if !has_requests && *idle % TURNS_WITHOUT_MPI == TURNS_WITHOUT_MPI - 1 {
            self.native.progress(self.place.to_oneself())?;
        }
        Ok(())
    }

    /// Goes on with messages through memory; whether that was possible.
    fn go_on_in_memory(&mut self) -> Result<bool, c_int> {
        let Some(memory) = self.memory.take() else {
            return Ok(false);
        };
        let went_on = memory.go_on(self);
        self.memory = Some(memory);
        let truncated = self.native.abi.err_truncate;
        self.account
            .failed
            .map_or(went_on.map_err(|_| truncated), Err)
    }

    /// Starts the steps that wait for nothing: all of them, or some while requests are many.
    ///
    /// # Safety
    /// As [`execute`].
    unsafe fn start_ready(&mut self) -> Result<(), c_int> {
        let mut started = 0;
        while let Some(Reverse(step)) = self.account.ready.pop() {
            // SAFETY: the caller's promise, and the step waits for nothing.
            unsafe { self.start(step)? };
            let are_many = self.account.requests.are_many(self.native);
            let action = &self.prepared.plan.steps()[step as usize].action;
            self.account.done += u32::from(!matches!(action, Action::Receive { .. }));
            if self.account.done >= DONE_AT_ONCE && (self.prepared.only_sends || are_many) {
                std::thread::yield_now();
                self.account.done = 0;
            }
            started += 1;
            if started >= STARTED_AT_ONCE && are_many {
                break;
            }
        }
        Ok(())
    }

    /// # Safety
    /// As [`execute`]; what the step needs is complete.
    unsafe fn start(&mut self, step: u32) -> Result<(), c_int> {
        let comm = self.place.comm;
        // SAFETY: the checker holds every generator to ranges inside its spaces,
        // and to steps that do not touch the same units at the same time.
        unsafe {
            match self.prepared.plan.steps()[step as usize].action {
                Action::Send { to, tag, range } if self.reaches(to) => {
                    let message = self.bytes_of(step, tag, range, true)?;
                    let sends = self.prepared.one_to_many[step as usize];
                    if let Some(memory) = self.memory.take() {
                        memory.send(to, message, sends, self);
                        self.memory = Some(memory);
                    }
                }
                Action::Receive { from, tag, range } if self.reaches(from) => {
                    let message = self.bytes_of(step, tag, range, false)?;
                    if let Some(memory) = self.memory.take() {
                        let received = memory.receive(from, message, self);
                        self.memory = Some(memory);
                        received.map_err(|_| self.native.abi.err_truncate)?;
                    }
                }
                Action::Send { to, tag, range } => {
                    let message = self.elements(range);
                    let tag = self.place.tags.of(tag);
                    let request = self.native.begin_send(message, to, tag, comm)?;
                    self.account.requests.push(self.native, request, step);
                }
                Action::Receive { from, tag, range } => {
                    let message = self.elements(range);
                    let tag = self.place.tags.of(tag);
                    let request = self.native.begin_receive(message, from, tag, comm)?;
                    self.account.requests.push(self.native, request, step);
                }
                Action::Reduce { left, right } => {
                    self.reduce(step, left, right)?;
                    self.complete(step);
                }
                Action::Copy { from, into } => {
                    let from = self.elements(from);
                    let (into, _, _) = self.elements(into);
                    copy(self.native, &self.spaces.unit, from, into, self.place)?;
                    self.complete(step);
                }
            }
        }
        Ok(())
    }

    /// Whether messages to and from a rank go through memory.
    fn reaches(&self, rank: usize) -> bool {
        self.memory
            .as_ref()
            .is_some_and(|memory| memory.reaches(rank))
    }

    /// A message through memory, which takes bytes: elements that do not lie one behind the other
    /// are copied, before they are sent or after they have come.
    ///
    /// In line: what is handed over in memory waits, between two messages, for the first one's way
    /// to the other core.
    #[inline(always)]
    fn bytes_of(
        &mut self,
        step: u32,
        tag: u32,
        range: Range,
        is_sent: bool,
    ) -> Result<Message, c_int> {
        let unit = &self.spaces.unit;
        let (address, _, _) = self.elements(range);
        let bytes = range.length * unit.bytes;
        let address = match unit.is_plain || bytes == 0 {
            true => address,
            false => self.pack(step, range, is_sent)?,
        };
        Ok(Message {
            step,
            tag,
            address,
            bytes: bytes as usize,
        })
    }

    /// Where the bytes of a message are that is copied.
    #[cold]
    fn pack(&mut self, step: u32, range: Range, is_sent: bool) -> Result<Word, c_int> {
        let bytes = range.length * self.spaces.unit.bytes;
        let mut packed = Scratch::new(bytes);
        let address = packed.address();
        if is_sent {
            let (elements, into) = (self.elements(range), (address, bytes));
            // SAFETY: the elements of a step that may start, and room for their bytes.
            unsafe {
                transfer_bytes(self.native, elements, into, self.place, |a, b| (a, b))?;
            }
        }
        self.account.packed.push((step, packed));
        Ok(address)
    }

    /// Puts the elements of a message that was packed where they belong.
    #[cold]
    pub(crate) fn unpack(&mut self, step: u32) {
        let packed = &mut self.account.packed;
        if let Some(place) = packed.iter().position(|(of, _)| *of == step) {
            let (_, mut bytes) = packed.swap_remove(place);
            if let Action::Receive { range, .. } = self.prepared.plan.steps()[step as usize].action
            {
                let elements = self.elements(range);
                let from = (bytes.address(), range.length * self.spaces.unit.bytes);
                // SAFETY: the elements that the step receives, and their bytes.
                let unpacked = unsafe {
                    transfer_bytes(self.native, elements, from, self.place, |a, b| (b, a))
                };
                self.account.failed = self.account.failed.or(unpacked.err());
            }
        }
    }

    /// A range as MPI takes it: address, count, datatype.
    #[inline(always)]
    pub(crate) fn elements(&self, range: Range) -> (Word, c_int, Datatype) {
        let base = match range.space {
            Space::Input => self.spaces.input,
            Space::Output => self.spaces.output,
            Space::Scratch => self.spaces.scratch,
        };
        let unit = &self.spaces.unit;
        let address = unit.address(base, range.start);
        // Ranges of messages are at most `LARGEST_MESSAGE` long.
        (address, range.length as c_int, unit.datatype)
    }

    pub(crate) fn complete(&mut self, step: u32) {
        self.complete_with(step, None);
    }

    /// A step is complete, and with it one of its successors. Copies that are done with sums are
    /// when they could begin.
    pub(crate) fn complete_with(&mut self, step: u32, done: Option<u32>) {
        for &next in self.prepared.dependencies.successors(step) {
            let missing = &mut self.account.missing[next as usize];
            *missing -= 1;
            if *missing > 0 {
                continue;
            }
            match done == Some(next) || self.prepared.sweeps.sum_of_copy(next).is_some() {
                true => self.complete(next),
                false => self.account.ready.push(Reverse(next)),
            }
        }
    }
}

/// Copies units, and nothing of what is between them.
///
/// # Errors
/// MPI's code.
///
/// # Safety
/// Both are live memory of this many units.
pub unsafe fn copy(
    native: &Native,
    unit: &Unit,
    from: (Word, c_int, Datatype),
    into: Word,
    place: Place,
) -> Result<(), c_int> {
    // SAFETY: the caller's promise.
    unsafe {
        match unit.is_plain {
            true => {
                copy_bytes(from.0, into, from.1 as u64 * unit.bytes);
                Ok(())
            }
            false if from.0 == into || from.1 == 0 => Ok(()),
            false => native.transfer(from, (into, from.1, from.2), place.to_oneself()),
        }
    }
}
