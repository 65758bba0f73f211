//! Waiting for files: `ppoll` and `pselect6`.

use super::files::{HostFile, Kind};
use super::schedule::Wait;
use super::user;
use super::{Process, Served, Stop};
use crate::Hart;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::sync::Arc;

const POLLIN: u16 = 1;
const POLLOUT: u16 = 4;
const POLLNVAL: u16 = 0x20;

/// Files of the host, and what is asked of each.
type Files = Vec<(Arc<HostFile>, PollFlags)>;

/// One file asked for, by the guest's numbers.
#[derive(Clone, Copy)]
struct Question {
    fd: i32,
    wanted: u16,
    answer: u16,
}

impl Process {
    /// Fills in the answers; how many are not empty. Also the files of the host that were asked.
    fn poll_once(&self, questions: &mut [Question]) -> Result<(usize, Files), Errno> {
        let mut hosts: Vec<(usize, Arc<HostFile>)> = Vec::new();
        for (i, q) in questions.iter_mut().enumerate() {
            q.answer = match q.fd {
                ..0 => 0,
                fd => match self.files.get(fd as u64) {
                    Err(_) => POLLNVAL,
                    Ok(file) => match &file.kind {
                        Kind::Host(host) => {
                            hosts.push((i, Arc::clone(host)));
                            0
                        }
                        Kind::Capture(_) => q.wanted & POLLOUT,
                        Kind::Signals(mask, _) if self.pending_signals() & mask == 0 => 0,
                        Kind::Signals(..) => q.wanted & POLLIN,
                        _ => q.wanted & (POLLIN | POLLOUT),
                    },
                },
            };
        }
        let wanted = |i: usize| PollFlags::from_bits_truncate(questions[i].wanted);
        let mut polls: Vec<PollFd> = hosts.iter().map(|(i, host)| PollFd::new(&**host, wanted(*i))).collect();
        if !polls.is_empty() {
            match rustix::event::poll(&mut polls, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
                Err(Errno::INTR) | Ok(_) => {}
                Err(e) => return Err(e),
            }
            let answers: Vec<u16> = polls.iter().map(|p| p.revents().bits()).collect();
            for ((i, _), answer) in hosts.iter().zip(answers) {
                questions[*i].answer = answer;
            }
        }
        let files = hosts
            .into_iter()
            .map(|(i, host)| (host, PollFlags::from_bits_truncate(questions[i].wanted)))
            .collect();
        Ok((questions.iter().filter(|q| q.answer != 0).count(), files))
    }

    /// Waits until something is ready or the time at `timeout` is up, with the signal mask at `mask` if that
    /// is not null; how many are ready.
    fn poll_or_wait(
        &mut self,
        hart: &mut Hart,
        questions: &mut [Question],
        timeout: u64,
        mask: u64,
    ) -> Served<usize> {
        if mask != 0 {
            let mask = user::read_u64(hart, mask)?;
            self.block_meanwhile(mask);
        }
        let (ready, files) = self.poll_once(questions)?;
        if ready > 0 {
            return Ok(ready);
        }
        for q in questions.iter().filter(|q| q.fd >= 0) {
            if let Ok(Kind::Signals(mask, _)) = self.files.get(q.fd as u64).map(|file| &file.kind) {
                self.threads.all[self.threads.current].suspended.awaited |= *mask;
            }
        }
        let until = match timeout {
            0 => None,
            _ => Some(self.waking_time(hart, timeout, None)?),
        };
        if until.is_some_and(|until| self.time.now(hart) >= until) {
            return Ok(0);
        }
        let why = "polls files that are not ready".to_owned();
        Err(Stop::Again(Wait { files, until, why, outside: true, ..Wait::default() }))
    }

    /// `ppoll(fds, count, timeout, mask, size)`.
    pub(super) fn sys_ppoll(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fds, count, timeout, mask, ..] = args;
        if count > self.files.limit as u64 {
            return Err(Errno::INVAL.into());
        }
        let mut questions = Vec::new();
        for i in 0..count {
            let bytes: [u8; 8] = user::read_array(hart, fds.wrapping_add(8 * i))?;
            let [a, b, c, d, e, f, ..] = bytes;
            let wanted = u16::from_le_bytes([e, f]);
            questions.push(Question { fd: i32::from_le_bytes([a, b, c, d]), wanted, answer: 0 });
        }
        let ready = self.poll_or_wait(hart, &mut questions, timeout, mask)?;
        self.tell_remaining(hart, 73, &args);
        for (i, q) in questions.iter().enumerate() {
            user::write(hart, fds.wrapping_add(8 * i as u64 + 6), &q.answer.to_le_bytes())?;
        }
        Ok(ready as u64)
    }

    /// `pselect6(count, read, write, except, timeout, mask)`.
    pub(super) fn sys_pselect6(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [count, read, write, except, timeout, mask] = args;
        if (count as i32) < 0 {
            return Err(Errno::INVAL.into());
        }
        let count = (count as u32).min(self.files.limit.max(super::files::MOST_FILES) as u32);
        let words = count.div_ceil(64) as usize;
        let mut sets = [(read, Vec::new()), (write, Vec::new()), (except, Vec::new())];
        for (at, bits) in &mut sets {
            for i in 0..words {
                bits.push(if *at == 0 { 0 } else { user::read_u64(hart, at.wrapping_add(8 * i as u64))? });
            }
        }
        const ASKS: [u16; 3] = [POLLIN, POLLOUT, 2];
        let has = |bits: &[u64], fd: u32| bits[fd as usize / 64] >> (fd % 64) & 1 == 1;
        let mut questions = Vec::new();
        for fd in 0..count {
            let asked = sets.iter().zip(ASKS).filter(|((_, bits), _)| has(bits, fd));
            let wanted = asked.fold(0, |wanted, (_, ask)| wanted | ask);
            if wanted != 0 {
                questions.push(Question { fd: fd as i32, wanted, answer: 0 });
            }
        }
        // The mask is behind a pointer, beside its size.
        let mask = if mask == 0 { 0 } else { user::read_u64(hart, mask)? };
        self.poll_or_wait(hart, &mut questions, timeout, mask)?;
        self.tell_remaining(hart, 72, &args);
        if questions.iter().any(|q| q.answer & POLLNVAL != 0) {
            return Err(Errno::BADF.into());
        }
        let mut total = 0;
        // An error or the other side's end makes a file ready for reading and writing.
        const READY: [u16; 3] = [POLLIN | 0x18, POLLOUT | 8, 2];
        for ((at, bits), ready) in sets.iter().zip(READY) {
            let mut answer = vec![0u64; words];
            for q in questions.iter().filter(|q| q.answer & ready != 0 && has(bits, q.fd as u32)) {
                answer[q.fd as usize / 64] |= 1 << (q.fd % 64);
                total += 1;
            }
            if *at != 0 {
                for (i, word) in answer.iter().enumerate() {
                    user::write_u64(hart, at.wrapping_add(8 * i as u64), *word)?;
                }
            }
        }
        Ok(total)
    }
}
