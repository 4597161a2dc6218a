//! The process that carries packets: devices, the model, and the clock.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};

use treepie_platform::grid::Grid;

use crate::carried::Carried;
use crate::device::{Device, Packet};
use crate::model::{Model, Time};
use crate::{GridError, namespaces};

/// Number of packets taken from one host before the others.
const TURN: usize = 32;

static ENDS: AtomicBool = AtomicBool::new(false);
/// True if a report of the carried bytes is requested.
static ASKED: AtomicBool = AtomicBool::new(false);
/// True if the links have changed.
static CHANGES: AtomicBool = AtomicBool::new(false);

extern "C" fn end(_signal: libc::c_int) {
    ENDS.store(true, Ordering::Relaxed);
}

extern "C" fn ask(_signal: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}

extern "C" fn change(_signal: libc::c_int) {
    CHANGES.store(true, Ordering::Relaxed);
}

/// Communication of the server with the command that started it.
pub trait Folder {
    /// Reports that packets are carried from now on.
    ///
    /// # Errors
    /// The folder does not exist any more; also for the other methods.
    fn ready(&self) -> Result<(), GridError>;
    /// Reports the carried bytes, at SIGUSR1.
    ///
    /// # Errors
    /// See `ready`.
    fn tell(&self, carried: &str) -> Result<(), GridError>;
    /// Returns the grid with the links that apply from now on, at SIGUSR2.
    ///
    /// # Errors
    /// See `ready`.
    fn changed(&self) -> Result<Grid, GridError>;
}

/// Creates the devices, and carries packets until it is requested to end.
///
/// # Errors
/// The devices cannot be created.
pub fn serve(grid: &Grid, tag: &str, folder: &impl Folder) -> Result<(), GridError> {
    let addresses = namespaces::addresses(grid);
    let mut devices = Vec::new();
    for (host, &address) in grid.host_names().iter().zip(&addresses) {
        namespaces::enter(&namespaces::name(tag, host))?;
        devices.push(Device::create()?);
        namespaces::configure(address)?;
    }
    on_time();
    folder.ready()?;
    carry(grid, devices, &addresses, folder)
}

/// Requests the processor immediately when there is work, and timers without slack. Without
/// permission, delays are only less exact.
fn on_time() {
    let priority = libc::sched_param { sched_priority: 50 };
    let handler = end as extern "C" fn(libc::c_int) as libc::sighandler_t;
    let changes = change as extern "C" fn(libc::c_int) as libc::sighandler_t;
    let asked = ask as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: plain calls with values; the handlers only store a flag.
    unsafe {
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &priority);
        libc::prctl(libc::PR_SET_TIMERSLACK, 1000_u64);
        libc::signal(libc::SIGTERM, handler);
        libc::signal(libc::SIGINT, handler);
        libc::signal(libc::SIGUSR1, asked);
        libc::signal(libc::SIGUSR2, changes);
    }
}

fn now() -> Time {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn carry(
    grid: &Grid,
    mut devices: Vec<Device>,
    addresses: &[Ipv4Addr],
    folder: &impl Folder,
) -> Result<(), GridError> {
    let host_at: HashMap<Ipv4Addr, usize> = addresses
        .iter()
        .enumerate()
        .map(|(host, &address)| (address, host))
        .collect();
    let mut model: Model<Packet> = Model::new(grid);
    let mut carried = Carried::new(grid);
    let mut files: Vec<libc::pollfd> = devices
        .iter()
        .map(|device| libc::pollfd {
            fd: device.fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    while !ENDS.load(Ordering::Relaxed) {
        wait(&mut files, model.next());
        if ASKED.swap(false, Ordering::Relaxed) {
            folder.tell(&carried.to_string())?;
        }
        if CHANGES.swap(false, Ordering::Relaxed) {
            model.change(&folder.changed()?);
        }
        for (host, file) in files.iter().enumerate() {
            if file.revents & libc::POLLIN == 0 {
                continue;
            }
            for _ in 0..TURN {
                let Some(packet) = devices[host].take() else {
                    break;
                };
                let to = packet
                    .destination()
                    .and_then(|address| host_at.get(&address));
                if let Some(&to) = to {
                    let (bytes, connection) = (packet.wire_bytes(), packet.connection());
                    carried.add((host, to), packet.payload_bytes(), bytes);
                    model.send(now(), (host, to), connection, bytes, packet);
                }
            }
        }
        for delivered in model.advance(now()) {
            devices[delivered.to].give(&delivered.packet);
        }
    }
    Ok(())
}

/// Waits for a packet, or for the time of the next event.
fn wait(files: &mut [libc::pollfd], next: Option<Time>) {
    let left = next.map(|at| at.saturating_sub(now()));
    let timeout = left.map(|nanoseconds| libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the files are open devices; a null mask changes no signals.
    unsafe {
        libc::ppoll(
            files.as_mut_ptr(),
            files.len() as libc::nfds_t,
            timeout,
            std::ptr::null(),
        )
    };
}
