//! Pending updates of one target of a window, and how they are sent.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::Mutex;
use treepie_guard::one_sided::{Batch, Joined, Limits};
use treepie_mpi::native::{Native, Placed};
use treepie_mpi::{Datatype, Handle, Op, Word, c_int};
use treepie_traffic::windows::EpochKind;

use super::reached::{Reached, SmallPlace};
use super::window::Window;

/// Limits of single updates that are held back, and of their total.
pub const LIMITS: Limits = Limits {
    largest: 1024,
    ranges: 1024,
    bytes: 64 << 10,
};

/// Kind of update: a put or an accumulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateKind {
    /// `MPI_Put`.
    Put,
    /// `MPI_Accumulate`.
    Accumulate,
}

/// State of an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpochState {
    /// Updates may go to its targets.
    Open,
    /// It has ended.
    Closed,
}

const LOCKED: u8 = 1;
const STARTED: u8 = 2;

/// A target of a window.
pub struct Target {
    rank: c_int,
    /// Its own open epochs: bits `LOCKED` and `STARTED`.
    open: AtomicU8,
    kept: Mutex<PendingUpdates>,
}

/// Pending updates of a target.
struct PendingUpdates {
    puts: Batch,
    accumulates: Batch,
    /// The operation of the accumulates.
    op: Op,
    /// Their datatype, and its bytes.
    datatype: (Datatype, usize),
    /// Buffers that went to the MPI, which may still read them.
    sent: Vec<Vec<u8>>,
}

impl Target {
    /// Creates a target without pending updates.
    pub fn new(rank: c_int) -> Self {
        Target {
            rank,
            open: AtomicU8::new(0),
            kept: Mutex::new(PendingUpdates {
                puts: Batch::default(),
                accumulates: Batch::default(),
                op: Op::ABSENT,
                datatype: (Datatype::ABSENT, 1),
                sent: Vec::new(),
            }),
        }
    }

