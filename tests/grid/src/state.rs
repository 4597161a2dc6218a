//! The running grid: its file, and the process that serves it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use treepie_platform::grid::Grid;

use crate::serve::Folder;
use crate::{GridError, namespaces};

/// Variable with another folder for the state. Each folder has one grid at a time; grids of
/// different folders do not affect each other.
pub const VARIABLE: &str = "TREEPIE_GRID_STATE";
const READY_LIMIT: Duration = Duration::from_secs(20);

/// The folder of the state.
pub fn folder() -> PathBuf {
    let named = std::env::var_os(VARIABLE).unwrap_or_else(|| "/tmp/treepie-grid".into());
    std::path::absolute(&named).unwrap_or_else(|_| named.into())
}

fn failed(what: &Path, error: &io::Error) -> GridError {
    GridError::system(
        what.display().to_string(),
        error,
        "check the folder of the state",
    )
}

/// The description of the running grid, if any.
pub fn running() -> Option<PathBuf> {
    let pid = fs::read_to_string(folder().join("pid")).ok()?;
    is_ours(pid.trim()).then(|| folder().join("grid.yaml"))
}

/// True if a process is a grid's server: process numbers are reused.
fn is_ours(pid: &str) -> bool {
    let line = fs::read(Path::new("/proc").join(pid).join("cmdline")).unwrap_or_default();
    let mut words = line.split(|&byte| byte == 0);
    words.next().is_some_and(|name| name.ends_with(b"grid")) && words.next() == Some(b"serve")
}

/// Creates the grid of a file and starts its server.
///
/// # Errors
/// A grid is already running, or the system refuses; then nothing is left behind.
pub fn up(file: &Path) -> Result<(), GridError> {
    let grid = Grid::read(file)?;
    if running().is_some() {
        return Err(GridError::Usage(
            "a grid is up already; take it down with `grid down`".into(),
        ));
    }
    down();
    let folder = folder();
    let done = build(&grid, file, &folder);
    if done.is_err() {
        namespaces::remove(&tag(&folder), &grid.host_names());
        let _ = fs::remove_dir_all(&folder);
    }
    done
}

/// Text that distinguishes the namespaces of the grid of a folder.
pub fn tag(folder: &Path) -> String {
    fs::read_to_string(folder.join("tag")).unwrap_or_default()
}

/// The hosts' names and addresses, for their `/etc/hosts`.
pub fn hosts_file(folder: &Path) -> PathBuf {
    folder.join("hosts")
}

fn write(path: &Path, text: &str) -> Result<(), GridError> {
    fs::write(path, text).map_err(|error| failed(path, &error))
}

fn build(grid: &Grid, file: &Path, folder: &Path) -> Result<(), GridError> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let copy = folder.join("grid.yaml");
    fs::copy(file, &copy).map_err(|error| failed(&copy, &error))?;
    let tag = std::process::id().to_string();
    write(&hosts_file(folder), &namespaces::hosts_file(grid))?;
    namespaces::create(grid, &tag)?;
    write(&folder.join("tag"), &tag)?;
    let _allowed = namespaces::CubicAllowed::now();
    let own = std::env::current_exe().map_err(|error| failed(folder, &error))?;
    let agent = folder.join("agent");
    let _ = fs::remove_file(&agent);
    std::os::unix::fs::symlink(&own, &agent).map_err(|error| failed(&agent, &error))?;
    let log = folder.join("log");
    let output = fs::File::create(&log).map_err(|error| failed(&log, &error))?;
    let mut server = Command::new(&own)
        .arg("serve")
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(output)
        .spawn()
        .map_err(|error| failed(&own, &error))?;
    let pid = folder.join("pid");
    write(&pid, &server.id().to_string())?;
    let began = Instant::now();
    while !folder.join("ready").exists() {
        let ended = matches!(server.try_wait(), Ok(Some(_)));
        if ended || began.elapsed() > READY_LIMIT {
            let said = fs::read_to_string(&log).unwrap_or_default();
            let _ = server.kill();
            let _ = server.wait();
            let said = said.trim().trim_start_matches("grid: ").to_owned();
            return Err(GridError::Start(match said.is_empty() {
                true => "its server says nothing; see whether the machine is overloaded".into(),
                false => said,
            }));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// The folder of a grid from the view of its server.
pub struct Served<'a>(pub &'a Path);

impl Served<'_> {
    fn answer(&self, name: &str, text: &str) -> Result<(), GridError> {
        let unfinished = self.0.join("answer.part");
        write(&unfinished, text)?;
        let told = self.0.join(name);
        fs::rename(&unfinished, &told).map_err(|error| failed(&told, &error))
    }
}

