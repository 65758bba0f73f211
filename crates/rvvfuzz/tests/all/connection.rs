//! Connections to a real PostgreSQL server: with TLS of every kind, and cut off at every moment.

use crate::fleet::{PASSWORD, rvvfuzz, said};
use crate::server::Server;
use rvvfuzz::programs::settings::Settings;
use rvvfuzz::programs::store::{Place, Store};
use std::path::Path;
use std::process::Command;

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
