//! Names of communicators, the same on all of their members.

/// Communicator, by the name that all of its members give it.
pub type Key = u64;

/// Returns the name that all members give a communicator: derived from its members in their order,
/// and from its index among those with these members, from 1.
pub fn communicator_key(members: &[u32], which: u64) -> Key {
    // FNV-1a: the same on all machines.
    let hash = members.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &member| {
        let bytes = member.to_le_bytes();
        bytes.iter().fold(hash, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    });
    hash.wrapping_add(which.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
