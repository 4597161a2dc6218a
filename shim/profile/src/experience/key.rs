//! Identity of an application in a store.

use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

use serde::Serialize;
use siphasher::sip128::{Hasher128, SipHasher13};

/// Key of a store's hashes: without read access to the store, nobody can guess the arguments from
/// which a hash was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Salt([u8; 16]);

/// Name of an application in a store: a hash of everything that distinguishes it from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Key(u128);

impl Salt {
    /// Creates a salt of these random bytes.
    pub fn new(random: [u8; 16]) -> Salt {
        Salt(random)
    }

    /// Returns the key of a description.
    pub fn key(&self, description: &impl Serialize) -> Key {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        // Every description can be written.
        let bytes = postcard::to_allocvec(description).unwrap_or_default();
        hasher.write(&bytes);
        Key(hasher.finish128().as_u128())
    }

    /// Returns a number for a description.
    pub fn number(&self, description: &impl Serialize) -> u64 {
        self.key(description).0 as u64
    }
}

impl fmt::Display for Salt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl FromStr for Salt {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Salt(u128::from_str_radix(text.trim(), 16)?.to_be_bytes()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", self.0)
    }
}

impl Key {
    /// Parses the key in a directory's name.
    pub fn from_name(name: &str) -> Option<Key> {
        let is_name = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name.then(|| u128::from_str_radix(name, 16).ok().map(Key))?
    }
}
