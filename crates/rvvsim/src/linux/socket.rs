//! Sockets.
//!
//! In the sandbox there are pairs of sockets only, and sockets of the network as far as [`super::Net`] grants
//! it. Unix sockets are files: one with a path can be reached by who may see the host's files.

use super::files::{HostFile, Kind, flag};
use super::host::socket::{self, LONGEST_ADDRESS, Message};
use super::io::{Parts, wait_to_read, wait_to_write};
use super::options::Net;
use super::schedule::Wait;
use super::signal::{Info, SIGPIPE};
use super::user;
use super::{Process, Served, Stop};
use crate::Hart;
use rustix::event::PollFlags;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use std::sync::Arc;

const AF_UNIX: i32 = 1;
const AF_INET: i32 = 2;
const AF_INET6: i32 = 10;
const AF_NETLINK: i32 = 16;
const SOCK_KIND: i32 = 15;
const SOL_SOCKET: i32 = 1;
const SCM_RIGHTS: i32 = 1;
const SOCK_RAW: i32 = 3;
const MSG_DONTWAIT: u64 = 0x40;
const MSG_NOSIGNAL: u64 = 0x4000;
const MSG_CMSG_CLOEXEC: u64 = 0x4000_0000;
const MSG_CTRUNC: i32 = 8;
/// Bytes of one message, of control messages, and of an option.
const LARGEST_MESSAGE: usize = 1 << 20;
const LARGEST_CONTROL: usize = 8 << 10;
const LARGEST_OPTION: usize = 4 << 10;
/// Descriptors in one message, as on Linux.
const MOST_DESCRIPTORS: usize = 253;

impl Process {
    /// The socket of a descriptor, and whether its calls wait.
    fn socket(&self, fd: u64) -> Result<(Arc<HostFile>, bool), Errno> {
        let file = self.files.get(fd)?;
        let waits = file.flags & flag::NONBLOCK == 0;
        match &file.kind {
            Kind::Host(host) if socket::is_one(&**host) => Ok((Arc::clone(host), waits)),
            _ => Err(Errno::NOTSOCK),
        }
    }

    fn add_socket(&mut self, fd: OwnedFd, flags: u32) -> Result<u64, Errno> {
        let flags = flag::RDWR | flags & (flag::NONBLOCK | flag::CLOEXEC);
        self.files.add(Kind::Host(Arc::new(HostFile::socket(fd))), flags)
    }

    /// `socket(domain, type, protocol)`.
    pub(super) fn sys_socket(&mut self, domain: u64, kind: u64, protocol: u64) -> Served {
        let (domain, kind) = (domain as i32, kind as i32);
        let granted = match domain {
            // Whatever the host's user may have.
            _ if self.owns_host_process() && self.options.net == Net::All => true,
            AF_UNIX => self.options.host_fs,
            AF_INET | AF_INET6 => self.options.net != Net::None && kind & SOCK_KIND != SOCK_RAW,
            AF_NETLINK => self.options.net == Net::All && self.options.host_fs,
            _ => return Err(Errno::AFNOSUPPORT.into()),
        };
        if !granted {
            let error = if domain == AF_NETLINK { Errno::AFNOSUPPORT } else { Errno::ACCESS };
            return Err(error.into());
        }
        let made = socket::new(domain, kind & SOCK_KIND, protocol as i32)?;
        Ok(self.add_socket(made, kind as u32)?)
    }

    /// `socketpair(domain, type, protocol, fds)`.
    pub(super) fn sys_socketpair(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [domain, kind, protocol, fds, ..] = args;
        if domain as i32 != AF_UNIX && !self.owns_host_process() {
            return Err(Errno::OPNOTSUPP.into());
        }
        let kind = kind as i32;
        let [first, second] = socket::pair(domain as i32, kind & SOCK_KIND, protocol as i32)?;
        let first = self.add_socket(first, kind as u32)?;
        let second = match self.add_socket(second, kind as u32) {
            Ok(second) => second,
            Err(e) => {
                self.files.close(first)?;
                return Err(e.into());
            }
        };
        let written = user::write_u64(hart, fds, first | second << 32);
        if let Err(e) = written {
            self.files.close(first)?;
            self.files.close(second)?;
            return Err(e.into());
        }
        Ok(0)
    }

