//! Program of an order: its name, and the identity of its file.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use treepie_base::input;

/// Bytes of the beginning and of the end of a file that are read: the linker puts its build id near
/// the beginning.
const END: u64 = 64 << 10;

/// Program as an order identifies it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Program {
    /// Name of its file; of a script if an interpreter runs one.
    pub name: String,
    /// The linker's build id in hexadecimal digits, or a checksum if there is none; `None` if the
    /// file could not be read.
    pub build: Option<String>,
}

impl Program {
    /// Returns the program of this file, which people know as `name`.
    pub fn of(name: &Path, file: &Path) -> Program {
        let name = name.file_name().unwrap_or_default();
        Program {
            name: name.to_string_lossy().into_owned(),
            build: build_of(file),
        }
    }
}

fn build_of(path: &Path) -> Option<String> {
    let mut file = input::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut bytes = Vec::new();
    (&mut file).take(END).read_to_end(&mut bytes).ok()?;
    if let Some(id) = build_id(&bytes) {
        return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
    }
    if length > END {
        file.seek(SeekFrom::Start(length.saturating_sub(END).max(END)))
            .ok()?;
        file.take(END).read_to_end(&mut bytes).ok()?;
    }
    Some(format!("crc32-{:08x}-{length}", crc32fast::hash(&bytes)))
}

/// Type of a program header whose segment contains notes, and of the note with the build id.
const PT_NOTE: u64 = 4;
const NT_GNU_BUILD_ID: u64 = 3;

/// Returns the build id in the notes of a 64-bit little-endian ELF file that begins with these
/// bytes (System V ABI, chapters 4 and 5).
fn build_id(file: &[u8]) -> Option<&[u8]> {
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let number = |at: usize, width: usize| -> Option<u64> {
        let bytes = file.get(at..at.checked_add(width)?)?.iter().rev();
        Some(bytes.fold(0, |number, &byte| number << 8 | u64::from(byte)))
    };
    let place = |at: usize| usize::try_from(number(at, 8)?).ok();
    let (headers, size, count) = (place(32)?, number(54, 2)? as usize, number(56, 2)? as usize);
    for header in (0..count).map_while(|nth| headers.checked_add(nth * size)) {
        if number(header, 4)? != PT_NOTE {
            continue;
        }
        let begin = place(header.checked_add(8)?)?;
        let end = begin.checked_add(place(header.checked_add(32)?)?)?;
        let found = note(file.get(begin..end.min(file.len()))?);
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the build id among these notes: each has the lengths of its name and of its content, its
/// type, and both padded to four bytes.
fn note(mut notes: &[u8]) -> Option<&[u8]> {
    while let Some((head, rest)) = notes.split_first_chunk::<12>() {
        let word = |at: usize| {
            head[at..at + 4]
                .iter()
                .rev()
                .fold(0, |n, &b| n << 8 | u64::from(b))
        };
        let (name, held) = (word(0) as usize, word(4) as usize);
        let (name_end, held_end) = (name.next_multiple_of(4), held.next_multiple_of(4));
        let content = rest.get(name_end..name_end + held)?;
        if word(8) == NT_GNU_BUILD_ID && rest.get(..name)? == b"GNU\0" {
            return Some(content);
        }
        notes = rest.get(name_end + held_end..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns a file of 64 bytes of header, one program header, and a note.
    fn elf(id: &[u8]) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01".to_vec();
        file.resize(120, 0);
        file[32] = 64;
        file[54] = 56;
        file[56] = 1;
        file[64] = PT_NOTE as u8;
        file[64 + 8] = 120;
        file[64 + 32] = (16 + id.len()) as u8;
        for word in [4, id.len() as u32, NT_GNU_BUILD_ID as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(b"GNU\0");
        file.extend(id);
        file
    }

    #[test]
    fn the_build_id_of_a_program_is_found_and_damage_is_none() {
        let id = [0xab, 0xcd, 1, 2];
        let file = elf(&id);
        assert_eq!(build_id(&file), Some(&id[..]));
        for length in 0..file.len() {
            assert_eq!(build_id(&file[..length]), None, "{length} bytes");
        }
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] = 0xff;
            // It may be found or not, but must not cause a panic.
            let _ = build_id(&damaged);
        }
    }

    #[test]
    fn what_has_no_build_id_is_known_by_its_content() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("job.py");
        let build = |text: &[u8]| {
            fs::write(&path, text).unwrap();
            Program::of(&path, &path)
        };
        let (one, other) = (build(b"print(1)"), build(b"print(2)"));
        assert_eq!((&*one.name, &*other.name), ("job.py", "job.py"));
        assert!(one.build.is_some() && one.build != other.build);
        let mut long = vec![7; 3 * END as usize];
        let before = build(&long);
        *long.last_mut().unwrap() = 8;
        assert_ne!(before, build(&long));
        assert_eq!(Program::of(&path, Path::new("/proc/none")).build, None);
    }
}
