//! Whose files are read: what others could have written is theirs to say, not ours to believe.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Larger files are no files of a store.
const LARGEST: u64 = 1 << 20;

/// The user who may read and write a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    /// His number.
    pub user: u32,
}

impl Owner {
    /// Whether the user, or root, made it, and nobody else may change it.
    fn trusts(self, it: &Metadata) -> bool {
        let own = it.uid() == self.user || it.uid() == 0;
        own && it.mode() & 0o002 == 0
    }

    /// Whether this is a directory to be trusted, and no link to one.
    pub fn trusts_directory(self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && self.trusts(&it))
    }

    /// The same, where the last name may be a link.
    pub fn trusts_root(self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|it| it.is_dir() && self.trusts(&it))
    }

    /// The text of a small file; no link is followed.
    pub fn read(self, path: &Path) -> io::Result<String> {
        let refused = |what: &str| io::Error::new(io::ErrorKind::PermissionDenied, what.to_owned());
        let mut options = OpenOptions::new();
        options
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file: File = options.open(path)?;
        let it = file.metadata()?;
        if !it.is_file() || !self.trusts(&it) {
            return Err(refused("it is not the user's own file"));
        }
        if it.len() > LARGEST {
            return Err(refused("it is larger than any file of a store"));
        }
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text)?;
        Ok(text)
    }
}