    /// The address at a place in memory, if the guest may use it.
    fn read_address(&self, hart: &mut Hart, at: u64, len: u64) -> Result<Vec<u8>, Errno> {
        if len as i32 <= 0 || len as usize > LONGEST_ADDRESS {
            return Err(Errno::INVAL);
        }
        let mut address = vec![0; len as usize];
        user::read(hart, at, &mut address)?;
        self.check_address(&address)?;
        Ok(address)
    }

    /// Whether the guest may bind to an address or reach it.
    fn check_address(&self, address: &[u8]) -> Result<(), Errno> {
        let Some(family) = address.first_chunk().map(|b| i32::from(u16::from_le_bytes(*b))) else {
            return Err(Errno::INVAL);
        };
        match (family, self.options.net) {
            (AF_UNIX, _) if self.options.host_fs => Ok(()),
            (AF_UNIX, _) => Err(Errno::ACCESS),
            (_, Net::None) => Err(Errno::ACCESS),
            (_, Net::All) => Ok(()),
            (AF_INET, Net::Loopback) => match address.get(4) {
                Some(127) => Ok(()),
                _ => Err(Errno::ACCESS),
            },
            (AF_INET6, Net::Loopback) => {
                let ip: [u8; 16] =
                    address.get(8..24).and_then(|ip| ip.try_into().ok()).ok_or(Errno::INVAL)?;
                let ip = std::net::Ipv6Addr::from(ip);
                let loopback = ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback());
                if loopback { Ok(()) } else { Err(Errno::ACCESS) }
            }
            // AF_UNSPEC ends an association.
            (0, Net::Loopback) => Ok(()),
            _ => Err(Errno::ACCESS),
        }
    }

    /// A Unix socket's path, as the host knows it: absolute ones are looked up as all paths are.
    fn host_address(&self, address: Vec<u8>) -> Vec<u8> {
        let is_path = address.len() > 3 && address[..2] == (AF_UNIX as u16).to_le_bytes() && address[2] != 0;
        if !is_path {
            return address;
        }
        let name = address[2..].split(|&b| b == 0).next().unwrap_or_default();
        let full = super::sandbox::join(&self.fs.cwd, name);
        let mut host = address[..2].to_vec();
        host.extend_from_slice(&full);
        host.push(0);
        // A path that is too long when it is absolute is left relative to where the emulator was started.
        if host.len() <= 110 { host } else { address }
    }

    /// `bind(fd, address, len)`.
    pub(super) fn sys_bind(&mut self, hart: &mut Hart, fd: u64, at: u64, len: u64) -> Served {
        let (file, _) = self.socket(fd)?;
        let mut address = self.read_bind_address(hart, at, len)?;
        address = self.host_address(address);
        socket::bind(file.as_fd(), &address)?;
        Ok(0)
    }

    /// As [`Process::read_address`]; with the loopback network only, "any address" is the loopback one.
    fn read_bind_address(&self, hart: &mut Hart, at: u64, len: u64) -> Result<Vec<u8>, Errno> {
        if len as i32 <= 0 || len as usize > LONGEST_ADDRESS {
            return Err(Errno::INVAL);
        }
        let mut address = vec![0; len as usize];
        user::read(hart, at, &mut address)?;
        if self.options.net == Net::Loopback {
            match address.first_chunk().map(|b| i32::from(u16::from_le_bytes(*b))) {
                Some(AF_INET) if address.get(4..8) == Some(&[0; 4]) => {
                    address[4..8].copy_from_slice(&[127, 0, 0, 1]);
                }
                Some(AF_INET6) if address.get(8..24) == Some(&[0; 16]) => address[23] = 1,
                _ => {}
            }
        }
        self.check_address(&address)?;
        Ok(address)
    }

    /// `connect(fd, address, len)`.
    pub(super) fn sys_connect(&mut self, hart: &mut Hart, fd: u64, at: u64, len: u64) -> Served {
        let (file, waits) = self.socket(fd)?;
        let address = self.read_address(hart, at, len)?;
        if self.me().suspended.connecting {
            if !is_ready(&file, PollFlags::OUT) {
                return Err(Stop::Again(Wait::file(&file, PollFlags::OUT, "connects to a socket")));
            }
            let mut error = [0; 4];
            const SO_ERROR: i32 = 4;
            socket::option(file.as_fd(), SOL_SOCKET, SO_ERROR, &mut error)?;
            return match i32::from_le_bytes(error) {
                // Until it is asked again, the host would tell the next one who connects that it succeeds.
                0 => match socket::connect(file.as_fd(), &self.host_address(address)) {
                    Ok(()) | Err(Errno::ISCONN) => Ok(0),
                    Err(other) => Err(other.into()),
                },
                number => Err(Errno::from_raw_os_error(number).into()),
            };
        }
        let address = self.host_address(address);
        match socket::connect(file.as_fd(), &address) {
            Err(Errno::INPROGRESS) if waits => {
                self.me_mut().suspended.connecting = true;
                Err(Stop::Again(Wait::file(&file, PollFlags::OUT, "connects to a socket")))
            }
            // A Unix socket whose queue is full.
            Err(Errno::AGAIN) if waits => {
                let moment = std::time::Duration::from_millis(1);
                Err(Stop::Again(Wait::moment(moment, "connects to a socket")))
            }
            other => {
                other?;
                Ok(0)
            }
        }
    }

    /// `listen(fd, backlog)`.
    pub(super) fn sys_listen(&mut self, fd: u64, backlog: u64) -> Served {
        let (file, _) = self.socket(fd)?;
        self.confine(&file);
        socket::listen(file.as_fd(), backlog as i32)?;
        Ok(0)
    }

    /// With the loopback network only: a socket that has no address yet gets a loopback one, before the host
    /// gives it one that can be reached from elsewhere.
    fn confine(&self, file: &HostFile) {
        if self.options.net != Net::Loopback {
            return;
        }
        let Ok(mut name) = socket::name(file.as_fd()) else { return };
        let family = name.first_chunk().map(|b| i32::from(u16::from_le_bytes(*b)));
        if name.get(2..4) != Some(&[0, 0]) {
            return;
        }
        match family {
            Some(AF_INET) if name.len() >= 8 => name[4..8].copy_from_slice(&[127, 0, 0, 1]),
            Some(AF_INET6) if name.len() >= 24 => name[23] = 1,
            _ => return,
        }
        let _ = socket::bind(file.as_fd(), &name);
    }

    /// `accept4(fd, address, len, flags)`.
    pub(super) fn sys_accept4(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, at, len_at, flags, ..] = args;
        if flags as u32 & !(flag::NONBLOCK | flag::CLOEXEC) != 0 {
            return Err(Errno::INVAL.into());
        }
        let (file, waits) = self.socket(fd)?;
        let (accepted, address) = match socket::accept(file.as_fd()) {
            Err(Errno::AGAIN) if waits => {
                return Err(Stop::Again(Wait::file(&file, PollFlags::IN, "waits for a connection")));
            }
            other => other?,
        };
        write_address(hart, at, len_at, &address)?;
        Ok(self.add_socket(accepted, flags as u32)?)
    }

    /// `getsockname(fd, address, len)` and `getpeername`.
    pub(super) fn sys_getsockname(&mut self, hart: &mut Hart, args: [u64; 6], peer: bool) -> Served {
        let [fd, at, len_at, ..] = args;
        let (file, _) = self.socket(fd)?;
        let address = if peer { socket::peer(file.as_fd())? } else { socket::name(file.as_fd())? };
        write_address(hart, at, len_at, &address)?;
        Ok(0)
    }

    /// `shutdown(fd, how)`.
    pub(super) fn sys_shutdown(&mut self, fd: u64, how: u64) -> Served {
        socket::shutdown(self.socket(fd)?.0.as_fd(), how as i32)?;
        Ok(0)
    }

    /// `setsockopt(fd, level, name, value, len)`.
    pub(super) fn sys_setsockopt(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, level, name, at, len, _] = args;
        let (file, _) = self.socket(fd)?;
        if len as usize > LARGEST_OPTION {
            return Err(Errno::INVAL.into());
        }
        let mut value = vec![0; len as usize];
        user::read(hart, at, &mut value)?;
        // Options with pointers or descriptors in them: filters.
        const FILTERS: [i32; 5] = [26, 27, 50, 51, 52];
        if level as i32 == SOL_SOCKET && FILTERS.contains(&(name as i32)) {
            return Err(Errno::PERM.into());
        }
        socket::set_option(file.as_fd(), level as i32, name as i32, &value)?;
        Ok(0)
    }

    /// `getsockopt(fd, level, name, value, len)`.
    pub(super) fn sys_getsockopt(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, level, name, at, len_at, _] = args;
        let (file, _) = self.socket(fd)?;
        let room = (user::read_u32(hart, len_at)? as usize).min(LARGEST_OPTION);
        let mut value = vec![0; room];
        let mut len = socket::option(file.as_fd(), level as i32, name as i32, &mut value)?;
        const SO_PEERCRED: u64 = 17;
        if level as i32 == SOL_SOCKET && name == SO_PEERCRED && len >= 12 {
            let pid = value.first_chunk().map_or(0, |b| i32::from_le_bytes(*b));
            let pid = self.family.map_or(self.identity.pid, |family| family.guest_id(pid));
            value[..4].copy_from_slice(&pid.to_le_bytes());
            if !self.options.host_fs {
                value[4..8].copy_from_slice(&self.identity.uid.to_le_bytes());
                value[8..12].copy_from_slice(&self.identity.gid.to_le_bytes());
            }
        }
        len = len.min(room);
        user::write(hart, at, &value[..len])?;
        user::write_u32(hart, len_at, len as u32)?;
        Ok(0)
    }

    /// `sendto(fd, buf, len, flags, address, address_len)`.
    pub(super) fn sys_sendto(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, buf, len, flags, at, address_len] = args;
        let address = match at {
            0 => Vec::new(),
            _ => self.host_address(self.read_address(hart, at, address_len)?),
        };
        self.send_message(hart, fd, &Parts::one(buf, len), flags, address, Vec::new())
    }

    /// `recvfrom(fd, buf, len, flags, address, address_len)`.
    pub(super) fn sys_recvfrom(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, buf, len, flags, at, len_at] = args;
        let room = if at == 0 { 0 } else { LONGEST_ADDRESS };
        let (n, message) = self.receive_message(hart, fd, &Parts::one(buf, len), flags, room, 0)?;
        if at != 0 {
            write_address(hart, at, len_at, &message.address)?;
        }
        Ok(n)
    }

    /// `sendmsg(fd, header, flags)`.
    pub(super) fn sys_sendmsg(&mut self, hart: &mut Hart, fd: u64, header: u64, flags: u64) -> Served {
        let head = Header::read(hart, header)?;
        let address = match (head.name, head.name_len) {
            (0, _) | (_, 0) => Vec::new(),
            (at, len) => self.host_address(self.read_address(hart, at, u64::from(len))?),
        };
        let parts = Parts::read(hart, head.parts, head.count)?;
        let mut control = vec![0; head.control_len.min(LARGEST_CONTROL as u64) as usize];
        if head.control_len > LARGEST_CONTROL as u64 {
            return Err(Errno::NOBUFS.into());
        }
        user::read(hart, head.control, &mut control)?;
        let kept = self.descriptors_to_host(&mut control)?;
        let sent = self.send_message(hart, fd, &parts, flags, address, control);
        drop(kept);
        sent
    }

    /// `recvmsg(fd, header, flags)`.
    pub(super) fn sys_recvmsg(&mut self, hart: &mut Hart, fd: u64, header: u64, flags: u64) -> Served {
        let head = Header::read(hart, header)?;
        let parts = Parts::read(hart, head.parts, head.count)?;
        let name_room = if head.name == 0 { 0 } else { LONGEST_ADDRESS };
        let control_room = head.control_len.min(LARGEST_CONTROL as u64) as usize;
        let (n, mut message) = self.receive_message(hart, fd, &parts, flags, name_room, control_room)?;
        self.descriptors_to_guest(&mut message, flags & MSG_CMSG_CLOEXEC != 0)?;
        if head.name != 0 {
            let len = message.address.len().min(head.name_len as usize);
            user::write(hart, head.name, &message.address[..len])?;
            user::write_u32(hart, header.wrapping_add(8), message.address.len() as u32)?;
        }
        user::write(hart, head.control, &message.control)?;
        user::write_u64(hart, header.wrapping_add(40), message.control.len() as u64)?;
        user::write_u32(hart, header.wrapping_add(48), message.flags as u32)?;
        Ok(n)
    }

    /// `sendmmsg(fd, headers, count, flags)`.
    pub(super) fn sys_sendmmsg(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, headers, count, flags, ..] = args;
        self.each_message(hart, headers, count, |process, hart, header| {
            process.sys_sendmsg(hart, fd, header, flags)
        })
    }

    /// `recvmmsg(fd, headers, count, flags, timeout)`.
    pub(super) fn sys_recvmmsg(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, headers, count, flags, ..] = args;
        const WAITFORONE: u64 = 0x1_0000;
        self.each_message(hart, headers, count, |process, hart, header| {
            process.sys_recvmsg(hart, fd, header, flags & !WAITFORONE)
        })
    }

    fn each_message(
        &mut self,
        hart: &mut Hart,
        headers: u64,
        count: u64,
        mut serve: impl FnMut(&mut Process, &mut Hart, u64) -> Served,
    ) -> Served {
        let mut done = 0;
        for i in 0..count.min(1024) {
            let header = headers.wrapping_add(64 * i);
            match serve(self, hart, header) {
                Ok(n) => user::write_u32(hart, header.wrapping_add(56), n as u32)?,
                Err(_) if done > 0 => break,
                Err(stop) => return Err(stop),
            }
            done += 1;
        }
        Ok(done)
    }

    fn send_message(
        &mut self,
        hart: &mut Hart,
        fd: u64,
        parts: &Parts,
        flags: u64,
        address: Vec<u8>,
        control: Vec<u8>,
    ) -> Served {
        let (file, waits) = self.socket(fd)?;
        let waits = waits && flags & MSG_DONTWAIT == 0;
        let start = self.me().suspended.written.min(parts.total);
        let mut data = vec![0; (parts.total - start).min(LARGEST_MESSAGE)];
        let len = data.len();
        parts.each(start, start + len, |address, part| user::read(hart, address, &mut data[part]))?;
        if !address.is_empty() {
            self.confine(&file);
        }
        let message = Message { data: &mut data, address, control, flags: 0 };
        match socket::send(file.as_fd(), message, flags as i32) {
            Ok(n) => {
                let done = start + n;
                let stream = self.is_stream(&file);
                if done < parts.total && n > 0 && waits && stream {
                    self.me_mut().suspended.written = done;
                    return Err(wait_to_write(&file));
                }
                Ok(done as u64)
            }
            Err(Errno::AGAIN) if waits => Err(wait_to_write(&file)),
            Err(_) if start > 0 => Ok(start as u64),
            Err(Errno::PIPE) => {
                if flags & MSG_NOSIGNAL == 0 {
                    let info = Info::sent(SIGPIPE, 0, self.identity.pid, self.identity.uid);
                    let _ = self.send_to(self.threads.current, info);
                }
                Err(Errno::PIPE.into())
            }
            Err(e) => Err(e.into()),
        }
    }

    fn is_stream(&self, file: &HostFile) -> bool {
        const SO_TYPE: i32 = 3;
        let mut kind = [0; 4];
        socket::option(file.as_fd(), SOL_SOCKET, SO_TYPE, &mut kind).is_ok() && kind[0] == 1
    }

    fn receive_message(
        &mut self,
        hart: &mut Hart,
        fd: u64,
        parts: &Parts,
        flags: u64,
        address_room: usize,
        control_room: usize,
    ) -> Served<(u64, Message<'static>)> {
        let (file, waits) = self.socket(fd)?;
        let waits = waits && flags & MSG_DONTWAIT == 0;
        const WAITALL: u64 = 0x100;
        const TRUNC: u64 = 0x20;
        const PEEK: u64 = 2;
        // What had come of a message that is to be whole.
        let start = self.me().suspended.written.min(parts.total);
        let mut data = vec![0; (parts.total - start).min(LARGEST_MESSAGE)];
        let (address, control) = (vec![0; address_room], vec![0; control_room]);
        let mut message = Message { data: &mut data, address, control, flags: 0 };
        let flags_passed = flags & !(WAITALL | MSG_CMSG_CLOEXEC);
        let received = socket::receive(file.as_fd(), &mut message, flags_passed as i32);
        let Message { address, control, flags: message_flags, .. } = message;
        let n = match received {
            Err(Errno::AGAIN) if waits => return Err(wait_to_read(&file)),
            Err(_) if start > 0 => return Ok((start as u64, empty_message())),
            other => other?,
        };
        let there = n.min(data.len());
        parts.each(start, start + there, |address, part| user::write(hart, address, &data[part]))?;
        let done = start + there;
        let wants_all = flags & WAITALL != 0 && flags & PEEK == 0 && waits && n > 0;
        if wants_all && done < parts.total && self.is_stream(&file) {
            self.me_mut().suspended.written = done;
            return Err(wait_to_read(&file));
        }
        let answer = if flags & TRUNC != 0 { start + n } else { done };
        Ok((answer as u64, Message { data: &mut [], address, control, flags: message_flags }))
    }

    /// The descriptors in control messages become the host's. What is returned must live until they are sent.
    fn descriptors_to_host(&self, control: &mut [u8]) -> Result<Vec<Arc<HostFile>>, Errno> {
        let mut kept = Vec::new();
        for (level, kind, range) in control_messages(control) {
            if level != SOL_SOCKET || kind != SCM_RIGHTS {
                // Credentials are the host's to fill in.
                return Err(Errno::INVAL);
            }
            for word in control[range].chunks_exact_mut(4) {
                if kept.len() >= MOST_DESCRIPTORS {
                    return Err(Errno::INVAL);
                }
                let fd = word.first_chunk().map_or(-1, |b| i32::from_le_bytes(*b));
                let file = self.files.host(fd as u32 as u64, Errno::INVAL)?;
                // What is bounded, or not the guest's to change, would come back as a file like any other.
                if !self.options.host_fs && (file.kept.is_some() || file.is_standard) {
                    return Err(Errno::PERM);
                }
                word.copy_from_slice(&file.as_fd().as_raw_fd().to_le_bytes());
                kept.push(file);
            }
        }
        Ok(kept)
    }

    /// The descriptors in control messages become the guest's.
    fn descriptors_to_guest(&mut self, message: &mut Message, cloexec: bool) -> Result<(), Errno> {
        for (level, kind, range) in control_messages(&message.control) {
            if level != SOL_SOCKET || kind != SCM_RIGHTS {
                continue;
            }
            for word in message.control[range].chunks_exact_mut(4) {
                let host = word.first_chunk().map_or(-1, |b| i32::from_le_bytes(*b));
                let Some(fd) = socket::adopt(host) else { continue };
                let access = rustix::fs::fcntl_getfl(&fd).map_or(0, |flags| flags.bits() & flag::ACCMODE);
                let _ = rustix::io::ioctl_fionbio(&fd, true);
                let flags = access | if cloexec { flag::CLOEXEC } else { 0 };
                match self.files.add(Kind::Host(Arc::new(HostFile::received(fd))), flags) {
                    Ok(fd) => word.copy_from_slice(&(fd as u32).to_le_bytes()),
                    Err(_) => {
                        word.copy_from_slice(&(-1_i32).to_le_bytes());
                        message.flags |= MSG_CTRUNC;
                    }
                }
            }
        }
        Ok(())
    }
}

