//! Ranks of a private communicator whose messages are abandoned after a timeout: for the end of a
//! job, where a process that died, or that never reaches `MPI_Finalize`, must not keep the others.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use super::group::{Group, gather_bytes};
use crate::native::{Failed, Native, NativeError};
use crate::{Comm, HandleAddress, Request, StatusAddress, Word, c_int};

/// Tag of all messages.
const TAG: c_int = 1;

/// Value that process 0 sends if no rank is missing.
const PRESENT: u64 = u64::MAX;

/// Largest part in bytes in which a message is sent.
const LARGEST: usize = 1 << 30;

/// Time for which a rank polls its request continuously, as MPI does; later it sleeps in between,
/// so that ranks that share its core progress.
const BUSY: Duration = Duration::from_millis(1);
const BETWEEN_TESTS: Duration = Duration::from_micros(200);

/// Ranks of a communicator on which only this library sends. Each message has a timeout, counted
/// from the last one that arrived.
pub struct BoundedMembers<'a> {
    native: &'a Native,
    comm: Comm,
    rank: usize,
    size: usize,
    patience: Cell<Duration>,
    last: Cell<Instant>,
}

impl<'a> BoundedMembers<'a> {
    /// Creates the ranks of `comm`, which returns errors.
    ///
    /// # Errors
    /// A native call that failed.
    pub fn new(native: &'a Native, comm: Comm, patience: Duration) -> Result<Self, NativeError> {
        Ok(BoundedMembers {
            native,
            comm,
            rank: native.rank(comm)?,
            size: native.size(comm)?,
            patience: Cell::new(patience),
            last: Cell::new(Instant::now()),
        })
    }

    /// Waits until all ranks have called this, at most `patience` for each. Collective.
    ///
    /// # Errors
    /// [`NativeError::Late`], on all ranks that came, and a native call that failed.
    pub fn meet(&self, patience: Duration) -> Result<(), NativeError> {
        let usual = self.patience.replace(patience);
        let came = gather_bytes(self, vec![1]);
        if let (0, Err(NativeError::Late { partner, .. })) = (self.rank, &came) {
            self.give_up(*partner);
        }
        came?;
        // Process 0 may have come last, and then waits for others.
        self.patience.set(2 * patience);
        let mut missing = PRESENT.to_le_bytes();
        self.broadcast(&mut missing)?;
        self.patience.set(usual);
        match u64::from_le_bytes(missing) {
            PRESENT => Ok(()),
            partner => Err(NativeError::Late {
                rank: self.rank,
                partner: partner as usize,
                seconds: patience.as_secs(),
            }),
        }
    }

    /// Notifies the ranks that wait for process 0 that rank `missing` has not come.
    fn give_up(&self, missing: usize) {
        self.patience.set(BETWEEN_TESTS);
        for child in self.children() {
            self.last.set(Instant::now());
            let _ = self.send(child, &(missing as u64).to_le_bytes());
        }
    }

    /// Returns the ranks that this one forwards a broadcast to, the largest subtree first.
    fn children(&self) -> impl Iterator<Item = usize> {
        let highest = match self.rank {
            0 => self.size.next_power_of_two(),
            rank => lowest_bit(rank),
        };
        let (rank, size) = (self.rank, self.size);
        let bits = std::iter::successors(Some(highest / 2), |bit| Some(bit / 2));
        let bits = bits.take_while(|&bit| bit > 0);
        bits.map(move |bit| rank + bit)
            .filter(move |&child| child < size)
    }

