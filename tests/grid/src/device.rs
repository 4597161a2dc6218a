//! The TUN device of a host: packets out of its namespace and into it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::GridError;

/// The device's name in every namespace.
pub const NAME: &str = "eth0";
/// Length of the header that Linux puts before each packet (`virtio_net_hdr`).
const HEADER: usize = 10;
/// Length of a buffer for any packet with its header.
const LONGEST: usize = 66_000;
/// Bytes on the wire in addition to the IP packet: preamble, Ethernet header, checksum and the gap
/// between frames.
const FRAME: f64 = 38.0;
/// The byte of a TCP header whose upper half is the header's length in words.
const TCP_WORDS: usize = 12;

/// `IFF_VNET_HDR`, `TUNSETVNETHDRSZ`, `TUNSETOFFLOAD` and its flags: with them a packet has up to
/// 64 KiB, and a megabyte needs sixteen system calls instead of seven hundred.
const VNET_HEADER: libc::c_short = 0x4000;
const SET_IFF: libc::c_ulong = 0x4004_54ca;
const SET_HEADER_SIZE: libc::c_ulong = 0x4004_54d8;
const SET_OFFLOAD: libc::c_ulong = 0x4004_54d0;
const CHECKSUM_AND_SEGMENTS: libc::c_ulong = 0x01 | 0x02 | 0x04;

/// A packet in the form of the device.
#[derive(Debug, PartialEq, Eq)]
pub struct Packet(Vec<u8>);

impl Packet {
    /// Its destination; `None` if it is not IPv4.
    pub fn destination(&self) -> Option<Ipv4Addr> {
        let ip = self.0.get(HEADER..)?;
        let address: [u8; 4] = ip.get(16..20)?.try_into().ok()?;
        (ip[0] >> 4 == 4).then(|| Ipv4Addr::from(address))
    }

    /// The name of its connection: the ports of TCP and UDP, 0 if it has none.
    pub fn connection(&self) -> u32 {
        const TCP_AND_UDP: [u8; 2] = [6, 17];
        let protocol = self.0.get(HEADER + 9);
        let ports = self.0.get(HEADER + self.ip_header_bytes()..);
        let ports = ports.and_then(|rest| rest.first_chunk::<4>());
        match (protocol, ports) {
            (Some(protocol), Some(ports)) if TCP_AND_UDP.contains(protocol) => {
                u32::from_be_bytes(*ports)
            }
            _ => 0,
        }
    }

    /// Bytes on the wire, as if divided into frames.
    pub fn wire_bytes(&self) -> f64 {
        let length = self.0.len() - HEADER;
        let segment = usize::from(u16::from_ne_bytes([self.0[4], self.0[5]]));
        let is_cut = self.0[1] != 0 && segment > 0;
        let headers = self.header_bytes();
        let frames = match is_cut {
            true => length.saturating_sub(headers).div_ceil(segment).max(1),
            false => 1,
        };
        length as f64 + frames as f64 * FRAME + ((frames - 1) * headers) as f64
    }

    /// Bytes after the headers: 0 for a segment without data.
    pub fn payload_bytes(&self) -> u64 {
        (self.0.len() - HEADER).saturating_sub(self.header_bytes()) as u64
    }

    /// Bytes of the IP and the TCP header with their options, which each frame has.
    fn header_bytes(&self) -> usize {
        let ip = self.ip_header_bytes();
        ip + self.words(ip + TCP_WORDS, 4)
    }

    fn ip_header_bytes(&self) -> usize {
        self.words(0, 0)
    }

    /// A length in words, stored in half a byte of the packet, converted to bytes.
    fn words(&self, at: usize, shift: u8) -> usize {
        let byte = self.0.get(HEADER + at).copied().unwrap_or(0);
        usize::from(byte >> shift & 0xf) * 4
    }
}

/// The device of one host.
#[derive(Debug)]
pub struct Device(File);

impl Device {
    /// Creates the device in the namespace of this thread.
    ///
    /// # Errors
    /// The kernel has no TUN, or this user may not use it.
    pub fn create() -> Result<Device, GridError> {
        const REMEDY: &str = "the kernel needs TUN devices (/dev/net/tun), and this needs root";
        let failed = |what: &str| GridError::system(what, io::Error::last_os_error(), REMEDY);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")
            .map_err(|error| GridError::system("/dev/net/tun", error, REMEDY))?;
        // SAFETY: all zeros is a request without a name.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(NAME.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16 | VNET_HEADER;
        let size: libc::c_int = HEADER as libc::c_int;
        // SAFETY: the device is open, and each call gets the data that it reads.
        unsafe {
            if libc::ioctl(file.as_raw_fd(), SET_IFF, &raw const request) != 0 {
                return Err(failed("a TUN device"));
            }
            if libc::ioctl(file.as_raw_fd(), SET_HEADER_SIZE, &raw const size) != 0
                || libc::ioctl(file.as_raw_fd(), SET_OFFLOAD, CHECKSUM_AND_SEGMENTS) != 0
            {
                return Err(failed("large packets on a TUN device"));
            }
        }
        Ok(Device(file))
    }

    /// The file descriptor to wait for.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// A packet that the host sends; `None` if there is none now.
    pub fn take(&mut self) -> Option<Packet> {
        let mut buffer = vec![0; LONGEST];
        let length = self.0.read(&mut buffer).ok()?;
        buffer.truncate(length);
        (length > HEADER).then_some(Packet(buffer))
    }

    /// Passes a packet to the host. A host that cannot take it loses it, as on a real network.
    pub fn give(&mut self, packet: &Packet) {
        let _ = self.0.write(&packet.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A TCP packet with `payload` bytes in segments of 1,448, in the form of the device.
    fn tcp(payload: usize) -> Packet {
        const IP: usize = 20;
        const TCP: usize = 32; // with time stamps
        let mut bytes = vec![0; HEADER + IP + TCP + payload];
        bytes[1] = 1;
        bytes[4..6].copy_from_slice(&1_448_u16.to_ne_bytes());
        bytes[HEADER] = 0x45;
        bytes[HEADER + IP + TCP_WORDS] = 0x80;
        Packet(bytes)
    }

    #[test]
    fn a_large_packet_takes_as_much_of_the_wire_as_its_frames_would() {
        for (payload, frames) in [(1, 1), (1_448, 1), (1_449, 2), (2_896, 2), (65_160, 45)] {
            let apart = payload + frames * (52 + 38);
            assert_eq!(tcp(payload).wire_bytes(), apart as f64, "{payload} bytes");
        }
    }

    #[test]
    fn a_packet_that_is_too_short_for_its_headers_is_one_frame() {
        let packet = Packet(vec![1; HEADER + 3]);
        assert_eq!(packet.wire_bytes(), 3.0 + FRAME);
    }
}
