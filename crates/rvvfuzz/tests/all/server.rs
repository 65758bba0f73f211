//! A PostgreSQL server for tests: on a free port, in a folder that goes away.

use crate::fleet::PASSWORD;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A server of its own, on a free port, in a folder that goes away.
pub struct Server {
    programs: PathBuf,
    folder: TempDir,
    pub port: u16,
    /// Settings of the server.
    pub settings: String,
}

/// The newest PostgreSQL that Debian installs, or the one on PATH.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        versions.map(|v| v.path().join("bin")).filter(|p| p.join("initdb").exists()).collect();
    found.sort();
    let on_path = || std::env::split_paths(&std::env::var_os("PATH")?).find(|p| p.join("initdb").exists());
    found.pop().or_else(on_path)
}

impl Server {
    /// Starts one; `None`, said by name, where there is none.
    pub fn start(test: &str) -> Option<Server> {
        let skip = |why: &str| println!("{test}: skipped, {why}");
        let Some(programs) = programs() else {
            skip("no PostgreSQL (tools/setup installs it)");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("rvvfuzz-pg").tempdir_in("/tmp").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Server { programs, folder, port, settings: String::new() };
        std::fs::write(server.path("password"), PASSWORD).unwrap();
        if !server.give(server.folder.path()) {
            skip("root, and there is no user postgres");
            return None;
        }
        let data = server.path("data").display().to_string();
        let password = format!("--pwfile={}", server.path("password").display());
        let made =
            server.call("initdb", &["-D", &data, "-U", "fuzz", "-A", "scram-sha-256", "-N", &password]);
        assert!(made, "initdb");
        assert!(server.control("start"), "pg_ctl start");
        Some(server)
    }

    /// Gives a file to the user that the server runs as: it refuses to be root's.
    pub fn give(&self, path: &Path) -> bool {
        !is_root()
            || Command::new("chown").args(["-R", "postgres"]).arg(path).status().is_ok_and(|s| s.success())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn call(&self, program: &str, args: &[&str]) -> bool {
        let program = self.programs.join(program);
        let mut command = Command::new("runuser");
        match is_root() {
            true => command.args(["-u", "postgres", "--"]).arg(program),
            false => {
                command = Command::new(program);
                &mut command
            }
        };
        command.args(args).env("PGPASSWORD", PASSWORD).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    }

    pub fn control(&self, what: &str) -> bool {
        let (data, log) = (self.path("data").display().to_string(), self.path("log").display().to_string());
        let sockets = self.folder.path().display();
        let (port, more) = (self.port, &self.settings);
        let options = format!("-p {port} -k {sockets} -c listen_addresses=127.0.0.1 {more}");
        self.call("pg_ctl", &["-D", &data, "-l", &log, "-o", &options, "-m", "immediate", "-w", what])
    }

    /// Statements in a database.
    pub fn sql(&self, database: &str, sql: &str) {
        let port = self.port.to_string();
        let args = [
            "-h",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            "fuzz",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            database,
            "-c",
            sql,
        ];
        assert!(self.call("psql", &args), "psql: {sql}");
    }

    /// The address of a new database.
    pub fn database(&self, name: &str) -> String {
        let port = self.port.to_string();
        assert!(self.call("createdb", &["-h", "127.0.0.1", "-p", &port, "-U", "fuzz", name]), "createdb");
        format!("postgres://fuzz:{PASSWORD}@127.0.0.1:{port}/{name}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.control("stop");
    }
}

fn is_root() -> bool {
    let uid = Command::new("id").arg("-u").output();
    uid.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).trim() == "0")
}
