//! Methods that transfer pieces of data from one rank to another, and epochs, timed (`treepie probe
//! --ways`).

mod pieces;

use std::ffi::{c_int, c_void};
use std::ptr;
use std::time::Instant;

use treepie_mpi::program::{Functions, Mpi};
use treepie_mpi::{Comm, Datatype, Group, Info, Request, Win};
use treepie_platform::TransferMethod;
use treepie_platform::probe::{Subject, Trial};
use treepie_traffic::windows::EpochKind;

use crate::session::{Session, done, made};
use pieces::{Pieces, aint, copy, copy_back, int, places, vector};

/// Tag of pieces, and of their acknowledgement.
const TAG: c_int = 3;

/// Maximum number of bytes of the pieces of a trial with their gaps.
const MOST_BYTES: usize = 4 << 20;

/// Bytes of a number for accumulate.
const NUMBER: usize = size_of::<f64>();

/// Two ranks with a separate communicator and window.
pub struct Pair<'a> {
    mpi: &'a Mpi,
    comm: Comm,
    /// Groups of this rank and of the other one.
    groups: [Group; 2],
    window: Win,
    /// The other rank's number in the communicator.
    other: c_int,
    /// Memory of the window; pieces are received into it.
    memory: Vec<f64>,
    /// Source of the pieces.
    pieces: Vec<f64>,
    /// Buffer into which they are packed.
    packed: Vec<f64>,
}

impl<'a> Pair<'a> {
    /// Creates the pair of this rank and `partner`, which both call this.
    pub fn new(session: &'a Session, partner: c_int) -> Self {
        let own = session.rank();
        let ranks = [own.min(partner), own.max(partner)];
        let cells = MOST_BYTES / NUMBER;
        let mut memory = vec![1.0_f64; cells];
        let (mpi, start) = (session.mpi(), memory.as_mut_ptr().cast::<c_void>());
        let functions = &mpi.functions;
        let world: Group = made(|group| functions.comm_group(session.world(), group));
        let of = |ranks: &[c_int]| -> Group {
            let (count, ranks) = (int(ranks.len()), ranks.as_ptr());
            // SAFETY: that number of ranks exists.
            made(|group| unsafe { functions.group_incl(world, count, ranks, group) })
        };
        let (both, groups) = (of(&ranks), [of(&[own]), of(&[partner])]);
        let comm = made(|comm| functions.comm_create_group(session.world(), both, TAG, comm));
        for mut group in [world, both] {
            done(functions.group_free(&mut group));
        }
        let mut info: Info = made(|info| functions.info_create(info));
        // SAFETY: the window's memory lives until `free`, on the heap.
        let window = made(|window| unsafe {
            functions.win_create(start, aint(MOST_BYTES), 1, info, comm, window)
        });
        done(functions.info_free(&mut info));
        Pair {
            mpi,
            comm,
            groups,
            window,
            other: c_int::from(own < partner),
            memory,
            pieces: vec![1.0; cells],
            packed: vec![1.0; cells],
        }
    }

