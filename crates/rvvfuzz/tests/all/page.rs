//! The page: asked over a socket as anybody may, with many verdicts, and looked at by a browser.

use rvvfuzz::programs::judge::outcome::{Kind, Outcome};
use rvvfuzz::programs::judge::vote::{Culprit, Verdict};
use rvvfuzz::programs::report::page;
use rvvfuzz::programs::serve::Server;
use rvvfuzz::programs::settings::Settings;
use rvvfuzz::programs::store::states::State;
use rvvfuzz::programs::store::{BatchRecord, Place, ProgramRecord, Reduction, Spent, Store};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const TOKEN: &str = "open sesame";

/// What would be seen if a text became part of the page.
const MARKUP: &str =
    "<img src=x onerror=\"document.title='executed'\"><script>document.title='executed'</script>\u{1b}[31m";

/// A campaign with a bug in gcc that is reduced and one that is not.
fn campaign(path: &Path) -> Store {
    let settings = Settings::default();
    let testbeds = settings.testbeds().unwrap();
    let names: Vec<String> = (0..testbeds.len()).map(|t| testbeds.name(t)).collect();
    let mut store = Store::create(path, &settings, &names).unwrap();
    let verdict = |symptom, detail: &str| Verdict {
        culprit: Culprit::Compiler("gcc-14".into()),
        symptom,
        testbeds: vec![0, 1],
        axes: vec!["level"],
        buffer: None,
        detail: detail.into(),
        early: Some(format!("gcc-14: {}: {MARKUP}", symptom.name())),
        fault: None,
    };
    let program = |number, symptom| ProgramRecord {
        number,
        outcomes: (0..names.len())
            .map(|n| Some(if n < 2 { Outcome::RuntimeCrash(MARKUP.into()) } else { Outcome::Pass }))
            .collect(),
        ir: Some("rvv-ir 1\n".into()),
        verdicts: vec![verdict(symptom, MARKUP)],
    };
    let batch = BatchRecord {
        count: 2,
        programs: vec![program(0, Kind::WrongOutput), program(1, Kind::RuntimeCrash)],
        ..BatchRecord::default()
    };
    let ids = store.save(&batch, Spent { clock: 5.0, cpu: 9.0 }).unwrap();
    let report = "# x\n\n## The function\n\n```c\nint reduced_function;\n```\n\n## Expected and actual\n\n\
                  | element | expected | got |\n|---|---|---|\n| out0[3] | 0x01 | 0x02 |\n\n## The guilty pass\n\npass 61, x\n";
    let reduction = Reduction {
        signature: Some("gcc-14: wrong output: vadd_vv vsub_vv".into()),
        report: Some(report.into()),
        c: Some("int reduced_c;\n".into()),
        ir: Some("rvv-ir 1\n".into()),
        bisect: false,
    };
    store.save_reduction(ids[0], &reduction).unwrap();
    store
}

