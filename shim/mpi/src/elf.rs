//! Lookup of a name in one loaded object by reading its symbol table. `dlsym` needs a handle for
//! that, which only `dlopen` returns, and `dlopen` must not be called in the contexts of this
//! library: while the linker is relocating an object, opening it again would relocate it twice.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;

use libc::{Elf64_Phdr, Elf64_Sym, PT_DYNAMIC, PT_LOAD, dl_phdr_info};

/// Entry of a dynamic section (`Elf64_Dyn`).
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
/// Type of a symbol whose address is returned by a function of the object.
pub const STT_GNU_IFUNC: u8 = 10;

/// Tables of an object that a lookup needs, by their addresses.
#[derive(Default)]
struct Tables {
    base: usize,
    symbols: usize,
    names: usize,
    gnu_hash: usize,
    hash: usize,
}

/// Calls `look` for the objects of this process until it returns a value.
pub fn in_objects<T>(look: impl FnMut(&dl_phdr_info) -> Option<T>) -> Option<T> {
    struct Search<F, T> {
        look: F,
        found: Option<T>,
    }
    /// Calls `look` for one object; returns 1, which stops the iteration, when it has found a
    /// value.
    unsafe extern "C" fn visit<T, F: FnMut(&dl_phdr_info) -> Option<T>>(
        info: *mut dl_phdr_info,
        _size: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: dl_iterate_phdr passes this function's data, and an entry that is valid during
        // this call.
        let (info, search) = unsafe { (&*info, &mut *data.cast::<Search<F, T>>()) };
        search.found = (search.look)(info);
        c_int::from(search.found.is_some())
    }
    fn visitor<T, F: FnMut(&dl_phdr_info) -> Option<T>>(
        _: &Search<F, T>,
    ) -> unsafe extern "C" fn(*mut dl_phdr_info, usize, *mut c_void) -> c_int {
        visit::<T, F>
    }
    let mut search = Search { look, found: None };
    // SAFETY: the visitor takes this search, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visitor(&search)), (&raw mut search).cast()) };
    search.found
}

/// Returns the number of objects that this process has loaded and unloaded until now.
pub fn changes() -> u64 {
    in_objects(|info| Some(info.dlpi_adds + info.dlpi_subs)).unwrap_or(0)
}

/// Returns the path of an object; empty for the program itself.
pub fn path(info: &dl_phdr_info) -> &[u8] {
    if info.dlpi_name.is_null() {
        return &[];
    }
    // SAFETY: the linker's own text, which ends in NUL and lives as long as the object.
    unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes()
}

/// Returns the address range of the variables of the program itself.
pub fn program_variables() -> Range<usize> {
    let of_program = in_objects(|info| {
        let mut segments = headers(info).iter();
        let is_written =
            |header: &&Elf64_Phdr| header.p_type == PT_LOAD && header.p_flags & libc::PF_W != 0;
        let found = segments.rfind(is_written).map(|header| {
            let start = (info.dlpi_addr + header.p_vaddr) as usize;
            start..start + header.p_memsz as usize
        });
        Some(found.unwrap_or_default()) // the program comes first
    });
    of_program.unwrap_or_default()
}

/// Returns the segment of a loaded object that contains `address`.
pub fn segment_of(address: usize) -> Option<Range<usize>> {
    in_objects(|info| segment_in(info, address))
}

/// Returns the segment of this object that contains `address`.
pub fn segment_in(info: &dl_phdr_info, address: usize) -> Option<Range<usize>> {
    let segments = headers(info)
        .iter()
        .filter(|header| header.p_type == PT_LOAD);
    segments
        .map(|header| {
            let start = (info.dlpi_addr + header.p_vaddr) as usize;
            start..start + header.p_memsz as usize
        })
        .find(|segment| segment.contains(&address))
}

fn headers(info: &dl_phdr_info) -> &[Elf64_Phdr] {
    // SAFETY: the program headers of a mapped object.
    unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) }
}

/// Returns the address of `name` in the object, if it defines it: the result of the resolver, for
/// an indirect function.
///
/// # Safety
/// `info` describes an object that stays mapped during the call.
pub unsafe fn find(info: &dl_phdr_info, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the caller's promise; the tables are at the addresses in the object's dynamic
    // section.
    unsafe {
        let tables = Tables::of(info)?;
        let index = match tables.gnu_hash {
            0 => tables.find_by_hash(name)?,
            _ => tables.find_by_gnu_hash(name)?,
        };
        let symbol = &*tables.symbol(index);
        let address = (tables.base + symbol.st_value as usize) as *mut c_void;
        if symbol.st_info & 0xf != STT_GNU_IFUNC {
            return Some(address);
        }
        let resolver = std::mem::transmute::<*mut c_void, extern "C" fn() -> *mut c_void>(address);
        Some(resolver()).filter(|address| !address.is_null())
    }
}

