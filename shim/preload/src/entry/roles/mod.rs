//! Roles that a procedure can have in the table of the interface.

mod collectives;
mod objects;
mod one_sided;
mod point_to_point;
mod requests;
#[cfg(test)]
mod tests;

pub use collectives::{Collective, EnqueueCollective, PrepareCollective, StartCollective};
pub use objects::{
    EndCommunicator, EndRequest, EndWindow, Finalize, MakeCommunicator, MakeSharedWindow,
    MakeWindow, Plain, RegisterCommunicator, ReleaseDatatype, ReleaseOp,
};
pub use one_sided::{EndEpoch, Fetch, Flush, OpenEpoch, Post, Transfer};
pub use point_to_point::{
    BeginSend, BeginSendReceive, PrepareReceive, PrepareSend, Probe, Receive, Send, SendReceive,
};
pub use requests::{Cancel, Complete, Look, LookAt, Start};