/// A server in this process.
struct Served {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn start(store: &Path, token: Option<&str>, at: IpAddr) -> Served {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::new(&Place::from(store), token.map(str::to_string), at).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(&listener, &asked).unwrap());
        Served { address, stop, thread: Some(thread) }
    }

    /// Sends bytes; the status and all that came back.
    fn send(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let status = text.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        (status, text)
    }

    fn ask(&self, method: &str, path: &str, fields: &str, body: &str) -> (u16, String) {
        let length = body.len();
        let host = self.address;
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
        );
        self.send(text.as_bytes())
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, "", "")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[test]
fn a_page_is_asked_for_in_many_ways() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    // The campaign goes on: it has the file.
    let mut store = campaign(&path);
    let served = Served::start(&path, Some(TOKEN), HERE);
    for (address, has) in [
        ("/", "2 new bugs"),
        ("/?state=new&q=vsub", "vadd_vv vsub_vv"),
        ("/campaign", "Coverage over time"),
        ("/bug/1", "int reduced_function"),
        ("/bug/2", "&lt;script&gt;"),
        ("/bug/1/bugzilla.txt", "Summary: RISC-V V: wrong code: vadd_vv vsub_vv"),
        ("/bug/1/github.md", "Title: [RISCV] wrong code: vadd_vv vsub_vv"),
        ("/bug/1/bug.tar", "rvvfuzz-1/bug.c"),
        ("/login", "type=\"password\""),
    ] {
        let (status, text) = served.get(address);
        assert!(status == 200 && text.contains(has), "{address}: {text}");
        assert!(
            text.contains("Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self'")
        );
        assert!(!text.contains(TOKEN) && !text.contains('\u{1b}'), "{address}");
    }
    let (_, filtered) = served.get("/?q=vsub");
    assert!(!filtered.contains("href=\"/bug/2\""));
    // What is odd is answered in a sentence, and nothing else happens.
    for (address, status) in [
        ("/bug/99", 404),
        ("/bug/-1", 404),
        ("/bug/1/../../etc/passwd", 404),
        ("/bug/99999999999999999999", 404),
        ("/%00%2e%2e/", 404),
        ("/?page=99999999999999999999&q=%ff%00<>", 200),
        ("/bug/1/state", 404),
        ("//", 200),
    ] {
        assert_eq!(served.get(address).0, status, "{address}");
    }
    assert_eq!(served.send(b"\x16\x03\x01 what\r\n\r\n").0, 400);
    assert_eq!(served.send(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").0, 403);
    assert_eq!(served.send(&[b'a'; 40_000]).0, 431);
    assert_eq!(served.ask("PUT", "/bug/1/state", "", "").0, 405);
    let (status, head) = served.ask("HEAD", "/", "", "");
    assert!(status == 200 && head.ends_with("\r\n\r\n"));
    // A state is set by who has the token, from this page.
    let form = "state=known&note=PR+123+%3Cb%3E";
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(served.ask("POST", "/bug/1/state", "", form).0, 401);
    assert_eq!(served.ask("POST", "/bug/1/state", "Authorization: Bearer guessed!\r\n", form).0, 401);
    let foreign = format!("{bearer}Origin: http://evil.example\r\n");
    assert_eq!(served.ask("POST", "/bug/1/state", &foreign, form).0, 403);
    assert_eq!(served.ask("POST", "/bug/1/state", &bearer, "state=great").0, 400);
    assert_eq!(served.ask("POST", "/bug/77/state", &bearer, form).0, 400);
    assert!(store.states().unwrap().is_empty());
    assert_eq!(served.ask("POST", "/bug/1/state", &bearer, form).0, 303);
    assert!(served.get("/bug/1").1.contains("known PR: PR 123 &lt;b&gt;"));
    assert_eq!(store.states().unwrap()[&1].state, State::Known);
    // With the cookie that the form gives.
    assert_eq!(served.ask("POST", "/login", "", "token=wrong").0, 403);
    let (status, answer) = served.ask("POST", "/login", "", "token=open+sesame");
    assert!(status == 303 && answer.contains("HttpOnly; SameSite=Strict"), "{answer}");
    let cookie = answer.split("Set-Cookie: ").nth(1).unwrap().split(';').next().unwrap();
    let with_cookie = format!("Cookie: {cookie}\r\n");
    assert!(served.ask("GET", "/bug/1", &with_cookie, "").1.contains("action=\"/bug/1/state\""));
    assert_eq!(served.ask("POST", "/bug/1/state", &with_cookie, "state=fixed&note=15.3").0, 303);
    assert!(served.get("/").1.contains("1 new bug, 1 other<"));
    // What is found now is there soon.
    let batch = BatchRecord { first: 2, count: 1, ..BatchRecord::default() };
    store.save(&batch, Spent { clock: 6.0, cpu: 10.0 }).unwrap();
    let patience = Instant::now() + Duration::from_secs(20);
    while !served.get("/").1.contains("3 programs") {
        assert!(Instant::now() < patience, "the page stays as it was");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn without_a_token_nothing_is_changed_and_with_one_others_need_it_to_look() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    let store = campaign(&path);
    let served = Served::start(&path, None, HERE);
    let (status, text) = served.ask("POST", "/bug/1/state", "", "state=fixed&note=x");
    assert!(status == 403 && text.contains("read-only"), "{text}");
    assert!(store.states().unwrap().is_empty() && served.get("/").1.contains("read only"));
    drop(served);
    // As if it listened to everybody.
    let served = Served::start(&path, Some(TOKEN), IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    for address in ["/", "/bug/1", "/bug/1/bug.tar", "/campaign", "/nothing"] {
        let (status, text) = served.get(address);
        assert!(status == 401 && !text.contains("vadd_vv"), "{address}: {text}");
    }
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(served.ask("GET", "/", &bearer, "").0, 200);
    drop(served);
    // The command refuses at once.
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rvvfuzz"));
        let output =
            command.args(args).current_dir(folder.path()).env_remove("RVVFUZZ_TOKEN").output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = run(&["serve", "--store", "c.db", "--listen", "0.0.0.0:0"]);
    assert!(code == Some(2) && text.contains("give a token"), "{text}");
    std::fs::write(folder.path().join("token"), "short\n").unwrap();
    let (code, text) = run(&["serve", "--store", "c.db", "--token-file", "token"]);
    assert!(code == Some(2) && text.contains("at least 8"), "{text}");
    let (code, text) = run(&["serve", "--store", "none.db"]);
    assert!(code == Some(2) && text.contains("there is no such file"), "{text}");
}

#[test]
fn a_terminal_is_told_nothing_but_text() {
    let folder = tempfile::tempdir().unwrap();
    drop(campaign(&folder.path().join("c.db")));
    let all: [&[&str]; 6] = [
        &["show"],
        &["show", "2"],
        &["show", "2", "--all"],
        &["show", "1", "--c"],
        &["show", "--all"],
        &["export", "2"],
    ];
    for args in all {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rvvfuzz"));
        let output =
            command.args(args).args(["--store", "c.db"]).current_dir(folder.path()).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        let text = [output.stdout, output.stderr].concat();
        assert!(!text.contains(&0x1b), "{args:?}: {}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn many_who_say_nothing_keep_nobody_out_for_long() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    drop(campaign(&path));
    let served = Served::start(&path, None, HERE);
    let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(served.address).unwrap()).collect();
    let begin = Instant::now();
    while served.get("/").0 != 200 {
        assert!(begin.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(begin.elapsed() < Duration::from_secs(20));
    drop(silent);
}

/// A campaign with so many verdicts, of a thousandth as many bugs.
fn large(path: &Path, verdicts: u64) {
    drop(campaign(path));
    let db = rusqlite::Connection::open(path).unwrap();
    let sql = format!(
        "with recursive n(i) as (select 10 union all select i + 1 from n where i < {verdicts} + 9)
         insert into verdicts select i, i, 'compiler', 'gcc-14', 'wrong output', '[0, 1, 5]', 'level', hex(zeroblob(1000)),
             'gcc-14: wrong output: operations ' || (i % 1000), 'rvv-ir 1', 'int x;', null from n;
         with recursive n(i) as (select 10 union all select i + 1 from n where i < {verdicts} + 9)
         insert into notes select i, 'early', null from n;
         with recursive n(i) as (select 10 union all select i + 1 from n where i < {verdicts} + 9)
         insert into programs select i, '.ww.c.', 'rvv-ir 1' from n;"
    );
    db.execute_batch(&sql).unwrap();
}

#[test]
fn a_hundred_thousand_verdicts_are_shown_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    large(&path, 100_000);
    let served = Served::start(&path, Some(TOKEN), HERE);
    let pages = [
        "/",
        "/?q=operations+7&state=new",
        "/?page=5",
        "/campaign",
        "/bug/10",
        "/bug/99999",
        "/bug/1",
        "/bug/55/bug.tar",
    ];
    for address in pages {
        // By the clock, on a machine that does other things, too: the best of some.
        let time = |_| {
            let begin = Instant::now();
            let (status, text) = served.get(address);
            assert!(status == 200 && text.len() > 500, "{address}: {text}");
            begin.elapsed()
        };
        let best = (0..5).map(time).min().unwrap();
        println!("{address}: {:.1} ms", best.as_secs_f64() * 1000.0);
        assert!(best < Duration::from_millis(200), "{address}: {best:?}");
    }
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    let time = |_| {
        let begin = Instant::now();
        assert_eq!(served.ask("POST", "/bug/10/state", &bearer, "state=fixed&note=15").0, 303);
        begin.elapsed()
    };
    let times: Vec<Duration> = (0..5).map(time).collect();
    println!("a state is set: {times:.1?}");
    assert!(times.iter().min().is_some_and(|t| *t < Duration::from_millis(200)), "{times:?}");
    // What is told of a state at once is the same when the store is read again.
    std::thread::sleep(Duration::from_millis(300));
    assert!(served.get("/bug/10").1.contains("fixed in: 15"));
}

/// A browser that is driven by chromedriver.
struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts one; `None`, said by name, where there is none.
    fn start(test: &str, dark: bool, width: u32) -> Option<Browser> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("chromedriver");
        command
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let Ok(driver) = command.spawn() else {
            println!("{test}: skipped, no chromedriver (Debian's package chromium-driver)");
            return None;
        };
        let mut browser = Browser { driver, port, session: String::new() };
        let size = format!("--window-size={width},1000");
        let colours = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
        let flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            &size,
            &colours,
        ];
        let asked = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": { "args": flags } } } });
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(answer) = browser.call("POST", "", &asked) {
                match answer["value"]["sessionId"].as_str() {
                    Some(session) => {
                        browser.session = format!("/{session}");
                        return Some(browser);
                    }
                    None => {
                        println!("{test}: skipped, no chromium: {}", answer["value"]["message"]);
                        return None;
                    }
                }
            }
            assert!(Instant::now() < patience, "chromedriver does not answer");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        let text = format!(
            "{method} /session{}{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            self.session,
            body.len()
        );
        stream.write_all(text.as_bytes()).ok()?;
        let mut answer = Vec::new();
        let mut chunk = [0; 65536];
        loop {
            let n = stream.read(&mut chunk).ok()?;
            answer.extend_from_slice(&chunk[..n]);
            let at = answer.windows(4).position(|w| w == b"\r\n\r\n");
            if let Some(at) = at {
                let head = String::from_utf8_lossy(&answer[..at]).to_ascii_lowercase();
                let length = head
                    .lines()
                    .find_map(|l| l.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
                if n == 0 || length.is_some_and(|length| answer.len() >= at + 4 + length) {
                    return serde_json::from_slice(&answer[at + 4..]).ok();
                }
            }
            if n == 0 {
                return None;
            }
        }
    }

    fn open(&self, address: &str) {
        self.call("POST", "/url", &json!({ "url": address })).unwrap();
    }

    /// What a script returns.
    fn run(&self, script: &str) -> Value {
        let answer = self.call("POST", "/execute/sync", &json!({ "script": script, "args": [] })).unwrap();
        assert!(answer["value"]["error"].is_null(), "{script}: {answer}");
        answer["value"].clone()
    }

    /// Waits until a script says so.
    fn wait(&self, script: &str) {
        let patience = Instant::now() + Duration::from_secs(30);
        while self.run(&format!("return Boolean({script})")) != json!(true) {
            assert!(Instant::now() < patience, "{script}: {}", self.run("return document.body.innerText"));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses keys, as a person does.
    fn press(&self, keys: &str) {
        let of = |c: char| {
            [
                json!({ "type": "keyDown", "value": c.to_string() }),
                json!({ "type": "keyUp", "value": c.to_string() }),
            ]
        };
        let all: Vec<Value> = keys.chars().flat_map(of).collect();
        let actions = json!({ "actions": [{ "type": "key", "id": "keys", "actions": all }] });
        self.call("POST", "/actions", &actions).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.call("DELETE", "", &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

const ENTER: &str = "\u{e007}";

#[test]
fn a_person_looks_filters_opens_and_sets_a_state() {
    let Some(browser) = Browser::start("a_person_looks", false, 1200) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    let store = campaign(&path);
    let served = Served::start(&path, Some(TOKEN), HERE);
    let base = format!("http://{}", served.address);
    browser.open(&base);
    let rows = "document.querySelectorAll('.bugs li').length";
    browser.wait(&format!("{rows} == 2"));
    // A filter is chosen.
    browser.run(
        "const s = document.querySelector('select[name=symptom]'); s.value = 'wrong output'; \
         s.dispatchEvent(new Event('change', { bubbles: true }));",
    );
    browser.wait(&format!("location.search.includes('symptom=wrong') && {rows} == 1"));
    // The keyboard opens the bug.
    browser.press("j");
    browser.wait("document.querySelector('.bugs li.here')");
    browser.press(ENTER);
    browser.wait("location.pathname == '/bug/1' && document.querySelector('pre').textContent.includes('reduced_function')");
    assert_eq!(browser.run("return document.querySelector('.got').textContent"), json!("0x02"));
    // Texts of a store are texts.
    browser.open(&format!("{base}/bug/2"));
    browser.wait("document.querySelector('h1')");
    assert_eq!(browser.run("return document.querySelectorAll('img, main script, iframe').length"), json!(0));
    assert!(!browser.run("return document.title").as_str().unwrap().contains("executed"));
    // The token, and a state.
    browser.open(&format!("{base}/login"));
    browser.wait("document.querySelector('input[name=token]')");
    browser.run(&format!("document.querySelector('input[name=token]').value = '{TOKEN}'; document.querySelector('form').submit()"));
    browser.wait("location.pathname == '/' && document.querySelector('.bugs')");
    browser.open(&format!("{base}/bug/1"));
    browser.wait("document.querySelector('form.state')");
    browser.run(
        "document.querySelector('form.state select').value = 'fixed'; document.querySelector('form.state input').value = '16.1'; \
         document.querySelector('form.state button').click()",
    );
    browser.wait(
        "document.querySelector('.chip.fixed') && document.querySelector('form.state input').value == '16.1'",
    );
    assert_eq!(store.states().unwrap()[&1].state, State::Fixed);
    browser.press("u");
    browser.wait("location.pathname == '/' && document.querySelectorAll('.chip.fixed').length == 1");
}

#[test]
fn a_file_is_the_same_page_without_a_server() {
    let Some(browser) = Browser::start("a_file_is_the_same_page", true, 500) else { return };
    let folder = tempfile::tempdir().unwrap();
    let store = campaign(&folder.path().join("c.db"));
    let file = folder.path().join("p.html");
    std::fs::write(&file, page::file(&store).unwrap()).unwrap();
    browser.open(&format!("file://{}", file.display()));
    let shown = "[...document.querySelectorAll('.bugs li')].filter(r => !r.hidden).length";
    browser.wait(&format!("{shown} == 2"));
    browser.run(
        "const i = document.querySelector('form.filters input'); i.value = 'VSUB'; \
         i.dispatchEvent(new Event('input', { bubbles: true }));",
    );
    browser.wait(&format!("{shown} == 1"));
    browser.press("j");
    browser.press(ENTER);
    browser.wait("document.getElementById('bug-1').open && location.hash == '#bug-1'");
    assert!(!browser.run("return document.title").as_str().unwrap().contains("executed"));
    // Dark, and no wider than a phone.
    assert_eq!(
        browser.run("return getComputedStyle(document.body).backgroundColor"),
        json!("rgb(19, 20, 23)")
    );
    assert_eq!(browser.run("return document.documentElement.scrollWidth <= innerWidth"), json!(true));
}