    /// True if an epoch is open for this target alone, or for a group that contains it.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed) != 0
    }

    /// Returns the kind of the epoch that is open for this target alone, or for a group that
    /// contains it.
    pub fn kind(&self) -> Option<EpochKind> {
        match self.open.load(Ordering::Relaxed) {
            0 => None,
            open if open & LOCKED != 0 => Some(EpochKind::Lock),
            _ => Some(EpochKind::Start),
        }
    }

    /// Notes a lock or unlock of the target.
    pub fn locked(&self, epoch: EpochState) {
        self.set(LOCKED, epoch);
    }

    /// Notes that an epoch of a group with this target has started or ended.
    pub fn started(&self, epoch: EpochState) {
        self.set(STARTED, epoch);
    }

    fn set(&self, bit: u8, epoch: EpochState) {
        match epoch {
            EpochState::Open => self.open.fetch_or(bit, Ordering::Relaxed),
            EpochState::Closed => self.open.fetch_and(!bit, Ordering::Relaxed),
        };
    }

    /// Holds back an update.
    ///
    /// # Errors
    /// MPI's error of a call that sent earlier updates.
    #[inline]
    pub fn keep(
        &self,
        native: &Native,
        window: &Window,
        place: SmallPlace,
        kind: UpdateKind,
        reached: &Reached,
    ) -> Result<(), c_int> {
        let bytes = (place.bytes.end - place.bytes.start) as usize;
        // SAFETY: the application passed a buffer of this many contiguous bytes, which it may not
        // change before the call is complete.
        let piece = unsafe { std::slice::from_raw_parts(reached.origin as *const u8, bytes) };
        let mut kept = self.kept.lock();
        if kind == UpdateKind::Accumulate {
            let (op, datatype) = (native.plain(reached.op), native.plain(reached.origin_type));
            if (kept.op, kept.datatype.0) != (op, datatype) {
                self.send(native, window, &mut kept, kind)?;
                (kept.op, kept.datatype) = (op, (datatype, place.element));
            }
        }
        let batch = kept.batch(kind);
        if !batch.has_room(bytes, &LIMITS) || batch.overlaps(&place.bytes) {
            self.send(native, window, &mut kept, kind)?;
        }
        kept.batch(kind).add(place.bytes.start, piece);
        Ok(())
    }

    /// Sends the pending updates that overlap the bytes of the target's memory that `place`
    /// returns, which is called only if there are some.
    ///
    /// # Errors
    /// MPI's.
    pub fn send_overlapping(
        &self,
        native: &Native,
        window: &Window,
        place: impl FnOnce() -> Range<i64>,
    ) -> Result<(), c_int> {
        let mut kept = self.kept.lock();
        if kept.puts.is_empty() && kept.accumulates.is_empty() {
            return Ok(());
        }
        let bytes = &place();
        for kind in [UpdateKind::Put, UpdateKind::Accumulate] {
            if kept.batch(kind).overlaps(bytes) {
                self.send(native, window, &mut kept, kind)?;
            }
        }
        Ok(())
    }

    /// Takes the buffers that the MPI may still read: they stay until the target is synchronised.
    pub fn take_sent(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.kept.lock().sent)
    }

    /// Sends all pending updates.
    ///
    /// # Errors
    /// MPI's first.
    pub fn send_all(&self, native: &Native, window: &Window) -> Result<(), c_int> {
        let mut kept = self.kept.lock();
        let puts = self.send(native, window, &mut kept, UpdateKind::Put);
        let accumulates = self.send(native, window, &mut kept, UpdateKind::Accumulate);
        puts.and(accumulates)
    }

    /// Sends all pending updates, and flushes the target if any sent update is not complete.
    ///
    /// # Errors
    /// MPI's first.
    pub fn flush(&self, native: &Native, window: &Window) -> Result<(), c_int> {
        let done = self.send_all(native, window);
        let sent = self.take_sent();
        if sent.is_empty() {
            return done;
        }
        let flushed = native.flush(window.handle(), self.rank);
        if flushed.is_err() {
            // The MPI may still read them.
            std::mem::forget(sent);
        }
        done.and(flushed)
    }

    fn send(
        &self,
        native: &Native,
        window: &Window,
        kept: &mut PendingUpdates,
        kind: UpdateKind,
    ) -> Result<(), c_int> {
        let batch = kept.batch(kind);
        if batch.is_empty() {
            return Ok(());
        }
        let Joined { bytes, ranges } = batch.take();
        let of = match kind {
            UpdateKind::Put => (native.byte(), 1),
            UpdateKind::Accumulate => kept.datatype,
        };
        // They are never empty: at least one update was held back.
        let Some(&(first, _)) = ranges.first() else {
            return Ok(());
        };
        // An update starts there, at a displacement.
        let unit = window.unit_of(self.rank);
        let placed = Placed {
            window: window.handle(),
            target: self.rank,
            displacement: first / unit,
            count: (bytes.len() / of.1) as c_int,
            datatype: of.0,
        };
        let origin = (bytes.as_ptr() as Word, placed.count, of.0);
        let of_ranges;
        let placed = match &ranges[..] {
            [_] => placed,
            ranges => {
                let ranges: Vec<(i64, c_int)> = ranges
                    .iter()
                    .map(|&(start, length)| (start - first, (length / of.1) as c_int))
                    .collect();
                of_ranges = native.new_type_of_ranges(of.0, &ranges)?;
                Placed {
                    count: 1,
                    datatype: of_ranges.handle(),
                    ..placed
                }
            }
        };
        // SAFETY: the bytes are kept in `sent` until the target is synchronised, even if the call
        // fails.
        let done = unsafe {
            match kind {
                UpdateKind::Put => native.put(origin, placed),
                UpdateKind::Accumulate => native.accumulate(origin, kept.op, placed),
            }
        };
        kept.sent.push(bytes);
        done
    }
}

impl PendingUpdates {
    #[inline(always)]
    fn batch(&mut self, kind: UpdateKind) -> &mut Batch {
        match kind {
            UpdateKind::Put => &mut self.puts,
            UpdateKind::Accumulate => &mut self.accumulates,
        }
    }
}
