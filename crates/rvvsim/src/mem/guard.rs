//! What happens when a file is cut off under a mapping of it.
//!
//! The host sends SIGBUS to whoever touches a page of a mapping past the end of its file. A guest must not
//! end the emulator that way. So the first shared mapping of a file installs a handler that puts a page of
//! zeroes there, and the access goes on. A SIGBUS elsewhere has its default effect.

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// RAM of this process with mappings of files: start and end of each; 0 where there is none.
static WATCHED: [[AtomicUsize; 2]; 64] = [const { [const { AtomicUsize::new(0) }; 2] }; 64];
static INSTALL: Once = Once::new();

const PAGE: usize = super::PAGE as usize;

extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes the siginfo of a fault.
    let address = unsafe { (*info).si_addr() } as usize;
    let inside = |[start, end]: &[AtomicUsize; 2]| {
        let start = start.load(Ordering::Relaxed);
        start != 0 && (start..end.load(Ordering::Relaxed)).contains(&address)
    };
    // SAFETY: a page of a slab that is mapped; nobody has a reference to its bytes that the fault has not
    // interrupted, and zeroes are as good as any bytes. Otherwise the fault comes again, and ends the
    // process.
    unsafe {
        if WATCHED.iter().any(inside) {
            let page = (address & !(PAGE - 1)) as *mut libc::c_void;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            let prot = libc::PROT_READ | libc::PROT_WRITE;
            if libc::mmap(page, PAGE, prot, flags, -1, 0) != libc::MAP_FAILED {
                return;
            }
        }
        libc::signal(signal, libc::SIG_DFL);
    }
}

/// Watches RAM from `start` on.
///
/// # Errors
/// When too much is watched already.
pub fn watch(start: usize, len: usize) -> std::io::Result<()> {
    INSTALL.call_once(|| {
        // SAFETY: an all-zero sigaction is one; the handler does what is allowed in one.
        unsafe {
            let mut action = std::mem::zeroed::<libc::sigaction>();
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
        }
    });
    if WATCHED.iter().any(|[at, _]| at.load(Ordering::Relaxed) == start) {
        return Ok(());
    }
    for [at, end] in &WATCHED {
        if at.compare_exchange(0, start, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            end.store(start + len, Ordering::Relaxed);
            return Ok(());
        }
    }
    Err(std::io::Error::from(std::io::ErrorKind::OutOfMemory))
}

/// RAM that began there is no more.
pub fn forget(start: usize) {
    for [at, end] in &WATCHED {
        if at.load(Ordering::Relaxed) == start {
            end.store(0, Ordering::Relaxed);
            at.store(0, Ordering::Relaxed);
        }
    }
}