/// Returns the access rights at `address` by the object's headers, as `mprotect` takes them.
fn rights_at(info: &dl_phdr_info, address: usize) -> c_int {
    let holds = |header: &&Elf64_Phdr| {
        let start = (info.dlpi_addr + header.p_vaddr) as usize;
        header.p_type == PT_LOAD && (start..start + header.p_memsz as usize).contains(&address)
    };
    let flags = headers(info).iter().find(holds).map_or(0, |h| h.p_flags);
    let rights = [
        (libc::PF_R, libc::PROT_READ),
        (libc::PF_W, libc::PROT_WRITE),
        (libc::PF_X, libc::PROT_EXEC),
    ];
    let given = rights.iter().filter(|(flag, _)| flags & flag != 0);
    given.fold(libc::PROT_NONE, |all, (_, right)| all | right)
}

/// Calls `rewrite` to change the symbols of an object, which are read-only before and after. Does
/// nothing if they cannot be made writable.
///
/// # Safety
/// `info` describes an object that stays mapped, and nobody else reads its symbols meanwhile.
pub unsafe fn rewrite_symbols(info: &dl_phdr_info, rewrite: impl FnMut(&mut Elf64_Sym)) {
    // SAFETY: the caller's promise. The pages of the table become private to the process when they
    // are written; their other rights do not change.
    unsafe {
        let Some(tables) = Tables::of(info) else {
            return;
        };
        let symbols = tables.symbol(0).cast_mut();
        let count = tables.symbols_hashed_by_gnu();
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let start = tables.symbols & !(page - 1);
        let length = symbols.add(count).addr() - start;
        let rights = rights_at(info, tables.symbols);
        let may = |rights| libc::mprotect(start as *mut c_void, length, rights) == 0;
        if may(rights | libc::PROT_WRITE) {
            std::slice::from_raw_parts_mut(symbols, count)
                .iter_mut()
                .for_each(rewrite);
            may(rights);
        }
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
            let headers = headers(info);
            let end = headers
                .iter()
                .filter(|header| header.p_type == PT_LOAD)
                .map(|header| header.p_vaddr + header.p_memsz)
                .max()?;
            let dynamic = headers.iter().find(|header| header.p_type == PT_DYNAMIC)?;
            let mut entry = (base + dynamic.p_vaddr as usize) as *const Dynamic;
            while (*entry).tag != DT_NULL {
                // glibc turns these into addresses when it maps an object; other linkers leave
                // offsets.
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

    /// True if symbol `index` is a definition of `name`.
    unsafe fn defines(&self, index: u32, name: &CStr) -> bool {
        // SAFETY: `index` comes from the object's hash table, and the symbol's
        // name is in its string table.
        unsafe {
            let symbol = &*self.symbol(index);
            symbol.st_shndx != 0
                && CStr::from_ptr((self.names + symbol.st_name as usize) as *const c_char) == name
        }
    }

    /// Finds a name by the table of System V's ABI: buckets and chains of indices.
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

    /// Returns the number of symbols up to the last in GNU's table; 0 without one.
    unsafe fn symbols_hashed_by_gnu(&self) -> usize {
        let table = self.gnu_hash as *const u32;
        if table.is_null() {
            return 0;
        }
        // SAFETY: as in `find_by_gnu_hash`; the last run is that of the greatest start.
        unsafe {
            let (buckets, first, words) = (*table, *table.add(1), *table.add(2));
            let bucket = table.add(4 + 2 * words as usize);
            let hashes = bucket.add(buckets as usize);
            let starts = std::slice::from_raw_parts(bucket, buckets as usize);
            let mut last = starts.iter().copied().max().unwrap_or(0);
            if last < first {
                return first as usize;
            }
            while *hashes.add((last - first) as usize) & 1 == 0 {
                last += 1;
            }
            last as usize + 1
        }
    }

    /// Finds a name by GNU's table: buckets of runs of hashes, the last of a run with bit 0 set.
    unsafe fn find_by_gnu_hash(&self, name: &CStr) -> Option<u32> {
        let hash = name.to_bytes().iter().fold(5381u32, |hash, &byte| {
            hash.wrapping_mul(33).wrapping_add(u32::from(byte))
        });
        let table = self.gnu_hash as *const u32;
        // SAFETY: the table starts with four numbers: buckets, the first hashed symbol, 64-bit
        // words of the filter, and the filter's shift.
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

    /// Compares the results of `dlsym` and of the tables, for names of the C library; one is an
    /// indirect function.
    #[test]
    fn the_tables_say_what_the_linker_says() {
        let names = [
            c"getpid",
            c"open",
            c"strtod",
            c"strlen",
            c"no_such_name_in_libc",
        ];
        let found = in_objects(|info| {
            let is_libc = path(info).windows(7).any(|part| part == b"libc.so");
            // SAFETY: a live entry.
            is_libc.then(|| names.map(|name| unsafe { find(info, name) }))
        });
        let expected = names.map(|name| {
            // SAFETY: a name that ends in NUL.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            (!address.is_null()).then_some(address)
        });
        assert_eq!(found, Some(expected));
        assert!(expected[0].is_some() && expected[4].is_none());
    }

    #[test]
    fn a_variable_is_in_a_part_of_its_object_and_the_heap_in_none() {
        static VARIABLE: u32 = 7;
        let address = std::ptr::from_ref(&VARIABLE) as usize;
        assert!(segment_of(address).is_some_and(|part| part.contains(&address)));
        let made = Box::new(7);
        assert_eq!(segment_of(std::ptr::from_ref(&*made) as usize), None);
    }
}