fn empty_message() -> Message<'static> {
    Message { data: &mut [], address: Vec::new(), control: Vec::new(), flags: 0 }
}

fn is_ready(file: &HostFile, events: PollFlags) -> bool {
    let mut poll = [rustix::event::PollFd::new(file, events)];
    let at_once = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(rustix::event::poll(&mut poll, Some(&at_once)), Ok(1..))
}

/// `struct msghdr`.
struct Header {
    name: u64,
    name_len: u32,
    parts: u64,
    count: u64,
    control: u64,
    control_len: u64,
}

impl Header {
    fn read(hart: &mut Hart, at: u64) -> Result<Header, Errno> {
        let mut word = |i: u64| user::read_u64(hart, at.wrapping_add(8 * i));
        Ok(Header {
            name: word(0)?,
            name_len: word(1)? as u32,
            parts: word(2)?,
            count: word(3)?,
            control: word(4)?,
            control_len: word(5)?,
        })
    }
}

/// Level, type and where the data is, of each control message.
fn control_messages(control: &[u8]) -> Vec<(i32, i32, std::ops::Range<usize>)> {
    const HEAD: usize = 16;
    let mut messages = Vec::new();
    let mut at = 0;
    while let Some(head) = control.get(at..at + HEAD) {
        let len = head.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        let number = |from: usize| head[from..].first_chunk().map_or(0, |b| i32::from_le_bytes(*b));
        let Ok(len) = usize::try_from(len) else { break };
        if len < HEAD || at.checked_add(len).is_none_or(|end| end > control.len()) {
            break;
        }
        messages.push((number(8), number(12), at + HEAD..at + len));
        at += len.next_multiple_of(8);
    }
    messages
}

/// Writes an address as the kernel does: cut to the room there is, with its whole length.
fn write_address(hart: &mut Hart, at: u64, len_at: u64, address: &[u8]) -> Result<(), Errno> {
    if at == 0 {
        return Ok(());
    }
    let room = user::read_u32(hart, len_at)?;
    if room as i32 <= -1 {
        return Err(Errno::INVAL);
    }
    user::write(hart, at, &address[..address.len().min(room as usize)])?;
    user::write_u32(hart, len_at, address.len() as u32)
}
