//! Memory that the processor cannot read: that of an accelerator. A plan copies and reduces with
//! the processor, so that calls with such buffers are left to the native MPI.
//!
//! The accelerator's runtime knows the owner of an address (`treepie_mpi::system::accelerators`).
//! It is queried if it has been loaded into the process by the application: this library links and
//! loads none. Without a runtime, a replaced call only compares the number of objects that the
//! process has loaded.

use std::ops::Range;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use treepie_mpi::system::accelerators::{self, Runtime};
use treepie_mpi::{Word, elf};

/// True if an accelerator's runtime is in this process, so that it may have such memory.
pub fn is_possible() -> bool {
    known().iter().any(|known| known.runtime.may_have_memory())
}

/// True if the processor cannot read the memory at `address`, according to a runtime.
pub fn holds(address: Word) -> bool {
    known().iter().any(|known| known.holds(address))
}

/// Runtime, and the part of a device's memory that was last found: programs use the same buffers
/// again. Answers about other memory are not cached, since it may become a device's.
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

/// Runtimes in this process, as of the loader's last change.
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
    let known: Arc<[CachedRuntime]> = accelerators::find_all()
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

    /// Runtime with one part of memory, which counts the queries.
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
