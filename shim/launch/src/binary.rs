//! Properties of a program or library read from its file.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use goblin::elf::Elf;
use treepie_base::{input, open};

use super::family::Family;
use super::{search, timed};

/// Time limit for the dynamic linker to list a program's libraries.
const LIST_LIMIT: Duration = Duration::from_secs(10);

/// Maximum size of a program in bytes.
const LARGEST: u64 = 1 << 34;

/// Kind of a program's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// Linked dynamically: a library can be preloaded.
    Dynamic,
    /// Linked statically: the dynamic linker is not involved.
    Static,
    /// A script, with the interpreter of its first line.
    Script(String),
    /// Any other file.
    Other,
}

/// Kind of the file at `path`; `None` if it cannot be read.
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

/// True if the linker ignores `LD_PRELOAD` for this program, because it runs with the rights of
/// another user or group.
pub(crate) fn changes_user(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.permissions().mode() & 0o6000 != 0)
}

/// The libraries that a library itself requires (`NEEDED`); `None` for a file that is not a library
/// for this kind of machine.
pub fn needed(path: &Path) -> Option<Vec<String>> {
    let bytes = read(path)?;
    let elf = Elf::parse(&bytes).ok()?;
    Some(elf.libraries.iter().map(|&name| name.to_owned()).collect())
}

/// The procedures that a library exports; empty for a file that is not a library.
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

/// Further properties of a program's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its kind.
    pub kind: Program,
    /// Numbers of the processor family and of the word length in ELF.
    pub machine: (u16, u8),
    /// True if the file contains the name of MPI's initialization.
    pub names_mpi: bool,
    /// True if it defines MPI's initialization itself.
    pub defines_mpi: bool,
    /// True if it only needs the run-time of its language, and can neither start another program
    /// nor load a library.
    pub is_alone: bool,
}

/// Functions that start programs or load libraries, by the prefixes of their names.
const WAYS_OUT: [&str; 8] = [
    "exec",
    "fexec",
    "posix_spawn",
    "system",
    "popen",
    "dlopen",
    "dlmopen",
    "syscall",
];

/// Run-time libraries of languages, which do not call MPI.
const RUN_TIMES: [&str; 11] = [
    "libc.so",
    "libm.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
    "libgcc_s.so",
    "libstdc++.so",
    "libgfortran.so",
    "libquadmath.so",
    "ld-linux",
    "libgomp.so",
];

/// Reads the properties of the file at `path`; `None` if it is not a readable ELF file.
pub fn facts(path: &Path) -> Option<Facts> {
    let bytes = read(path)?;
    let elf = Elf::parse(&bytes).ok()?;
    let name = |symbol: goblin::elf::Sym| elf.dynstrtab.get_at(symbol.st_name).unwrap_or_default();
    let mut defines_mpi = elf
        .syms
        .iter()
        .any(|symbol| !symbol.is_import() && elf.strtab.get_at(symbol.st_name) == Some("MPI_Init"));
    let mut has_way_out = false;
    for symbol in elf.dynsyms.iter() {
        match (symbol.is_import(), name(symbol)) {
            (false, "MPI_Init") => defines_mpi = true,
            (true, name) => has_way_out |= WAYS_OUT.iter().any(|way| name.starts_with(way)),
            _ => {}
        }
    }
    let run_time = |name: &&str| RUN_TIMES.iter().any(|known| name.starts_with(known));
    Some(Facts {
        kind: match elf.interpreter {
            Some(_) => Program::Dynamic,
            None => Program::Static,
        },
        machine: (elf.header.e_machine, elf.header.e_ident[4]),
        names_mpi: bytes.windows(8).any(|window| window == b"MPI_Init"),
        defines_mpi,
        is_alone: !has_way_out && elf.libraries.iter().all(run_time),
    })
}

/// The MPI library to which a program is linked, directly or through others, and its family.
pub fn mpi_of(path: &Path) -> Option<(PathBuf, Family)> {
    let libraries = mpi_libraries(path).into_iter();
    libraries
        .filter_map(|(library, family)| Some((library, family?)))
        .next()
}

/// The libraries to which a program is linked and that can start MPI, those of a known family
/// first.
pub(crate) fn mpi_libraries(path: &Path) -> Vec<(PathBuf, Option<Family>)> {
    let list = search::executable("ldd".as_ref())
        .and_then(|ldd| timed::output(&ldd, &[path], LIST_LIMIT))
        .unwrap_or_default();
    let mut found: Vec<(PathBuf, Option<Family>)> = loaded_libraries(&list)
        .filter_map(|library| Some((library.to_owned(), family_of_library(library)?)))
        .collect();
    found.sort_by_key(|(_, family)| family.is_none());
    found
}

/// The paths in the output of `ldd`: `libmpi.so.40 => /usr/lib/libmpi.so.40 (0x...)`.
fn loaded_libraries(list: &str) -> impl Iterator<Item = &Path> {
    list.lines().filter_map(|line| {
        let (_, path) = line.split_once("=> ")?;
        let (path, _) = path.split_once(" (")?;
        Some(Path::new(path))
    })
}

/// Family of an MPI library, by its symbols: names of files differ between distributions, and are
/// the same in different MPIs. `None` if it is not an MPI, and `Some(None)` if its family is not
/// known.
pub fn family_of_library(path: &Path) -> Option<Option<Family>> {
    let name = path.file_name()?.to_str()?;
    if !name.starts_with("libmpi") && !name.starts_with("libpmpi") {
        return None;
    }
    let bytes = read(path)?;
    let elf = Elf::parse(&bytes).ok()?;
    // Open MPI's two libraries from its version 6 on, one of them with the standard ABI.
    if elf
        .libraries
        .iter()
        .any(|name| name.starts_with("libopen_mpi."))
    {
        return Some(Some(Family::OpenMpi));
    }
    let (mut family, mut starts) = (None, false);
    for symbol in elf.dynsyms.iter().filter(|symbol| !symbol.is_import()) {
        match elf.dynstrtab.get_at(symbol.st_name) {
            Some("ompi_mpi_comm_world") => return Some(Some(Family::OpenMpi)),
            Some("MPII_Comm_get_attr" | "MPI_Abi_get_version") => family = Some(Family::Hydra),
            Some("MPI_Init") => starts = true,
            _ => {}
        }
    }
    (family.is_some() || starts).then_some(family)
}

fn read(path: &Path) -> Option<Vec<u8>> {
    input::to_the_end(open(path).ok()?, LARGEST).ok()
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

    #[test]
    fn a_program_that_is_a_pipe_or_a_device_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("libmpi.so");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [&*pipe, Path::new("/dev/zero")] {
            assert_eq!(kind(path), None, "{}", path.display());
            assert_eq!(facts(path), None, "{}", path.display());
            assert_eq!(family_of_library(path), None, "{}", path.display());
        }
    }
}
