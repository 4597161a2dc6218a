//! Copies past the caches, for messages that are longer than a process's share of them: other data
//! stay in the caches, and the destination lines are not read first. The C library's `memcpy` does
//! this for one long copy; messages that arrive in blocks are many short ones.

use std::path::Path;
use std::sync::OnceLock;

/// Copies a part of a message of `total` bytes.
///
/// # Safety
/// Those of `copy_nonoverlapping`, except that for 0 bytes both addresses are arbitrary.
#[inline]
pub unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize, total: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match total > share() {
            true => past_caches(from, into, bytes),
            false if bytes == 0 => (),
            false => std::ptr::copy_nonoverlapping(from, into, bytes),
        }
    }
}

/// Returns a processor's share of its last-level cache, in bytes.
fn share() -> usize {
    static SHARE: OnceLock<usize> = OnceLock::new();
    *SHARE.get_or_init(|| share_of(Path::new(LAST_CACHE)).unwrap_or(usize::MAX))
}

/// Size and sharing of the first processor's last-level cache, as the system gives them.
const LAST_CACHE: &str = "/sys/devices/system/cpu/cpu0/cache/index3";

/// Returns the share from the files `size`, such as `266240K`, and `shared_cpu_list`, such as
/// `0-7,16`; `None` if they are missing.
fn share_of(cache: &Path) -> Option<usize> {
    let text = |file: &str| std::fs::read_to_string(cache.join(file)).ok();
    let kib: usize = text("size")?.trim().strip_suffix('K')?.parse().ok()?;
    let processors = text("shared_cpu_list")?
        .trim()
        .split(',')
        .map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let [first, last] = [first, last].map(|number| number.parse::<usize>().ok());
            Some(last?.checked_sub(first?)? + 1)
        })
        .sum::<Option<usize>>()?;
    (kib << 10).checked_div(processors)
}

/// # Safety
/// Those of [`copy`].
#[cfg(target_arch = "x86_64")]
unsafe fn past_caches(from: *const u8, into: *mut u8, bytes: usize) {
    match std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX, and the caller's promise.
        true => unsafe { past_caches_by_avx(from, into, bytes) },
        // SAFETY: the caller's promise.
        false => unsafe { std::ptr::copy_nonoverlapping(from, into, bytes) },
    }
}

/// # Safety
/// Those of [`copy`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn past_caches(from: *const u8, into: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, into, bytes) };
}

/// # Safety
/// Those of [`copy`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn past_caches_by_avx(from: *const u8, into: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m256i, _mm_sfence, _mm256_loadu_si256, _mm256_stream_si256};
    const WORD: usize = size_of::<__m256i>();
    let first = into.align_offset(WORD).min(bytes);
    let end = first + (bytes - first) / WORD * WORD;
    // SAFETY: the caller's promise; stores past the caches are aligned, and are visible before any
    // store after the fence.
    unsafe {
        std::ptr::copy_nonoverlapping(from, into, first);
        for place in (first..end).step_by(WORD) {
            let word = _mm256_loadu_si256(from.add(place).cast());
            _mm256_stream_si256(into.add(place).cast(), word);
        }
        std::ptr::copy_nonoverlapping(from.add(end), into.add(end), bytes - end);
        _mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_share_of_a_cache_is_that_of_the_processors_that_use_it() {
        let folder = std::env::temp_dir().join(format!("treepie-cache-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (size, shared, share) in [
            ("32768K\n", "0-7,16-23\n", Some(2 << 20)),
            ("266240K\n", "0\n", Some(260 << 20)),
            ("32M\n", "0\n", None),
            ("1024K\n", "3-1\n", None),
        ] {
            std::fs::write(folder.join("size"), size).unwrap();
            std::fs::write(folder.join("shared_cpu_list"), shared).unwrap();
            assert_eq!(share_of(&folder), share, "{size} {shared}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(share_of(&folder), None);
    }

    #[test]
    fn copies_past_the_caches_are_whole_wherever_they_begin_and_end() {
        let from: Vec<u8> = (0..400).map(|place| (place * 7) as u8).collect();
        for (start, length) in (0..40).flat_map(|start| [0, 1, 31, 32, 33, 300].map(|l| (start, l)))
        {
            let mut into = vec![0; 400];
            // SAFETY: both are longer than the copied length.
            unsafe {
                copy(
                    from.as_ptr(),
                    into.as_mut_ptr().add(start),
                    length,
                    usize::MAX,
                )
            };
            let mut expected = vec![0; 400];
            expected[start..start + length].copy_from_slice(&from[..length]);
            assert_eq!(into, expected, "{start} {length}");
        }
    }
}
