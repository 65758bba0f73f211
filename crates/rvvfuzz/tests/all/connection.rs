//! Connections to a real PostgreSQL server: with TLS of every kind, and cut off at every moment.

use crate::fleet::{PASSWORD, rvvfuzz, said};
use crate::server::Server;
use rvvfuzz::programs::judge::outcome::{Kind, Outcome};
use rvvfuzz::programs::judge::vote::{Culprit, Verdict};
use rvvfuzz::programs::settings::Settings;
use rvvfuzz::programs::store::lease::{Leases, Next, Worked};
use rvvfuzz::programs::store::orders::Order;
use rvvfuzz::programs::store::states::State;
use rvvfuzz::programs::store::{BatchRecord, Place, ProgramRecord, Reduction, Store, StoreError};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// Calls `openssl`; false where there is none.
fn openssl(folder: &Path, line: &str) -> bool {
    let mut command = Command::new("openssl");
    let done = command.args(line.split(' ')).current_dir(folder).output();
    let Ok(output) = done else { return false };
    assert!(output.status.success(), "openssl {line}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

/// A key, and a certificate that signs itself.
fn self_signed(folder: &Path, name: &str, subject: &str) -> bool {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    openssl(folder, &format!("req -x509 {key} -subj /CN={subject} -keyout {name}.key -out {name}.crt"))
}

/// A key, and a certificate that the root signs, for these other names.
fn signed(folder: &Path, name: &str, subject: &str, names: &str) {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(folder, &format!("req {key} -subj /CN={subject} -keyout {name}.key -out {name}.csr"));
    std::fs::write(folder.join("names"), names).unwrap();
    let by = "-CA root.crt -CAkey root.key -CAcreateserial -days 2 -extfile names";
    openssl(folder, &format!("x509 -req -in {name}.csr {by} -out {name}.crt"));
}

/// The server with this certificate, and these lines in pg_hba.conf.
fn with_certificate(server: &mut Server, folder: &Path, name: &str, access: &str) {
    for file in [format!("{name}.crt"), format!("{name}.key"), "root.crt".to_string()] {
        std::fs::copy(folder.join(&file), server.path(&file)).unwrap();
        assert!(server.give(&server.path(&file)));
    }
    std::fs::write(server.path("data").join("pg_hba.conf"), access).unwrap();
    let at = |file: &str| server.path(file).display().to_string();
    server.settings = format!(
        "-c ssl=on -c ssl_cert_file={} -c ssl_key_file={} -c ssl_ca_file={}",
        at(&format!("{name}.crt")),
        at(&format!("{name}.key")),
        at("root.crt")
    );
    assert!(server.control("restart"), "pg_ctl restart");
}

/// Only connections with TLS.
const ENCRYPTED: &str = "hostssl all all 127.0.0.1/32 scram-sha-256\n";

#[test]
fn tls_is_what_users_of_libpq_expect() {
    let Some(mut server) = Server::start("tls_is_what_users_of_libpq_expect") else { return };
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    if !self_signed(folder, "root", "root") {
        println!("tls_is_what_users_of_libpq_expect: skipped, no openssl (tools/setup installs it)");
        return;
    }
    self_signed(folder, "other", "root");
    self_signed(folder, "alone", "localhost");
    signed(folder, "server", "db", "subjectAltName=DNS:localhost");
    signed(folder, "client", "fuzz", "extendedKeyUsage=clientAuth");
    let store = server.database("tls");
    let names = ["a".to_string()];
    let begin = |store: &str| Store::create(store.parse::<Place>().unwrap(), &Settings::default(), &names);
    drop(begin(&format!("{store}?sslmode=prefer")).unwrap());
    // What `show` says of the campaign with these options of the address and variables.
    let show = |store: &str, host: &str, options: &str, variables: &[(&str, &str)]| {
        let store = store.replace("127.0.0.1", host) + options;
        let mut command = rvvfuzz(folder, &["show", "--store", &store]);
        command.env("HOME", folder).envs(variables.iter().copied());
        let output = command.output().unwrap();
        (output.status.code() == Some(0), said(&output))
    };
    // `said` looks for the password in everything that is told.
    let check = |host: &str, options: &str, variables: &[(&str, &str)], says: &str| {
        let (done, text) = show(&store, host, options, variables);
        assert_eq!(done, says.is_empty(), "{host} {options} {variables:?}: {text}");
        assert!(text.contains(says), "{host} {options} {variables:?}: {text}");
    };
    let local = "127.0.0.1";
    // A server that has none.
    check(
        local,
        "?sslmode=require",
        &[],
        "the server has no TLS, and sslmode=require asks for it; set `ssl = on`",
    );
    check(local, "?sslmode=allow", &[], "");
    check(local, "", &[("PGSSLMODE", "verify-full")], "sslmode=verify-full needs the root certificate");
    // One that has: it takes nobody without it.
    with_certificate(&mut server, folder, "server", ENCRYPTED);
    check(local, "?sslmode=disable", &[], "no encryption");
    for mode in ["require", "prefer", "allow"] {
        check(local, &format!("?sslmode={mode}"), &[], "");
    }
    check("localhost", "?sslmode=verify-full&sslrootcert=root.crt", &[], "");
    check("localhost", "", &[("PGSSLMODE", "verify-full"), ("PGSSLROOTCERT", "root.crt")], "");
    check(local, "?sslmode=verify-ca&sslrootcert=root.crt", &[], "");
    check(local, "?sslmode=verify-full&sslrootcert=root.crt", &[], "not valid for name");
    let stranger = "is not signed by the root that";
    check("localhost", "?sslmode=verify-full&sslrootcert=other.crt", &[], stranger);
    check("localhost", "?sslmode=verify-ca&sslrootcert=other.crt", &[], stranger);
    // A root that is there is used in weaker modes, too.
    std::fs::create_dir(folder.join(".postgresql")).unwrap();
    let standard = folder.join(".postgresql/root.crt");
    std::fs::copy(folder.join("other.crt"), &standard).unwrap();
    check(local, "?sslmode=require", &[], stranger);
    std::fs::copy(folder.join("root.crt"), &standard).unwrap();
    check("localhost", "?sslmode=verify-full", &[], "");
    // A certificate instead of a password.
    let store_without = store.replace(&format!(":{PASSWORD}"), "");
    with_certificate(&mut server, folder, "server", "hostssl all all 127.0.0.1/32 cert\n");
    let (done, text) = show(&store_without, local, "?sslmode=require", &[]);
    assert!(!done && text.contains("valid client certificate"), "{text}");
    let (done, text) =
        show(&store_without, local, "?sslmode=require&sslcert=client.crt&sslkey=client.key", &[]);
    assert!(done, "{text}");
    // A password file, which nobody else may read.
    with_certificate(&mut server, folder, "alone", ENCRYPTED);
    let passwords = folder.join("passwords");
    std::fs::write(&passwords, format!("localhost:*:tls:fuzz:{PASSWORD}\n")).unwrap();
    let file = passwords.display().to_string();
    // And a certificate that signs itself, with a common name only, is its own root.
    let alone = "?sslmode=verify-full&sslrootcert=alone.crt";
    for (mode, says) in [(0o644, "others may read the passwords"), (0o600, "")] {
        std::fs::set_permissions(&passwords, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        let (done, text) = show(&store_without, "localhost", alone, &[("PGPASSFILE", &file)]);
        assert!(done == says.is_empty() && text.contains(says), "{text}");
    }
    check(local, alone, &[], "not valid for name");
    check("localhost", "?sslmode=verify-full&sslrootcert=root.crt", &[], stranger);
}

/// What is between a worker and its server, and cuts the connection once: before it passes on the server's
/// answer of this number, or the worker's request.
struct Wire {
    port: u16,
    /// Parts that may still pass, of answers, of requests, and of answers that something is stored; below 0,
    /// all may.
    left: Arc<[AtomicI64; 3]>,
}

impl Wire {
    fn new(server: u16) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let left = Arc::new([const { AtomicI64::new(-1) }; 3]);
        let counts = Arc::clone(&left);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let both =
                    [(server.try_clone(), client.try_clone()), (client.try_clone(), server.try_clone())];
                for (n, (from, to)) in both.into_iter().enumerate() {
                    let (Ok(from), Ok(to), counts) = (from, to, Arc::clone(&counts)) else { continue };
                    std::thread::spawn(move || pass(from, to, &counts, n));
                }
            }
        });
        Wire { port, left }
    }

    /// Cuts the connection before the answer (0), the request (1) or the answer to a commit (2) of this
    /// number.
    fn cut(&self, which: usize, after: i64) {
        self.left[which].store(after, Ordering::SeqCst);
    }

    /// Whether the cut was made; after that, there is none.
    fn was_cut(&self, which: usize) -> bool {
        self.left[which].swap(-1, Ordering::SeqCst) < 0
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, left: &[AtomicI64; 3], which: usize) {
    let ends =
        |count: &AtomicI64| count.load(Ordering::SeqCst) >= 0 && count.fetch_sub(1, Ordering::SeqCst) == 0;
    let mut part = [0; 65536];
    while let Ok(n) = from.read(&mut part) {
        let commits = which == 0 && part[..n].windows(7).any(|w| w == b"COMMIT\0");
        if n == 0 || ends(&left[which]) || (commits && ends(&left[2])) || to.write_all(&part[..n]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// All that a worker asks of a store, once. The programs that it took.
fn all_that_a_worker_does(place: &Place, seed: u64) -> u64 {
    // Who cannot connect says so; `rvvfuzz work` tries again.
    let again = |what: &dyn Fn() -> Result<(Leases, Store), StoreError>| {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            match what() {
                Ok(done) => return done,
                Err(error) => {
                    assert!(matches!(error, StoreError::Lost { .. }) && Instant::now() < patience, "{error}");
                    assert!(error.to_string().contains("the same command goes on"), "{error}");
                }
            }
        }
    };
    let (leases, mut store) = again(&|| {
        let (leases, _) = Leases::join(place, Duration::from_secs(600))?;
        Ok((leases.measuring(|_| true), Store::shared(place)?))
    });
    let Next::Programs(first, count) = leases.take(2).unwrap() else { panic!("nothing to do") };
    let verdict = Verdict::new(Culprit::Compiler("gcc".into()), Kind::BuildCrash, "in f".into());
    let program = |number| ProgramRecord {
        number,
        outcomes: vec![Some(Outcome::BuildCrash("in f".into()))],
        ir: Some("rvv-ir 1\n".into()),
        verdicts: vec![Verdict { testbeds: vec![0], ..verdict.clone() }],
    };
    let programs = (first..first + count).map(program).collect();
    let batch = BatchRecord { first, count, seconds: 0.25 + seed as f64, programs, ..BatchRecord::default() };
    let worked = Worked { worker: leases.worker(), seconds: 600.0, reduces: false, able: leases.ability() };
    let ids = store.save_leased(&batch, 1.0, &worked).unwrap().expect("it was this worker's");
    assert_eq!(ids.len() as u64, count);
    let text = |t: String| Some(t);
    for id in &ids {
        let finding = leases.take_finding(&|_| true).unwrap().expect("there is something to reduce");
        assert!(ids.contains(&finding.verdict.id) && finding.reduced.is_none());
        let (signature, ir) = (text(format!("bug {id}")), text("rvv-ir 1\n".into()));
        let reduction = Reduction { signature, ir, c: None, report: text("# r".into()), bisect: true };
        let to_bisect =
            store.save_leased_reduction(finding.verdict.id, &reduction, leases.worker(), 600.0).unwrap();
        assert!(to_bisect, "it is this worker's to bisect");
        store.save_leased_bisection(finding.verdict.id, Some("# with the pass"), leases.worker()).unwrap();
    }
    let order = Order {
        settings: Settings { seed, ..Settings::default() },
        seconds: 1.0,
        cpu: false,
        jobs: 1,
        version: "1".into(),
    };
    let ordered = store.order_all(std::slice::from_ref(&order), 0).unwrap();
    assert_eq!(leases.take(2).unwrap(), Next::Measure(ordered[0].id, Box::new(order)));
    assert!(store.save_measurement(ordered[0].id, "{}", leases.worker()).unwrap());
    leases.renew(count, 1.0).unwrap();
    store.set_state(ids[0], State::Fixed, "16").unwrap();
    assert_eq!(store.queue().unwrap(), [], "it has something of which it was not told");
    leases.release().unwrap();
    first
}

#[test]
fn a_connection_may_be_lost_in_every_state() {
    let Some(server) = Server::start("a_connection_may_be_lost_in_every_state") else { return };
    let address = server.database("lost");
    let place: Place = address.parse().unwrap();
    let settings = Settings { batch: 2, schedules: vec!["unit".into()], ..Settings::default() };
    drop(Store::create(&place, &settings, &["a".into()]).unwrap());
    let wire = Wire::new(server.port);
    let over: Place = address.replace(&server.port.to_string(), &wire.port.to_string()).parse().unwrap();
    // Where an answer is lost after something was stored matters most. All states take minutes:
    // `RVVFUZZ_CUTS=1`.
    let step = std::env::var("RVVFUZZ_CUTS").ok().and_then(|n| n.parse().ok()).unwrap_or(13);
    let mut seed = 0;
    let mut firsts = Vec::new();
    for (which, step) in [(2, 1), (0, step), (1, step)] {
        let before = firsts.len();
        for after in (0..).step_by(step) {
            wire.cut(which, after);
            firsts.push(all_that_a_worker_does(&over, seed));
            seed += 1;
            if !wire.was_cut(which) {
                break;
            }
        }
        // Each is cut often, and the commits of a worker are many.
        assert!(
            firsts.len() - before > if which == 2 { 10 } else { 100 / step },
            "{which}: {}",
            firsts.len()
        );
    }
    println!("the connection was cut in {} states", firsts.len() - 3);
    // Nothing is lost, nothing is there twice, and nobody has anything.
    let store = Store::read(&place).unwrap();
    let done = store.done().unwrap();
    firsts.sort_unstable();
    assert_eq!(done.keys().copied().collect::<Vec<_>>(), firsts);
    let programs: u64 = done.values().sum();
    assert_eq!(done.last_key_value().map(|(first, count)| first + count), Some(programs));
    let verdicts = store.verdicts().unwrap();
    assert_eq!(verdicts.len() as u64, programs);
    assert!(verdicts.iter().all(|v| v.report_md.as_deref() == Some("# with the pass")));
    assert_eq!(store.queue().unwrap(), []);
    assert_eq!(store.states().unwrap().len(), firsts.len());
    assert_eq!(store.cpu().unwrap(), firsts.len() as f64);
}
