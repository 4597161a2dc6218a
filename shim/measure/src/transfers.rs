//! Methods that transfer pieces of data from one rank to another, and epochs, timed (`treepie probe
//! --ways`).

use std::ffi::c_int;
use std::time::Instant;

use treepie_mpi::program::{Epoch, Pair, Pieces, Session};
use treepie_platform::TransferMethod;
use treepie_platform::probe::{Subject, Trial};
use treepie_traffic::windows::EpochKind;

/// Bytes of the put in each timed epoch.
const PUT: usize = 8;

/// Trials between this rank and another one.
pub struct PairTrials<'a>(Pair<'a>);

impl<'a> PairTrials<'a> {
    /// Creates those of this rank and `partner`, which both call this.
    pub fn new(session: &'a Session, partner: c_int) -> Self {
        PairTrials(Pair::new(session, partner))
    }

    /// Releases everything; both ranks call this.
    pub fn free(self) {
        self.0.free();
    }

    /// Performs a trial; returns the seconds of each repetition if this rank is the origin.
    pub fn run(&self, is_origin: bool, trial: &Trial) -> Vec<f64> {
        match trial.subject {
            Subject::Pieces { way, pieces, bytes } => {
                let pieces = Pieces {
                    count: pieces,
                    bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
                };
                if pieces.span().is_none_or(|span| span > Pair::BYTES) {
                    return Vec::new();
                }
                match way {
                    TransferMethod::Send | TransferMethod::Vector | TransferMethod::Packed => {
                        self.by_messages(is_origin, way, pieces, trial.times)
                    }
                    _ => self.flushed(is_origin, trial.times, || self.reach(way, pieces)),
                }
            }
            Subject::Epoch(kind) => self.epochs(is_origin, kind, trial.times),
        }
    }

    fn by_messages(
        &self,
        is_origin: bool,
        way: TransferMethod,
        pieces: Pieces,
        times: usize,
    ) -> Vec<f64> {
        timed(times, || {
            match way {
                TransferMethod::Vector => self.0.exchange_vector(is_origin, pieces),
                TransferMethod::Packed => self.0.exchange_packed(is_origin, pieces),
                _ => self.0.exchange(is_origin, pieces),
            }
            match is_origin {
                true => self.0.wait_for_word(),
                false => self.0.send_word(),
            }
        })
    }

    /// Times `moves` with its flush at the origin; the other rank is in a receive meanwhile.
    fn flushed(&self, is_origin: bool, times: usize, moves: impl Fn()) -> Vec<f64> {
        if !is_origin {
            self.0.wait_for_word();
            return Vec::new();
        }
        self.0.open(Epoch::LockAll);
        let times = timed(times, || {
            moves();
            self.0.flush();
        });
        self.0.close(Epoch::LockAll);
        self.0.send_word();
        times
    }

    /// Moves pieces to or from the other rank's memory.
    fn reach(&self, way: TransferMethod, pieces: Pieces) {
        match way {
            TransferMethod::Get => self.0.get(pieces),
            TransferMethod::Accumulate => self.0.accumulate(pieces),
            TransferMethod::PutVector => self.0.put_vector(pieces),
            TransferMethod::PutJoined => self.0.put_packed(pieces),
            _ => self.0.put(pieces),
        }
    }

    /// Epochs with one put by the origin.
    fn epochs(&self, is_origin: bool, kind: EpochKind, times: usize) -> Vec<f64> {
        let put = || {
            self.0.put(Pieces {
                count: 1,
                bytes: PUT,
            })
        };
        match kind {
            EpochKind::LockAll => self.flushed(is_origin, times, put),
            EpochKind::Lock if !is_origin => {
                self.0.wait_for_word();
                Vec::new()
            }
            EpochKind::Lock => {
                let times = timed(times, || {
                    self.0.open(Epoch::Lock);
                    put();
                    self.0.close(Epoch::Lock);
                });
                self.0.send_word();
                times
            }
            EpochKind::Fence => {
                self.0.open(Epoch::Fence);
                let times = timed(times, || {
                    if is_origin {
                        put();
                    }
                    self.0.close(Epoch::Fence);
                });
                self.0.last_fence();
                times
            }
            EpochKind::Start => timed(times, || {
                if is_origin {
                    self.0.open(Epoch::Start);
                    put();
                    self.0.close(Epoch::Start);
                } else {
                    self.0.expose();
                }
            }),
        }
    }
}

/// The seconds of each repetition.
fn timed(times: usize, each: impl Fn()) -> Vec<f64> {
    let one = |_| {
        let began = Instant::now();
        each();
        began.elapsed().as_secs_f64()
    };
    (0..times).map(one).collect()
}