impl Folder for Served<'_> {
    fn ready(&self) -> Result<(), GridError> {
        write(&self.0.join("ready"), "")
    }

    fn tell(&self, carried: &str) -> Result<(), GridError> {
        self.answer(CARRIED, carried)
    }

    fn changed(&self) -> Result<Grid, GridError> {
        let grid = Grid::read(&self.0.join("grid.yaml"))?;
        self.answer(CHANGED, "")?;
        Ok(grid)
    }
}

/// The file in which the server reports the carried bytes.
const CARRIED: &str = "carried";

/// The file in which the server reports that the links have changed.
const CHANGED: &str = "changed";

/// Replaces the links by those of a file with the same hosts.
///
/// # Errors
/// There is no grid, its hosts differ, or its server does not answer.
pub fn change(file: &Path) -> Result<(), GridError> {
    let grid = Grid::read(file)?;
    let current = running().map(|path| Grid::read(&path)).transpose()?;
    if current.is_some_and(|current| current.host_names() != grid.host_names()) {
        return Err(GridError::Usage(format!(
            "{}: has other hosts than the grid that is up; only links can be changed",
            file.display()
        )));
    }
    let (next, path) = (folder().join("next.yaml"), folder().join("grid.yaml"));
    let copied = fs::copy(file, &next).and_then(|_| fs::rename(&next, &path));
    copied.map_err(|error| failed(&path, &error))?;
    asked(libc::SIGUSR2, CHANGED).map(drop)
}

/// Bytes carried by the links between clusters until now.
///
/// # Errors
/// There is no grid, or its server does not answer.
pub fn carried() -> Result<String, GridError> {
    asked(libc::SIGUSR1, CARRIED)
}

/// The answer of the server to a signal, in a file with this name.
fn asked(signal: libc::c_int, name: &str) -> Result<String, GridError> {
    let told = folder().join(name);
    let _ = fs::remove_file(&told);
    let pid = fs::read_to_string(folder().join("pid")).unwrap_or_default();
    let server = pid.trim().parse::<libc::pid_t>();
    let Some(server) = server.ok().filter(|_| is_ours(pid.trim())) else {
        return Err(GridError::Usage(
            "no grid is up; make one with `grid up FILE`".into(),
        ));
    };
    // SAFETY: a signal to a process that was just seen to be the server.
    unsafe { libc::kill(server, signal) };
    let began = Instant::now();
    loop {
        match fs::read_to_string(&told) {
            Ok(answer) => return Ok(answer),
            Err(error) if began.elapsed() > READY_LIMIT => return Err(failed(&told, &error)),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Ends the server and removes all hosts; returns true if there was a grid.
pub fn down() -> bool {
    let folder = folder();
    let pid = fs::read_to_string(folder.join("pid")).unwrap_or_default();
    if is_ours(pid.trim())
        && let Ok(pid) = pid.trim().parse::<libc::pid_t>()
    {
        // SAFETY: a signal to a process that was just seen to be the server.
        unsafe { libc::kill(pid, libc::SIGTERM) };
    }
    let grid = Grid::read(&folder.join("grid.yaml"));
    if let Ok(grid) = &grid {
        namespaces::remove(&tag(&folder), &grid.host_names());
    }
    let _ = fs::remove_dir_all(&folder);
    grid.is_ok()
}