    /// Waits until a request is complete, and returns its memory. The MPI may still use the memory
    /// of an abandoned one, which is never freed.
    fn complete(
        &self,
        mut request: Request,
        memory: Box<[u8]>,
        partner: usize,
    ) -> Result<Box<[u8]>, NativeError> {
        let mut status = [0u64; 8];
        let began = Instant::now();
        loop {
            // SAFETY: the request is live, and was begun with this memory, which stays; the status
            // is larger than every family's.
            let (address, status) = unsafe {
                (
                    HandleAddress::from_word((&raw mut request) as Word),
                    StatusAddress::of_room(&mut status),
                )
            };
            let done = self.native.test_one(address, status);
            match done {
                Ok(true) => {
                    self.last.set(Instant::now());
                    return Ok(memory);
                }
                Ok(false) if self.last.get().elapsed() < self.patience.get() => (),
                Ok(false) => {
                    Box::leak(memory);
                    return Err(NativeError::Late {
                        rank: self.rank,
                        partner,
                        seconds: self.patience.get().as_secs(),
                    });
                }
                Err(code) => {
                    Box::leak(memory);
                    return Err(failed("MPI_Test")(code));
                }
            }
            match began.elapsed() < BUSY {
                true => thread::yield_now(),
                false => thread::sleep(BETWEEN_TESTS),
            }
        }
    }

    fn begin_send(&self, to: usize, memory: &[u8]) -> Result<Request, NativeError> {
        let message = (
            memory.as_ptr() as Word,
            memory.len() as c_int,
            self.native.byte(),
        );
        // SAFETY: `complete` keeps the memory until the request is complete.
        let begun = unsafe { self.native.begin_send(message, to, TAG, self.comm) };
        begun.map_err(failed("MPI_Isend"))
    }

    fn begin_receive(&self, from: usize, memory: &mut [u8]) -> Result<Request, NativeError> {
        let message = (
            memory.as_mut_ptr() as Word,
            memory.len() as c_int,
            self.native.byte(),
        );
        // SAFETY: `complete` keeps the memory until the request is complete.
        let begun = unsafe { self.native.begin_receive(message, from, TAG, self.comm) };
        begun.map_err(failed("MPI_Irecv"))
    }
}

fn lowest_bit(rank: usize) -> usize {
    rank & rank.wrapping_neg()
}

fn failed(call: &'static str) -> impl FnOnce(c_int) -> NativeError {
    move |code| NativeError::from(Failed { call, code })
}

impl Group for BoundedMembers<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    /// Along a binomial tree.
    fn broadcast(&self, bytes: &mut [u8]) -> Result<(), NativeError> {
        if self.rank != 0 {
            self.receive(self.rank - lowest_bit(self.rank), bytes)?;
        }
        self.children()
            .try_for_each(|child| self.send(child, bytes))
    }

    fn allgather(&self, mine: u8) -> Result<Vec<u8>, NativeError> {
        let mut own = (self.rank as u64).to_le_bytes().to_vec();
        own.push(mine);
        let entries = gather_bytes(self, own)?;
        let mut all = vec![0; self.size];
        for entry in entries.chunks_exact(size_of::<u64>() + 1) {
            if let Some((rank, byte)) = entry.split_first_chunk()
                && let Some(slot) = all.get_mut(u64::from_le_bytes(*rank) as usize)
            {
                *slot = byte[0];
            }
        }
        self.broadcast(&mut all)?;
        Ok(all)
    }

    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), NativeError> {
        bytes.chunks(LARGEST).try_for_each(|part| {
            let memory: Box<[u8]> = part.into();
            let request = self.begin_send(to, &memory)?;
            self.complete(request, memory, to).map(drop)
        })
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), NativeError> {
        bytes.chunks_mut(LARGEST).try_for_each(|part| {
            let mut memory = vec![0; part.len()].into_boxed_slice();
            let request = self.begin_receive(from, &mut memory)?;
            part.copy_from_slice(&self.complete(request, memory, from)?);
            Ok(())
        })
    }

    fn exchange(
        &self,
        (to, out): (usize, &[u8]),
        (from, back): (usize, &mut [u8]),
    ) -> Result<(), NativeError> {
        let mut memory = vec![0; back.len()].into_boxed_slice();
        let request = self.begin_receive(from, &mut memory)?;
        self.send(to, out)?;
        back.copy_from_slice(&self.complete(request, memory, from)?);
        Ok(())
    }
}
