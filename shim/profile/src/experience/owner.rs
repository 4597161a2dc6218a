//! Trust in the owners of files: only files that nobody else could have written are read.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use treepie_base::input::to_the_end;
use treepie_base::open_no_link;
use treepie_base::own_directory::is_own;

/// Maximum size of a store's file in bytes; larger ones are not read.
const LARGEST: u64 = 1 << 20;

/// User who may read and write a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    /// The user's number.
    pub user: u32,
}

impl Owner {
    /// True if the user, or root, created it, and nobody else may change it.
    fn trusts(self, it: &Metadata) -> bool {
        is_own(it.uid(), it.mode(), self.user)
    }

    /// True if this is a trusted directory, and not a link to one.
    pub(crate) fn trusts_directory(self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && self.trusts(&it))
    }

    /// True if this is a trusted directory, or a link to one.
    pub(crate) fn trusts_root(self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|it| it.is_dir() && self.trusts(&it))
    }

    /// Reads the text of a small file; links are not followed.
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
