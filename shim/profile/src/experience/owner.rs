//! Whose files are read: what others could have written is theirs to say, not ours to believe.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use treepie_base::input::to_the_end;
use treepie_base::open_no_link;
use treepie_base::own_directory::is_own;

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
        is_own(it.uid(), it.mode(), self.user)
    }

    /// Whether this is a directory to be trusted, and no link to one.
    pub(crate) fn trusts_directory(self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && self.trusts(&it))
    }

    /// The same, where the last name may be a link.
    pub(crate) fn trusts_root(self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|it| it.is_dir() && self.trusts(&it))
    }

    /// The text of a small file; no link is followed.
    pub fn read(self, path: &Path) -> io::Result<String> {
        let file = open_no_link(path)?;
        if !self.trusts(&file.metadata()?) {
            let refused = "it is not the user's own file";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, refused));
        }
        let text = to_the_end(file, LARGEST)?;
        String::from_utf8(text).map_err(io::Error::other)
    }
}
