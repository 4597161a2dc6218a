//! Collectives: one counter for each call; the traffic is modelled when the profile is read. The
//! messages of neighbourhood collectives are known, and counted; if a plan ran one, those of the
//! plan.

use std::cell::Cell;

use treepie_mpi::{Call, c_int};
use treepie_plans as plans;
use treepie_process::features;
use treepie_record::{self as record, Plan};

use crate::entry::role::{Changes, NativeCall, Role};

/// Collective that is complete when it returns.
pub struct Collective;

impl Role for Collective {
    const FEATURES: u16 = features::COLLECTIVES;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let comm = native.arguments().comm;
        counted::<N>(&native, |call, plan| {
            let next = |comm| {
                native.with(Changes {
                    comm: Some(comm),
                    ..Changes::NONE
                })
            };
            plans::run(next, comm, call, plan)
        })
    }
}

/// Collective that continues behind a request.
pub struct StartCollective;

impl Role for StartCollective {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let (comm, request) = (arguments.comm, arguments.request());
        counted::<N>(&native, |call, plan| {
            plans::start(|| native.call(), comm, call, request, plan)
        })
    }
}

/// Collective that the MPI runs on a stream.
pub struct EnqueueCollective;

impl Role for EnqueueCollective {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        counted::<N>(&native, |_, _| native.call())
    }
}

/// Runs a collective that is counted when it returns: `run` returns the plan that ran it.
#[inline(always)]
fn counted<N: NativeCall>(
    native: &N,
    run: impl FnOnce(&Call, &Cell<Option<Plan>>) -> c_int,
) -> c_int {
    let arguments = native.arguments();
    let note = native.note();
    let call = &arguments.collective(N::PROPERTIES.operation);
    let run = |plan: &Cell<Option<Plan>>| run(call, plan);
    if N::PROPERTIES.operation.is_among_neighbours() {
        record::neighbourhood(note, run, arguments.comm, call)
    } else {
        record::replaceable(note, run, arguments.comm, call)
    }
}

/// Persistent collective, which is only prepared.
pub struct PrepareCollective;

impl Role for PrepareCollective {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let note = native.note();
        let (comm, request) = (arguments.comm, arguments.request());
        let call = &arguments.collective(N::PROPERTIES.operation);
        let run = |plan: &Cell<Option<Plan>>| {
            plans::make_persistent(|| native.call(), comm, call, request, plan)
        };
        if N::PROPERTIES.operation.is_among_neighbours() {
            record::neighbourhood_init(note, run, comm, call, request)
        } else {
            record::collective_init(note, run, comm, call, request)
        }
    }
}
