//! Memory that the processor can't read: that of an accelerator. A plan copies and reduces with the
//! processor, so that calls with such buffers are left to the native MPI.
//!
//! Whose memory an address is, the accelerator's runtime knows (`runtimes`). It is asked where it
//! is in the process already, however it came there: nothing is linked or loaded for it. Where none
//! is, a replaced call looks at how many objects the process has loaded, and no further.

use std::ops::Range;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use treepie_mpi::{Word, elf};

use super::runtimes::{self, Runtime};

/// Whether an accelerator's runtime is in this process, so that it may have such memory.
pub fn is_possible() -> bool {
    known().iter().any(|known| known.runtime.may_have_memory())
}

/// Whether the processor can't read what is at `address`, as a runtime says.
pub fn holds(address: Word) -> bool {
    known().iter().any(|known| known.holds(address))
}

/// A runtime, and the part of a device's memory that it was last asked for: programs use the same
/// buffers again. What a runtime says of other memory is not kept, which may become a device's.
struct CachedRuntime {
    runtime: Box<dyn Runtime>,
    last: Mutex<Range<Word>>,
}

impl CachedRuntime {
    fn holds(&self, address: Word) -> bool {
        let mut last = self.last.lock();
        if last.contains(&address) {
            return true;
        }
        let found = self.runtime.device_memory(address);
        let is_found = found.is_some();
        if let Some(found) = found {
            *last = found;
        }
        is_found
    }
}

/// The runtimes that are in this process, since the loader last changed something.
struct Looked {
    changes: u64,
    known: Arc<[CachedRuntime]>,
}

static LOOKED: RwLock<Option<Looked>> = RwLock::new(None);

fn known() -> Arc<[CachedRuntime]> {
    let changes = elf::changes();
    if let Some(looked) = &*LOOKED.read()
        && looked.changes == changes
    {
        return Arc::clone(&looked.known);
    }
    let known: Arc<[CachedRuntime]> = runtimes::find_all()
        .into_iter()
        .map(|runtime| CachedRuntime {
            runtime,
            last: Mutex::default(),
        })
        .collect();
    *LOOKED.write() = Some(Looked {
        changes,
        known: Arc::clone(&known),
    });
    known
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Has one part of memory, and counts how often it is asked.
    struct Counting(Arc<AtomicU32>);

    impl Runtime for Counting {
        fn device_memory(&self, address: Word) -> Option<Range<Word>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            (1000..2000).contains(&address).then_some(1000..2000)
        }
    }

    #[test]
    fn a_device_s_memory_is_asked_for_once_and_other_memory_each_time() {
        let asked = Arc::new(AtomicU32::new(0));
        let known = CachedRuntime {
            runtime: Box::new(Counting(Arc::clone(&asked))),
            last: Mutex::default(),
        };
        assert!(known.holds(1500) && known.holds(1000) && known.holds(1999));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert!(!known.holds(2000) && !known.holds(2000));
        assert_eq!(asked.load(Ordering::Relaxed), 3);
    }
}
