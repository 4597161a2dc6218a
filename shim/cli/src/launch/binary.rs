//! What can be told about a program or library from its file.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use goblin::elf::Elf;

use super::family::Family;
use super::{search, timed};

/// How long the dynamic linker may take to list a program's libraries.
const LIST_LIMIT: Duration = Duration::from_secs(10);

/// What kind of file a program is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// Linked dynamically: it can be preloaded into.
    Dynamic,
    /// Linked statically: the dynamic linker never sees it.
    Static,
    /// A script, and the first line's interpreter.
    Script(String),
    /// Neither.
    Other,
}

/// What kind of file `path` is; `None` if it cannot be read.
pub fn kind(path: &Path) -> Option<Program> {
    let bytes = read(path)?;
    if let Some(rest) = bytes.strip_prefix(b"#!") {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        return Some(Program::Script(
            String::from_utf8_lossy(line).trim().to_owned(),
        ));
    }
    Some(match Elf::parse(&bytes) {
        Ok(elf) if elf.interpreter.is_some() => Program::Dynamic,
        Ok(_) => Program::Static,
        Err(_) => Program::Other,
    })
}

/// Whether the linker ignores `LD_PRELOAD` for this program, because it runs
/// with the rights of another user or group.
pub fn changes_user(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.permissions().mode() & 0o6000 != 0)
}

/// The libraries that a library names itself (`NEEDED`); `None` for a file that
/// is no library of this kind of machine.
pub fn needed(path: &Path) -> Option<Vec<String>> {
    let bytes = read(path)?;
    let elf = Elf::parse(&bytes).ok()?;
    Some(elf.libraries.iter().map(|&name| name.to_owned()).collect())
}

/// The procedures that a library offers; none for a file that is no library.
pub fn exported(path: &Path) -> Vec<String> {
    let Some(bytes) = read(path) else {
        return Vec::new();
    };
    let Ok(elf) = Elf::parse(&bytes) else {
        return Vec::new();
    };
    let symbols = elf.dynsyms.iter().filter(|symbol| !symbol.is_import());
    let names = symbols.filter_map(|symbol| elf.dynstrtab.get_at(symbol.st_name));
    names.map(str::to_owned).collect()
}

/// The MPI library that a program is linked to, directly or through others,
/// and whose it is.
pub fn mpi_of(path: &Path) -> Option<(PathBuf, Family)> {
    let list = timed::output(&search::executable("ldd".as_ref())?, &[path], LIST_LIMIT)?;
    loaded_libraries(&list)
        .find_map(|library| Some((library.to_owned(), family_of_library(library)?)))
}

/// The paths in the list of `ldd`: `libmpi.so.40 => /usr/lib/libmpi.so.40 (0x...)`.
fn loaded_libraries(list: &str) -> impl Iterator<Item = &Path> {
    list.lines().filter_map(|line| {
        let (_, path) = line.split_once("=> ")?;
        let (path, _) = path.split_once(" (")?;
        Some(Path::new(path))
    })
}

/// Whose MPI a library is, told by its symbols: names of files differ between
/// distributions, and are the same between MPIs.
fn family_of_library(path: &Path) -> Option<Family> {
    let name = path.file_name()?.to_str()?;
    if !name.starts_with("libmpi") {
        return None;
    }
    let bytes = read(path)?;
    let elf = Elf::parse(&bytes).ok()?;
    let mut family = None;
    for symbol in elf.dynsyms.iter().filter(|symbol| !symbol.is_import()) {
        match elf.dynstrtab.get_at(symbol.st_name) {
            Some("ompi_mpi_comm_world") => return Some(Family::OpenMpi),
            Some("MPII_Comm_get_attr" | "MPI_Abi_get_version") => family = Some(Family::Hydra),
            _ => {}
        }
    }
    family
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .ok()?
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_paths_of_a_list_of_libraries_are_found() {
        let list = "\tlinux-vdso.so.1 (0x00007ffe)\n\tlibmpi.so.40 => /usr/lib/libmpi.so.40 (0x00007f)\n\
                    \tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x0)\n";
        let found: Vec<&Path> = loaded_libraries(list).collect();
        assert_eq!(found, [Path::new("/usr/lib/libmpi.so.40")]);
    }

    #[test]
    fn this_test_is_a_dynamic_program_and_a_script_names_its_interpreter() {
        assert_eq!(
            kind(&std::env::current_exe().unwrap()),
            Some(Program::Dynamic)
        );
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("run");
        std::fs::write(&script, "#!/usr/bin/env python3\nprint()\n").unwrap();
        assert_eq!(
            kind(&script),
            Some(Program::Script("/usr/bin/env python3".into()))
        );
        std::fs::write(&script, "no program").unwrap();
        assert_eq!(kind(&script), Some(Program::Other));
        assert_eq!(kind(&directory.path().join("absent")), None);
    }
}
