//! Looks a name up in one loaded object by reading its symbol table. `dlsym`
//! needs a handle for that, and the only way to one is `dlopen`, which must not be
//! called where we are called: while the linker is relocating an object, opening
//! it again would relocate it twice.

use std::ffi::{CStr, c_char, c_void};

use libc::{Elf64_Phdr, Elf64_Sym, PT_DYNAMIC, PT_LOAD, dl_phdr_info};

/// An entry of a dynamic section (`Elf64_Dyn`).
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

const DT_NULL: i64 = 0;
const DT_HASH: i64 = 4;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_GNU_HASH: i64 = 0x6fff_fef5;

/// The tables of an object that a look-up needs, by their addresses.
#[derive(Default)]
struct Tables {
    base: usize,
    symbols: usize,
    names: usize,
    gnu_hash: usize,
    hash: usize,
}

/// The address of `name` in the object, if it defines it.
///
/// # Safety
/// `info` describes an object that stays mapped during the call.
pub unsafe fn find(info: &dl_phdr_info, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the caller's promise; the tables are where the object's dynamic
    // section says.
    unsafe {
        let tables = Tables::of(info)?;
        let index = match tables.gnu_hash {
            0 => tables.find_by_hash(name)?,
            _ => tables.find_by_gnu_hash(name)?,
        };
        let symbol = &*tables.symbol(index);
        Some((tables.base + symbol.st_value as usize) as *mut c_void)
    }
}

impl Tables {
    unsafe fn of(info: &dl_phdr_info) -> Option<Tables> {
        let base = info.dlpi_addr as usize;
        let mut tables = Tables {
            base,
            ..Tables::default()
        };
        // SAFETY: the program headers are those of a mapped object, and its
        // dynamic section ends in DT_NULL.
        unsafe {
            let headers: &[Elf64_Phdr] =
                std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            let end = headers
                .iter()
                .filter(|header| header.p_type == PT_LOAD)
                .map(|header| header.p_vaddr + header.p_memsz)
                .max()?;
            let dynamic = headers.iter().find(|header| header.p_type == PT_DYNAMIC)?;
            let mut entry = (base + dynamic.p_vaddr as usize) as *const Dynamic;
            while (*entry).tag != DT_NULL {
                // glibc turns these into addresses when it maps an object; other
                // linkers leave offsets.
                let value = (*entry).value as usize;
                let address = match value < end as usize && base > end as usize {
                    true => base + value,
                    false => value,
                };
                match (*entry).tag {
                    DT_HASH => tables.hash = address,
                    DT_STRTAB => tables.names = address,
                    DT_SYMTAB => tables.symbols = address,
                    DT_GNU_HASH => tables.gnu_hash = address,
                    _ => (),
                }
                entry = entry.add(1);
            }
        }
        let complete = tables.symbols != 0 && tables.names != 0;
        (complete && (tables.gnu_hash != 0 || tables.hash != 0)).then_some(tables)
    }

    fn symbol(&self, index: u32) -> *const Elf64_Sym {
        (self.symbols as *const Elf64_Sym).wrapping_add(index as usize)
    }

    /// Whether symbol `index` is a definition of `name`.
    unsafe fn defines(&self, index: u32, name: &CStr) -> bool {
        // SAFETY: `index` comes from the object's hash table, and the symbol's
        // name is in its string table.
        unsafe {
            let symbol = &*self.symbol(index);
            symbol.st_shndx != 0
                && CStr::from_ptr((self.names + symbol.st_name as usize) as *const c_char) == name
        }
    }

    /// The table that System V's ABI describes: buckets and chains of indices.
    unsafe fn find_by_hash(&self, name: &CStr) -> Option<u32> {
        let mut hash = 0u32;
        for &byte in name.to_bytes() {
            hash = (hash << 4).wrapping_add(u32::from(byte));
            hash ^= (hash >> 24) & 0xf0;
            hash &= 0x0fff_ffff;
        }
        let table = self.hash as *const u32;
        // SAFETY: the table starts with the numbers of its buckets and chains.
        unsafe {
            let buckets = *table;
            let chains = table.add(2 + buckets as usize);
            let mut index = *table.add(2 + (hash % buckets.max(1)) as usize);
            while index != 0 {
                if self.defines(index, name) {
                    return Some(index);
                }
                index = *chains.add(index as usize);
            }
        }
        None
    }

    /// GNU's table: buckets of runs of hashes, the last of a run with bit 0 set.
    unsafe fn find_by_gnu_hash(&self, name: &CStr) -> Option<u32> {
        let hash = name.to_bytes().iter().fold(5381u32, |hash, &byte| {
            hash.wrapping_mul(33).wrapping_add(u32::from(byte))
        });
        let table = self.gnu_hash as *const u32;
        // SAFETY: the table starts with four numbers: buckets, the first symbol
        // that is hashed, 64-bit words of the filter, and the filter's shift.
        unsafe {
            let (buckets, first, words) = (*table, *table.add(1), *table.add(2));
            let bucket = table.add(4 + 2 * words as usize);
            let hashes = bucket.add(buckets as usize);
            let mut index = *bucket.add((hash % buckets.max(1)) as usize);
            if index < first {
                return None;
            }
            loop {
                let there = *hashes.add((index - first) as usize);
                if there | 1 == hash | 1 && self.defines(index, name) {
                    return Some(index);
                }
                if there & 1 == 1 {
                    return None;
                }
                index += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `dlsym` says and what the tables say, for names of the C library.
    #[test]
    fn the_tables_say_what_the_linker_says() {
        struct Search {
            names: Vec<&'static CStr>,
            found: Vec<Option<*mut c_void>>,
        }
        unsafe extern "C" fn visit(
            info: *mut dl_phdr_info,
            _size: usize,
            data: *mut c_void,
        ) -> libc::c_int {
            // SAFETY: dl_iterate_phdr passes what it was given, and a live entry.
            unsafe {
                let search = &mut *data.cast::<Search>();
                let path = CStr::from_ptr((*info).dlpi_name).to_string_lossy();
                if !path.contains("libc.so") {
                    return 0;
                }
                search.found = search.names.iter().map(|name| find(&*info, name)).collect();
                1
            }
        }
        let mut search = Search {
            names: vec![c"getpid", c"open", c"strtod", c"no_such_name_in_libc"],
            found: Vec::new(),
        };
        // SAFETY: the callback's type is right and `search` outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
        let expected: Vec<_> = search
            .names
            .iter()
            .map(|name| {
                // SAFETY: a name that ends in NUL.
                let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
                (!address.is_null()).then_some(address)
            })
            .collect();
        assert_eq!(search.found, expected);
        assert!(search.found[3].is_none());
    }
}
