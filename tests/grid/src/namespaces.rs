//! Namespaces as hosts, created and removed with iproute2.

use std::fs;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};

use treepie_platform::grid::Grid;

use crate::GridError;
use crate::device::NAME;

const REMEDY: &str = "an emulated grid needs root (or a user namespace with a network of its own), \
                      iproute2, and a kernel with network namespaces";

/// TCP settings for a long fat link: no slow start after a pause, no state from earlier
/// connections, the congestion control of most systems, and a receive window that holds the data in
/// flight (a small one grows with the amount that one connection brings at a time, and 240
/// connections that share four links bring too little).
const SETTINGS: [&str; 4] = [
    "net/ipv4/tcp_slow_start_after_idle=0",
    "net/ipv4/tcp_no_metrics_save=1",
    "net/ipv4/tcp_congestion_control=cubic",
    "net/ipv4/tcp_rmem=4096 1048576 33554432",
];

/// The network of all hosts.
const NETWORK: &str = "10.77.0.0/16";

/// Connections start with windows that hold the data in flight on a link of 100 Mbit/s with a round
/// trip of 20 ms that several long messages share, like connections in use for a long time:
/// otherwise the measurement depends on the earlier traffic of the same connection. With 256
/// segments, a broadcast of 4 MiB took 448 ms at first, and 386 from the eleventh on.
const WINDOWS: [&str; 4] = ["initcwnd", "1024", "initrwnd", "1400"];

/// The address of a host: 10.77.cluster.number.
pub fn address(cluster: usize, number: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, cluster as u8, number as u8 + 1)
}

/// The addresses of all hosts, over all clusters.
pub fn addresses(grid: &Grid) -> Vec<Ipv4Addr> {
    let clusters = grid.clusters.iter().enumerate();
    clusters
        .flat_map(|(cluster, of)| (0..of.hosts).map(move |number| address(cluster, number)))
        .collect()
}

fn run(program: &str, arguments: &[&str]) -> Result<(), GridError> {
    let what = || format!("{program} {}", arguments.join(" "));
    let done = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| GridError::system(what(), error, REMEDY))?;
    match done.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&done.stderr);
            let line = said.lines().next().unwrap_or("failed").to_owned();
            Err(GridError::system(what(), line, REMEDY))
        }
    }
}

/// The namespace of a host. Grids differ in their `tag`, so that several can be running with hosts
/// of the same names.
pub fn name(tag: &str, host: &str) -> String {
    format!("treepie-{tag}-{host}")
}

/// The contents of `/etc/hosts` on every host.
pub fn hosts_file(grid: &Grid) -> String {
    let mut names = String::from("127.0.0.1 localhost\n");
    for (host, address) in grid.host_names().iter().zip(addresses(grid)) {
        names += &format!("{address} {host}\n");
    }
    names
}

/// Creates a namespace for each host.
///
/// # Errors
/// The system refuses; nothing is left behind.
pub fn create(grid: &Grid, tag: &str) -> Result<(), GridError> {
    let hosts = grid.host_names();
    for (made, host) in hosts.iter().enumerate() {
        if let Err(error) = run("ip", &["netns", "add", &name(tag, host)]) {
            remove(tag, &hosts[..made]);
            return Err(error);
        }
    }
    Ok(())
}

/// Lock against other grids that change settings of the whole system: of two that are created
/// simultaneously, one would reset a setting that the other one needs.
#[derive(Debug)]
pub struct Alone {
    _lock: Option<fs::File>,
}

impl Alone {
    /// Waits for the lock. Without permission, other grids are ignored.
    pub fn now() -> Self {
        let path = std::env::temp_dir().join("treepie-grid.lock");
        let file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .ok();
        Alone {
            _lock: file.filter(|file| file.lock().is_ok()),
        }
    }
}

/// Permission for namespaces to use cubic as their congestion control, during the lifetime of this
/// value: a namespace may only use those that the system allows.
#[derive(Debug)]
pub struct CubicAllowed {
    /// The previous value, if it had to be changed.
    before: Option<String>,
    _alone: Alone,
}

const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

impl CubicAllowed {
    /// Allows it. Without permission, hosts keep the system's own: slower, but not wrong.
    pub fn now() -> Self {
        let alone = Alone::now();
        let allowed = fs::read_to_string(ALLOWED).unwrap_or_default();
        let has = allowed.split_whitespace().any(|name| name == "cubic");
        let changed = !has && fs::write(ALLOWED, format!("{} cubic", allowed.trim())).is_ok();
        CubicAllowed {
            before: changed.then_some(allowed),
            _alone: alone,
        }
    }
}

impl Drop for CubicAllowed {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = fs::write(ALLOWED, before);
        }
    }
}

/// Removes the namespaces of these hosts in any case, and ends processes that still run on them,
/// such as ranks whose launcher has ended: a host that is switched off runs nothing.
pub fn remove(tag: &str, hosts: &[String]) {
    for host in hosts {
        let name = name(tag, host);
        for process in processes(&name) {
            // SAFETY: a signal to a process that was just found on this host.
            unsafe { libc::kill(process, libc::SIGKILL) };
        }
        let _ = run("ip", &["netns", "del", &name]);
    }
}

/// The processes of a namespace, without this one.
fn processes(namespace: &str) -> Vec<libc::pid_t> {
    let found = Command::new("ip")
        .args(["netns", "pids", namespace])
        .stdin(Stdio::null())
        .output();
    let listed = found.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let own = std::process::id().cast_signed();
    let numbers = listed.unwrap_or_default();
    let numbers = numbers.lines().filter_map(|line| line.trim().parse().ok());
    numbers.filter(|&process| process != own).collect()
}

/// Moves this thread into a namespace permanently.
///
/// # Errors
/// The namespace does not exist, or this user may not enter it.
pub fn enter(namespace: &str) -> Result<(), GridError> {
    let path = Path::new("/var/run/netns").join(namespace);
    let file = fs::File::open(&path)
        .map_err(|error| GridError::system(path.display().to_string(), error, REMEDY))?;
    // SAFETY: the descriptor is open and names a network namespace.
    match unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(GridError::system(
            namespace,
            std::io::Error::last_os_error(),
            REMEDY,
        )),
    }
}

/// Brings up the device in the namespace of this thread.
///
/// # Errors
/// The system refuses.
pub fn configure(address: Ipv4Addr) -> Result<(), GridError> {
    for setting in SETTINGS {
        if let Some((name, value)) = setting.split_once('=') {
            let _ = fs::write(Path::new("/proc/sys").join(name), value);
        }
    }
    run("ip", &["link", "set", "lo", "up"])?;
    run(
        "ip",
        &[
            "link",
            "set",
            NAME,
            "mtu",
            "1500",
            "txqueuelen",
            "20000",
            "up",
        ],
    )?;
    run(
        "ip",
        &["addr", "add", &format!("{address}/16"), "dev", NAME],
    )?;
    let address = address.to_string();
    let to_all = ["route", "replace", NETWORK, "dev", NAME, "src", &address];
    run("ip", &[&to_all[..], &WINDOWS].concat())
}
