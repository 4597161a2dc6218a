//! Runs a plan over the native non-blocking messages, and over shared memory between ranks that
//! share it. This module is independent of the collective, and of the caller that waits: an
//! execution progresses in turns, and a blocking collective takes turns until it has ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use treepie_collective::{Action, Dependencies, Plan, Range, Space, Step, one_to_many};
use treepie_mpi::native::{Native, Requests};
use treepie_mpi::{Datatype, Op, Word, c_int};

use super::call_context::CallContext;
use super::packed::{copy_bytes, transfer_bytes};
use super::sweeps::Sweeps;
use super::transport::{Memory, Message};
use super::unit::{Scratch, Unit};

/// Number of idle turns after which the process yields to others.
const PATIENCE: u32 = 32;

/// Number of idle turns of a process that waits only for shared memory, before it calls the native
/// MPI for the progress of the MPI's own messages: others may wait for those.
const TURNS_WITHOUT_MPI: u32 = 128;

/// Number of steps that a process takes without waiting, or with many active requests, before it
/// yields to others: on shared cores, ranks that forward its messages would otherwise have to wait
/// until it has finished.
const DONE_AT_ONCE: u32 = 16;

/// Number of steps that are started before the native MPI tests requests, if these are many:
/// messages that arrive meanwhile let earlier segments progress. With 16, a reduction of 4 MiB
/// under MPICH 4.0 took 425 ms instead of 384; with 4, messages arrived before their receives were
/// posted, and a broadcast of 1 MiB took 166 ms instead of 118.
const STARTED_AT_ONCE: u32 = 8;

/// Number of idle turns after which no more messages are expected, if requests are many: a turn
/// tests some of them, and takes in one message, or a part of one. With the number of turns that
/// tests each of them once (1 to 12), a sum of 1 MiB under MPICH 5.0, tested each millisecond, took
/// 150 ms instead of 120.
const IDLE_WHERE_MANY: u32 = 16;

/// Plan with the data that an execution needs at every step.
#[derive(Debug)]
pub struct Prepared {
    plan: Plan,
    dependencies: Dependencies,
    /// For each step, the number of steps that it waits for, and the steps that wait for none.
    /// Copies that are combined with reductions do not count as steps to wait for.
    pending: Vec<u32>,
    ready: Vec<u32>,
    /// For each step, its group among the sends of the same data.
    one_to_many: Vec<Option<u32>>,
    pub(crate) sweeps: Sweeps,
    /// True if nothing is received.
    only_sends: bool,
}

impl Prepared {
    /// Computes the dependencies between the steps.
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

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// Memory that a plan works on.
#[derive(Debug, Clone, Copy)]
pub struct Spaces {
    /// Unit that the plan counts.
    pub unit: Unit,
    /// Address of unit 0 of the input.
    pub input: Word,
    /// Address of unit 0 of the output.
    pub output: Word,
    /// Address of unit 0 of the scratch buffer.
    pub scratch: Word,
    /// Reduction operation.
    pub op: Op,
}

/// Progress of an execution, reused by the next one to avoid allocations.
#[derive(Debug, Default)]
pub struct Account {
    pub(crate) missing: Vec<u32>,
    ready: BinaryHeap<Reverse<u32>>,
    requests: Requests,
    /// Packed bytes of messages through shared memory whose elements are not contiguous, by step.
    pub(crate) packed: Vec<(u32, Scratch)>,
    /// Error in a message of a completed step.
    pub(crate) failed: Option<c_int>,
    /// Number of completed steps that others may wait for, since the process last yielded.
    done: u32,
}

impl Account {
    /// Resets the account for a plan of which no step is done.
    pub fn begin(&mut self, prepared: &Prepared) {
        self.missing.clear();
        self.missing.extend_from_slice(&prepared.pending);
        self.ready.clear();
        self.ready
            .extend(prepared.ready.iter().copied().map(Reverse));
        self.failed = None;
        self.done = 0;
    }

    /// Number of consecutive idle turns after which no more messages are expected.
    pub fn idle_turns(&self, native: &Native) -> u32 {
        match self.requests.are_many(native) {
            true => IDLE_WHERE_MANY,
            false => 1,
        }
    }

    /// True if a step waits for nothing and has not been started.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }
}

/// Result of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The plan has ended.
    Ended,
    /// Steps were started or completed.
    WentOn,
    /// The plan waits for other ranks.
    Idle,
}

/// Plan in execution, for one turn of it.
pub struct Execution<'a> {
    pub native: &'a Native,
    pub prepared: &'a Prepared,
    pub spaces: &'a Spaces,
    pub place: CallContext,
    pub account: &'a mut Account,
    pub memory: Option<&'a mut Memory>,
}

/// Runs a plan to its end.
///
/// # Errors
/// MPI's code; then messages may still be in flight, the memory must stay, and the account cannot
/// be used again.
///
/// # Safety
/// The spaces are live memory of the lengths that the plan uses.
pub unsafe fn execute(
    native: &Native,
    prepared: &Prepared,
    spaces: &Spaces,
    place: CallContext,
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
    /// Starts the steps that wait for nothing, and completes messages that have arrived.
    ///
    /// # Errors
    /// Those of [`execute`].
    ///
    /// # Safety
    /// Those of [`execute`].
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

    /// Handles another idle turn: yields to other processes, and lets the MPI's own messages
    /// progress.
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

    /// Advances messages through shared memory; true on any progress.
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

    /// Starts the steps that wait for nothing: all of them, or some if requests are many.
    ///
    /// # Safety
    /// Those of [`execute`].
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
    /// Those of [`execute`]; the dependencies of the step are complete.
    unsafe fn start(&mut self, step: u32) -> Result<(), c_int> {
        let comm = self.place.comm;
        // SAFETY: the checker verifies that every description uses ranges inside its spaces, and
        // that steps do not touch the same units at the same time.
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

    /// True if messages to and from a rank go through shared memory.
    fn reaches(&self, rank: usize) -> bool {
        self.memory
            .as_ref()
            .is_some_and(|memory| memory.reaches(rank))
    }

    /// Returns a message through shared memory, which consists of bytes: elements that are not
    /// contiguous are copied, before they are sent or after they have arrived.
    ///
    /// Inlined: stores to memory wait, between two messages, until the first one has reached the
    /// other core.
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

    /// Returns the address of the packed bytes of a message.
    #[cold]
    fn pack(&mut self, step: u32, range: Range, is_sent: bool) -> Result<Word, c_int> {
        let bytes = range.length * self.spaces.unit.bytes;
        let mut packed = Scratch::new(bytes);
        let address = packed.address();
        if is_sent {
            let (elements, into) = (self.elements(range), (address, bytes));
            // SAFETY: the elements of a step that may start, and a buffer for their bytes.
            unsafe {
                transfer_bytes(self.native, elements, into, self.place, |a, b| (a, b))?;
            }
        }
        self.account.packed.push((step, packed));
        Ok(address)
    }

    /// Unpacks the elements of a packed message into their place.
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

    /// Converts a range to MPI's arguments: address, count, datatype.
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

    /// Marks a step as complete, and with it one of its successors. Copies that are combined with
    /// reductions are complete as soon as they could begin.
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

/// Copies units without the gaps between them.
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
    place: CallContext,
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
