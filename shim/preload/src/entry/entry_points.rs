//! Entry points of all procedures, written by the build script.
#![allow(
    clippy::too_many_arguments,
    clippy::needless_update,
    clippy::redundant_field_names,
    clippy::unnecessary_cast,
    non_snake_case
)]

use treepie_collective::Operation;
use treepie_mpi::{
    AppComm, Datatype, DatatypeArray, Errhandler, Group, IntArray, LargeArray, Op, StatusAddress,
    Win, Word, c_int,
};
use treepie_plans::Waits;
use treepie_process::PanicBarrier;
use treepie_process::features;
use treepie_record::procedures;
use treepie_traffic::windows::{EpochKind, WindowCall};

use super::arguments::Arguments;
use super::linker::optional_symbol;
use super::next::{Next, missing};
use super::procedure::{Argument, entry_point, entry_points, observed, procedure};
use super::role::{Changes, NativeCall, Properties, Rma, Role};
use super::roles;
use crate::order::CallKind;
use crate::{reorder, session, world};

include!(concat!(env!("OUT_DIR"), "/entry_points.rs"));
