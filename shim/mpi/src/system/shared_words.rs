//! Words of a file that processes share.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicU64;

/// Maps the first `N` words of a file, which has them: what is written there is in the file, for as
/// long as this process runs.
///
/// # Errors
/// The system's error; a shorter file.
pub fn map_words<const N: usize>(file: &File) -> io::Result<&'static [AtomicU64; N]> {
    let bytes = size_of::<[AtomicU64; N]>();
    if file.metadata()?.len() < bytes as u64 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
    }
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    let (anywhere, file) = (std::ptr::null_mut(), file.as_raw_fd());
    // SAFETY: a new mapping, where the system has space for it.
    let base = unsafe { libc::mmap(anywhere, bytes, access, flags, file, 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping has this length, is aligned to a page of memory and is never unmapped;
    // any bits are a value, and every access is atomic.
    Ok(unsafe { &*base.cast() })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn words_are_in_the_file_and_a_short_file_is_refused() {
        let file = tempfile::tempfile().expect("a file");
        assert!(map_words::<2>(&file).is_err());
        file.set_len(16).expect("space");
        let words = map_words::<2>(&file).expect("words");
        words[1].store(7, Ordering::Relaxed);
        let mut read = [0; 8];
        file.read_exact_at(&mut read, 8).expect("a word");
        assert_eq!(u64::from_ne_bytes(read), 7);
    }
}
