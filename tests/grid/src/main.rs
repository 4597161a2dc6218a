//! `grid`: the emulated grid, for `scripts/grid`.
//!
//! ```text
//! grid up FILE                             create the hosts and links of FILE
//! grid run [FILE] [--ranks N] [--cyclic] [--carried OUT] -- COMMAND...
//!                                          run COMMAND on the first host; with FILE,
//!                                          the grid is created before and removed after;
//!                                          OUT gets the bytes carried by the links
//! grid on HOST -- COMMAND...               run COMMAND on a host
//! grid off HOST                            switch a host off, ending its processes
//! grid hosts                               list the hosts
//! grid carried                             bytes carried by the links between clusters: from, to,
//!                                          bytes of payload, bytes on the wire
//! grid change FILE                         replace the links by those of FILE
//! grid down                                remove everything
//! ```

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use treepie_grid::launch::{self, Ranks};
use treepie_grid::{GridError, namespaces, serve, state};
use treepie_platform::grid::Grid;

const USAGE: &str = "usage: grid up FILE | run [FILE] [--ranks N] [--cyclic] [--carried OUT] -- COMMAND... | \
                     on HOST -- COMMAND... | off HOST | hosts | carried | change FILE | down";

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let name = words.remove(0);
    if Path::new(&name)
        .file_name()
        .is_some_and(|name| name == "agent")
    {
        // The folder has its own `agent`: variables do not reach remote hosts.
        let folder = Path::new(&name).parent().unwrap_or(Path::new("."));
        let error = launch::agent(folder, &words, &library());
        eprintln!("grid: {error}");
        return ExitCode::FAILURE;
    }
    match ask(&words) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("grid: {error}");
            match error {
                GridError::Usage(_) => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn ask(words: &[OsString]) -> Result<u8, GridError> {
    let usage = || GridError::Usage(USAGE.into());
    let word = words
        .first()
        .and_then(|word| word.to_str())
        .ok_or_else(usage)?;
    let rest = &words[1..];
    match (word, rest) {
        ("up", [file]) => state::up(Path::new(file)).map(|()| 0),
        ("serve", [folder]) => {
            let folder = Path::new(folder);
            let grid = Grid::read(&folder.join("grid.yaml"))?;
            serve::serve(&grid, &state::tag(folder), &state::Served(folder)).map(|()| 0)
        }
        ("run", _) => run(rest),
        ("on", [host, dashes, command @ ..]) if dashes == "--" && !command.is_empty() => {
            let host = known(host)?;
            wait(&mut launch::on(&state::folder(), &host, command, false))
        }
        ("off", [host]) => {
            namespaces::remove(&state::tag(&state::folder()), &[known(host)?]);
            Ok(0)
        }
        ("hosts", []) => {
            for host in current()?.host_names() {
                println!("{host}");
            }
            Ok(0)
        }
        ("carried", []) => {
            print!("{}", state::carried()?);
            Ok(0)
        }
        ("change", [file]) => state::change(Path::new(file)).map(|()| 0),
        ("down", []) => {
            if !state::down() {
                eprintln!("grid: no grid is up");
            }
            Ok(0)
        }
        _ => Err(usage()),
    }
}

fn current() -> Result<Grid, GridError> {
    let file = state::running()
        .ok_or_else(|| GridError::Usage("no grid is up; make one with `grid up FILE`".into()))?;
    Ok(Grid::read(&file)?)
}

/// The name of a host of the running grid.
fn known(host: &OsStr) -> Result<String, GridError> {
    let host = host.to_string_lossy();
    match current()?.host_names().iter().any(|name| *name == host) {
        true => Ok(host.into_owned()),
        false => Err(GridError::Usage(format!(
            "no host is called {host}; `grid hosts` lists them"
        ))),
    }
}

/// Removes a grid that was created for one command only, after any end of the command.
struct Temporary;

impl Drop for Temporary {
    fn drop(&mut self) {
        state::down();
    }
}

fn run(words: &[OsString]) -> Result<u8, GridError> {
    let usage = || GridError::Usage(USAGE.into());
    let dashes = words
        .iter()
        .position(|word| word == "--")
        .ok_or_else(usage)?;
    let (options, command) = (&words[..dashes], &words[dashes + 1..]);
    let mut ranks = Ranks {
        each: 1,
        cyclic: false,
    };
    let (mut file, mut output) = (None, None);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match option.to_str() {
            Some("--cyclic") => ranks.cyclic = true,
            Some("--ranks") => {
                let number = options.next().and_then(|word| word.to_str()?.parse().ok());
                ranks.each = number.filter(|&number| number > 0).ok_or_else(usage)?;
            }
            Some("--carried") => output = Some(options.next().ok_or_else(usage)?),
            Some(option) if option.starts_with('-') => return Err(usage()),
            _ => file = Some(PathBuf::from(option)),
        }
    }
    if command.is_empty() {
        return Err(usage());
    }
    let _temporary = match &file {
        Some(file) => {
            state::up(file)?;
            Some(Temporary)
        }
        None => None,
    };
    let grid = current()?;
    let status = wait(&mut launch::command(
        &grid,
        &state::folder(),
        ranks,
        &library(),
        command,
    )?)?;
    if let Some(output) = output {
        let written = std::fs::write(output, state::carried()?);
        written.map_err(|error| {
            GridError::system(output.display().to_string(), error, "choose another file")
        })?;
    }
    Ok(status)
}

fn wait(command: &mut Command) -> Result<u8, GridError> {
    // An interrupt is for the command; the grid is removed when it has ended. SAFETY: ignoring a
    // signal has no preconditions.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
    let status = command.status().map_err(|error| {
        GridError::system(
            "ip netns exec",
            error,
            "install iproute2, and run this as root",
        )
    })?;
    Ok(u8::try_from(status.code().unwrap_or(1)).unwrap_or(u8::MAX))
}

/// The library that makes ranks patient, in the directory of this program.
fn library() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.with_file_name("libtreepie_patience.so")
}
