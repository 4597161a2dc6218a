//! The running grid does what its file requests: real connections between its hosts have the
//! latencies and rates of the model.
//!
//! Other work on the machine makes a path longer and never shorter. So a time below the model's is
//! always wrong, and the best of several attempts counts.
#![allow(clippy::unwrap_used)] // a test may panic

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use treepie_grid::{namespaces, state};

/// Two clusters of two hosts; 10 ms and 100 Mbit/s between them.
const TWO: &str = "treepie: grid\nversion: 1\nwan_latency_us: 10000\nclusters:\n\
    - {name: a, hosts: 2, latency_us: 2000, mbit: 400, uplink_mbit: 100}\n\
    - {name: b, hosts: 2, latency_us: 2000, mbit: 400, uplink_mbit: 100}\n";
/// Bytes of a message in a frame and on the wire.
const OVERHEAD: f64 = 1538.0 / 1448.0;
const PORT: u16 = 7000;

/// A grid that runs during the lifetime of this value.
struct Up {
    folder: tempfile::TempDir,
}

fn grid(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_grid"));
    command.env(state::VARIABLE, folder.join("state"));
    command
}

fn up(folder: &Path) -> Command {
    let file = folder.join("two.grid.yaml");
    std::fs::write(&file, TWO).unwrap();
    let mut command = grid(folder);
    command.arg("up").arg(file);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

impl Up {
    fn new() -> Up {
        let folder = tempfile::tempdir().unwrap();
        let output = up(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        Up { folder }
    }

    /// Runs `work` on a host and returns its result: its sockets stay there.
    fn on<T: Send + 'static>(
        &self,
        host: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> thread::JoinHandle<T> {
        let tag = state::tag(&self.folder.path().join("state"));
        let namespace = namespaces::name(&tag, host);
        thread::spawn(move || {
            namespaces::enter(&namespace).unwrap();
            work()
        })
    }

    /// A connection from a host of cluster a to one of cluster `to.0`.
    fn connect(&self, from: &str, to: (usize, usize)) -> (TcpStream, TcpStream) {
        let address: Ipv4Addr = namespaces::address(to.0, to.1);
        let address = SocketAddrV4::new(address, PORT);
        let name = format!("{}{}", ["a", "b"][to.0], to.1);
        let listener = self
            .on(&name, move || TcpListener::bind(address).unwrap())
            .join()
            .unwrap();
        let out = self
            .on(from, move || TcpStream::connect(address).unwrap())
            .join()
            .unwrap();
        let (back, _) = listener.accept().unwrap();
        for end in [&out, &back] {
            end.set_nodelay(true).unwrap();
        }
        (out, back)
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = grid(self.folder.path()).arg("down").output();
    }
}

/// Half of the shortest of several round trips of one byte, in seconds.
fn one_way((mut out, mut back): (TcpStream, TcpStream)) -> f64 {
    const TRIPS: usize = 30;
    let mirror = thread::spawn(move || {
        let mut byte = [0];
        for _ in 0..TRIPS {
            back.read_exact(&mut byte).unwrap();
            back.write_all(&byte).unwrap();
        }
    });
    let mut byte = [1];
    let trips = (0..TRIPS).map(|_| {
        let began = Instant::now();
        out.write_all(&byte).unwrap();
        out.read_exact(&mut byte).unwrap();
        began.elapsed().as_secs_f64() / 2.0
    });
    let best = trips.fold(f64::INFINITY, f64::min);
    mirror.join().unwrap();
    best
}

/// The shortest of several times, in seconds, until all of `flows` have carried `bytes`, without
/// the latency of the first byte and of the answer.
fn carried(flows: Vec<(TcpStream, TcpStream)>, bytes: usize, way: f64) -> f64 {
    let mut flows = flows;
    let mut once = || {
        let began = Instant::now();
        thread::scope(|scope| {
            for (out, back) in &mut flows {
                scope.spawn(move || {
                    let mut buffer = vec![0; bytes];
                    back.read_exact(&mut buffer).unwrap();
                    back.write_all(&[1]).unwrap();
                });
                scope.spawn(move || {
                    out.write_all(&vec![1; bytes]).unwrap();
                    out.read_exact(&mut [0]).unwrap();
                });
            }
        });
        began.elapsed().as_secs_f64() - 2.0 * way
    };
    once(); // the connections adapt to the link
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

#[track_caller]
fn is_asked_for(found: f64, asked: f64, over: f64) {
    let part = found / asked;
    assert!(
        (0.97..1.0 + over).contains(&part),
        "{found} s measured, {asked} s asked for"
    );
}

#[test]
fn latencies_and_rates_are_those_of_the_file_and_flows_share_an_uplink() {
    let up = Up::new();
    is_asked_for(one_way(up.connect("a0", (0, 1))), 2e-3, 0.15);
    is_asked_for(one_way(up.connect("a0", (1, 0))), 10e-3, 0.10);
    let megabyte = 1_000_000;
    let seconds = |bytes: usize, mbit: f64| bytes as f64 * 8.0 * OVERHEAD / (mbit * 1e6);
    let within = carried(vec![up.connect("a0", (0, 1))], 4 * megabyte, 2e-3);
    is_asked_for(within, seconds(4 * megabyte, 400.0), 0.20);
    let alone = carried(vec![up.connect("a0", (1, 0))], 2 * megabyte, 10e-3);
    is_asked_for(alone, seconds(2 * megabyte, 100.0), 0.15);
    let flows = vec![up.connect("a0", (1, 0)), up.connect("a1", (1, 1))];
    let together = carried(flows, 2 * megabyte, 10e-3);
    is_asked_for(together, seconds(4 * megabyte, 100.0), 0.15);
}

/// A link that becomes ten times as long; other hosts are refused.
#[test]
fn links_can_be_changed_while_a_grid_is_up() {
    let up = Up::new();
    let change = |text: String| {
        let file = up.folder.path().join("next.grid.yaml");
        std::fs::write(&file, text).unwrap();
        grid(up.folder.path())
            .arg("change")
            .arg(file)
            .output()
            .unwrap()
    };
    let done = change(TWO.replace("latency_us: 2000", "latency_us: 20000"));
    assert!(done.status.success(), "{}", said(&done));
    is_asked_for(one_way(up.connect("a0", (0, 1))), 20e-3, 0.10);
    is_asked_for(one_way(up.connect("a0", (1, 0))), 10e-3, 0.10);
    let refused = change(TWO.replace("name: b", "name: c"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        said(&refused).contains("only links can be changed"),
        "{}",
        said(&refused)
    );
}

#[test]
fn a_grid_leaves_nothing_behind() {
    let allowed = || {
        let _alone = namespaces::Alone::now();
        std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
            .unwrap_or_default()
    };
    let before = allowed();
    let up = Up::new();
    assert_eq!(allowed(), before);
    let tag = state::tag(&up.folder.path().join("state"));
    let namespace = Path::new("/run/netns").join(namespaces::name(&tag, "a0"));
    assert!(namespace.exists());
    // On a host, its name and the names of the others.
    let output = grid(up.folder.path())
        .args(["on", "a1", "--", "sh", "-c", "hostname; getent hosts b0"])
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.starts_with("a1\n10.77.1.1 "), "{printed}");
    // A process that a launcher has left behind on a host.
    let mut left = grid(up.folder.path())
        .args(["on", "a1", "--", "sleep", "1000"])
        .spawn()
        .unwrap();
    while !is_on(&tag, "a1", "sleep") {
        thread::sleep(Duration::from_millis(20));
    }
    drop(up);
    assert!(!namespace.exists());
    assert!(!left.wait().unwrap().success());
}

/// True if a process with this name runs on a host.
fn is_on(tag: &str, host: &str, name: &str) -> bool {
    let output = Command::new("ip")
        .args(["netns", "pids", &namespaces::name(tag, host)])
        .output()
        .unwrap();
    let pids = String::from_utf8_lossy(&output.stdout).into_owned();
    pids.lines().any(|pid| {
        let command = std::fs::read_to_string(format!("/proc/{}/comm", pid.trim()));
        command.is_ok_and(|command| command.trim() == name)
    })
}

#[test]
fn two_grids_of_the_same_hosts_can_be_up() {
    let (one, other) = (Up::new(), Up::new());
    is_asked_for(one_way(one.connect("a0", (1, 0))), 10e-3, 0.15);
    is_asked_for(one_way(other.connect("a0", (1, 0))), 10e-3, 0.15);
    let again = up(one.folder.path()).output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(
        said(&again),
        "grid: a grid is up already; take it down with `grid down`\n"
    );
}

#[test]
fn without_the_rights_one_line_says_what_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = up(folder.path());
    let output = Command::new("setpriv")
        .args(["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"])
        .arg(wanted.get_program())
        .args(wanted.get_args())
        .env(state::VARIABLE, folder.path().join("state"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert!(said.contains("an emulated grid needs root"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!folder.path().join("state").exists());
}