    fn functions(&self) -> &'a Functions {
        &self.mpi.functions
    }

    /// Releases everything; both ranks call this.
    pub fn free(mut self) {
        let functions = self.functions();
        done(functions.win_free(&mut self.window));
        done(functions.comm_free(&mut self.comm));
        for group in &mut self.groups {
            done(functions.group_free(group));
        }
    }

    /// Performs a trial; returns the seconds of each repetition if this rank is the origin.
    pub fn run(&mut self, is_origin: bool, trial: &Trial) -> Vec<f64> {
        match trial.subject {
            Subject::Pieces { way, pieces, bytes } => {
                let bytes = usize::try_from(bytes).unwrap_or(MOST_BYTES);
                let pieces = Pieces {
                    count: pieces,
                    bytes,
                };
                if 2 * pieces.all() > MOST_BYTES {
                    return Vec::new();
                }
                match way {
                    TransferMethod::Send | TransferMethod::Vector | TransferMethod::Packed => {
                        self.by_messages(is_origin, way, pieces, trial.times)
                    }
                    _ => self.flushed(is_origin, trial.times, |pair| pair.moved(way, pieces)),
                }
            }
            Subject::Epoch(kind) => self.epochs(is_origin, kind, trial.times),
        }
    }

    fn by_messages(
        &mut self,
        is_origin: bool,
        way: TransferMethod,
        pieces: Pieces,
        times: usize,
    ) -> Vec<f64> {
        let mut one = |_| {
            let began = Instant::now();
            self.exchange(is_origin, way, pieces);
            match is_origin {
                true => self.wait_for_word(),
                false => self.send_word(),
            }
            began.elapsed().as_secs_f64()
        };
        (0..times).map(&mut one).collect()
    }

    /// Times `moves` with its flush at the origin; the other rank is in a receive meanwhile.
    fn flushed(&mut self, is_origin: bool, times: usize, moves: impl Fn(&Self)) -> Vec<f64> {
        if !is_origin {
            self.wait_for_word();
            return Vec::new();
        }
        done(self.functions().win_lock_all(0, self.window));
        let one = |_| {
            let began = Instant::now();
            moves(self);
            done(self.functions().win_flush(self.other, self.window));
            began.elapsed().as_secs_f64()
        };
        let times = (0..times).map(one).collect();
        done(self.functions().win_unlock_all(self.window));
        self.send_word();
        times
    }

    /// Epochs with one put of 8 bytes by the origin.
    fn epochs(&mut self, is_origin: bool, kind: EpochKind, times: usize) -> Vec<f64> {
        let put = Pieces {
            count: 1,
            bytes: NUMBER,
        };
        let functions = self.functions();
        match kind {
            EpochKind::LockAll => self.flushed(is_origin, times, |pair| {
                pair.moved(TransferMethod::Put, put)
            }),
            EpochKind::Lock if !is_origin => {
                self.wait_for_word();
                Vec::new()
            }
            EpochKind::Lock => {
                let shared = self.mpi.abi.lock_shared;
                let times = timed(times, || {
                    done(functions.win_lock(shared, self.other, 0, self.window));
                    self.moved(TransferMethod::Put, put);
                    done(functions.win_unlock(self.other, self.window));
                });
                self.send_word();
                times
            }
            EpochKind::Fence => {
                done(functions.win_fence(0, self.window));
                let times = timed(times, || {
                    if is_origin {
                        self.moved(TransferMethod::Put, put);
                    }
                    done(functions.win_fence(0, self.window));
                });
                done(functions.win_fence(self.mpi.abi.mode_no_succeed, self.window));
                times
            }
            EpochKind::Start => timed(times, || {
                let [_, other] = self.groups;
                if is_origin {
                    done(functions.win_start(other, 0, self.window));
                    self.moved(TransferMethod::Put, put);
                    done(functions.win_complete(self.window));
                } else {
                    done(functions.win_post(other, 0, self.window));
                    done(functions.win_wait(self.window));
                }
            }),
        }
    }

    /// Moves pieces to or from the other rank's memory.
    fn moved(&self, way: TransferMethod, pieces: Pieces) {
        let origin = self.pieces.as_ptr().cast::<u8>().cast_mut();
        let (bytes, numbers) = (int(pieces.bytes), int(pieces.bytes / NUMBER));
        let (to, window) = (self.other, self.window);
        let (mpi, functions) = (self.mpi, self.functions());
        let each = |call: &dyn Fn(*mut c_void, i64)| {
            for piece in 0..pieces.count {
                let start = pieces.start(piece);
                // SAFETY: `run` checks that all pieces are in the buffer.
                let at = unsafe { origin.add(start) };
                call(at.cast::<c_void>(), aint(start));
            }
        };
        // SAFETY: an epoch is open; pieces are in this rank's buffer and in the other's window,
        // neither of which is used before it is closed, except for gets by MPI.
        unsafe {
            let byte = mpi.byte;
            match way {
                TransferMethod::Get => each(&|at, place| {
                    done(functions.get(at, bytes, byte, to, place, bytes, byte, window));
                }),
                TransferMethod::Accumulate => {
                    each(&|at, place| {
                        let (number, sum) = (mpi.double, mpi.sum);
                        done(functions.accumulate(
                            at, numbers, number, to, place, numbers, number, sum, window,
                        ));
                    })
                }
                TransferMethod::PutVector => {
                    let of = vector(mpi, pieces);
                    let at = origin.cast::<c_void>();
                    done(functions.put(at, 1, of.handle, to, 0, 1, of.handle, window));
                }
                TransferMethod::PutJoined => {
                    let of = places(mpi, pieces);
                    let copies = self.packed.as_ptr().cast::<u8>().cast_mut();
                    copy(pieces, origin, copies);
                    let (at, all) = (copies.cast::<c_void>(), int(pieces.all()));
                    done(functions.put(at, all, byte, to, 0, 1, of.handle, window));
                }
                _ => each(&|at, place| {
                    done(functions.put(at, bytes, byte, to, place, bytes, byte, window));
                }),
            }
        }
    }

    /// Sends pieces to the other rank, or receives them.
    fn exchange(&mut self, sends: bool, way: TransferMethod, pieces: Pieces) {
        let place = match sends {
            true => self.pieces.as_mut_ptr().cast::<u8>(),
            false => self.memory.as_mut_ptr().cast::<u8>(),
        };
        let packed = self.packed.as_mut_ptr().cast::<u8>();
        let (other, comm, mpi, functions) = (self.other, self.comm, self.mpi, self.functions());
        let begin = |at: *mut u8, count: usize, of: Datatype| -> Request {
            let (at, count) = (at.cast::<c_void>(), int(count));
            // SAFETY: that number of bytes exists until the request is waited for, and no two
            // receives have the same ones.
            made(|request| unsafe {
                match sends {
                    true => functions.isend(at, count, of, other, TAG, comm, request),
                    false => functions.irecv(at, count, of, other, TAG, comm, request),
                }
            })
        };
        // SAFETY: the buffers have the length that `run` checks.
        unsafe {
            let byte = mpi.byte;
            match way {
                TransferMethod::Vector => {
                    let of = vector(mpi, pieces);
                    wait(mpi, [begin(place, 1, of.handle)]);
                }
                TransferMethod::Packed if sends => {
                    copy(pieces, place, packed);
                    wait(mpi, [begin(packed, pieces.all(), byte)]);
                }
                TransferMethod::Packed => {
                    wait(mpi, [begin(packed, pieces.all(), byte)]);
                    copy_back(pieces, packed, place);
                }
                _ => {
                    let at = |piece: usize| place.add(pieces.start(piece));
                    let all = (0..pieces.count).map(|piece| begin(at(piece), pieces.bytes, byte));
                    wait(mpi, all.collect::<Vec<_>>());
                }
            }
        }
    }

    /// Notifies the other rank that this one has finished.
    fn send_word(&self) {
        let (nothing, byte) = (ptr::null(), self.mpi.byte);
        // SAFETY: an empty message has no buffer.
        done(unsafe {
            self.functions()
                .send(nothing, 0, byte, self.other, TAG, self.comm)
        });
    }

    fn wait_for_word(&self) {
        let (nothing, byte, status) = (ptr::null_mut(), self.mpi.byte, self.mpi.no_status());
        // SAFETY: an empty message has no buffer.
        done(unsafe {
            self.functions()
                .recv(nothing, 0, byte, self.other, TAG, self.comm, status)
        });
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

fn wait(mpi: &Mpi, requests: impl IntoIterator<Item = Request>) {
    for mut request in requests {
        // SAFETY: the request was made by MPI and is used once.
        done(unsafe { mpi.functions.wait(&mut request, mpi.no_status()) });
    }
}
