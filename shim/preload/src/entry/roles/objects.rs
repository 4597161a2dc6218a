//! Creation and end of objects, the end of MPI, and all procedures that only need their
//! communicators substituted.

use std::marker::PhantomData;

use treepie_mpi::native::Freed;
use treepie_mpi::{Datatype, Op, c_int};
use treepie_plans as plans;
use treepie_process::features;
use treepie_record as record;

use crate::entry::role::{NativeCall, Role};
use crate::{one_sided, order};

/// Procedure that is not counted, and whose internal calls must not be counted either.
pub struct Plain;

impl Role for Plain {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        record::call(
            native.arguments().note_of_receive(N::PROPERTIES.procedure),
            || native.call(),
        )
    }
}

/// Creation of a communicator from another, complete when it returns.
pub struct MakeCommunicator;

impl Role for MakeCommunicator {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let (note, made) = (native.note(), native.arguments().communicator());
        let call = || plans::prepare(made, || native.call());
        record::communicator_start(note, call, made)
    }
}

/// Creation of a communicator from none, or behind a request: its ranks do not all wait in it, and
/// plans prepare nothing.
pub struct RegisterCommunicator;

impl Role for RegisterCommunicator {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let made = native.arguments().communicator();
        record::communicator_start(native.note(), || native.call(), made)
    }
}

/// End of a communicator.
pub struct EndCommunicator;

impl Role for EndCommunicator {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let ended = native.arguments().communicator();
        record::communicator_end(native.note(), || native.call(), ended)
    }
}

/// Creation of a window.
pub struct MakeWindow;

impl Role for MakeWindow {
    const FEATURES: u16 = features::WINDOWS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let made = native.arguments().window_address();
        record::window_start(native.note(), || window(&native), made)
    }
}

/// Creation of a window whose processes must share a node.
pub struct MakeSharedWindow;

impl Role for MakeSharedWindow {
    const FEATURES: u16 = features::WINDOWS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let (note, made) = (native.note(), arguments.window_address());
        record::allocate_shared(note, || window(&native), arguments.comm, made)
    }
}

/// Creates a window. Accesses through it are not ordered.
#[inline(always)]
fn window(native: &impl NativeCall) -> c_int {
    let arguments = native.arguments();
    let (shape, comm, made) = (
        arguments.shape(),
        arguments.comm,
        arguments.window_address(),
    );
    order::window(|| one_sided::made(shape, comm, made, || native.call()))
}

/// End of a window.
pub struct EndWindow;

impl Role for EndWindow {
    const FEATURES: u16 = features::WINDOWS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let (note, ended) = (native.note(), native.arguments().window_address());
        let call = || one_sided::free(ended, || native.call());
        record::window_end(note, call, ended)
    }
}

/// End of a request.
pub struct EndRequest;

impl Role for EndRequest {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let (note, ended) = (native.note(), native.arguments().requests());
        let call = || order::free(ended, || plans::end_request(ended, || native.call()));
        record::request_end(note, call, ended)
    }
}

/// End of an object that a started collective may still use.
pub struct Release<H>(PhantomData<H>);

/// End of a datatype.
pub type ReleaseDatatype = Release<Datatype>;

/// End of a reduction operation.
pub type ReleaseOp = Release<Op>;

impl<H: Freed> Role for Release<H> {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        record::quietly(|| plans::release::<H>(native.arguments().freed(), || native.call()))
    }
}

/// End of MPI, timed until the session ends, which happens within it.
pub struct Finalize;

impl Role for Finalize {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        record::finalize(native.note(), || {
            plans::stop_progress();
            native.call()
        })
    }
}
