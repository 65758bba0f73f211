//! `rvvfuzz serve`: the page of a campaign, live.
//!
//! A thread reads the store now and then and makes a [`Site`] of it; requests are answered from the last one,
//! so that a page takes no longer with many verdicts than with few. One bug is read when somebody asks for
//! it.

pub(in crate::programs) mod http;

use super::command::export;
use super::report::entries::Filter;
use super::report::page::{self, Mode, Site};
use super::report::{Selected, view::View};
use super::store::states::State;
use super::store::{Place, Store, StoreError};
use http::{Answer, Refusal, Request};
use rand::RngCore;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The cookie of who has given the token.
const COOKIE: &str = "rvvfuzz";

/// At most this share of a processor goes into reading the store again.
const SHARE: u32 = 20;

/// A server of one campaign.
pub struct Server {
    place: Place,
    token: Option<String>,
    /// What the cookie of those is who have given the token.
    session: String,
    /// Whoever reaches the address may look: it is this machine's own.
    loopback: bool,
    selected: Selected,
    site: RwLock<Arc<Site>>,
    /// Why the store was not read the last time.
    trouble: Mutex<Option<String>>,
    /// For single bugs.
    reader: Mutex<Store>,
    /// For states.
    writer: Mutex<Option<Store>>,
    /// Somebody has changed something.
    changed: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether two texts are the same, in a time that does not say where they part.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (x, y)| all | (x ^ y)) == 0
}

impl Server {
    /// A server of the campaign in a store, to listen at this address.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn new(place: &Place, token: Option<String>, address: IpAddr) -> Result<Server, StoreError> {
        let store = Store::read(place)?;
        let selected = Selected::read(&store)?;
        let site = RwLock::new(Arc::new(Site::read(&store, &selected)?));
        let mut secret = [0; 24];
        rand::rng().fill_bytes(&mut secret);
        // Opening a large store takes a while: not when somebody waits. One that cannot be written says so
        // then.
        let writer = token.as_ref().and_then(|_| Store::annotate(place).ok());
        let session = secret.iter().map(|b| format!("{b:02x}")).collect();
        Ok(Server {
            place: place.clone(),
            token,
            session,
            loopback: address.is_loopback(),
            selected,
            site,
            trouble: Mutex::new(None),
            reader: Mutex::new(store),
            writer: Mutex::new(writer),
            changed: AtomicBool::new(false),
        })
    }

    /// Answers until `stop` is set.
    ///
    /// # Errors
    /// When nobody can be listened to.
    pub fn run(&self, listener: &TcpListener, stop: &AtomicBool) -> io::Result<()> {
        std::thread::scope(|scope| {
            scope.spawn(|| self.keep_reading(stop));
            let refuse = |(status, why): Refusal| Answer::page(status, page::sentence("No", why));
            let result = http::serve(listener, page::POLICY, stop, &|request| self.answer(request), &refuse);
            stop.store(true, Ordering::Relaxed);
            result
        })
    }

    fn site(&self) -> Arc<Site> {
        Arc::clone(&self.site.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the store again and again, for a share of the time.
    fn keep_reading(&self, stop: &AtomicBool) {
        let mut store: Option<Store> = None;
        let mut next = Instant::now() + Duration::from_secs(2);
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(100));
            if Instant::now() < next && !self.changed.swap(false, Ordering::Relaxed) {
                continue;
            }
            let begin = Instant::now();
            let opened = match store.take() {
                Some(store) => Ok(store),
                None => Store::read(&self.place),
            };
            let read = opened.and_then(|opened| {
                let site = Site::read(&opened, &self.selected)?;
                store = Some(opened);
                Ok(site)
            });
            let trouble = match read {
                Ok(site) => {
                    *self.site.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(site);
                    None
                }
                Err(error) => Some(error.to_string()),
            };
            *lock(&self.trouble) = trouble;
            next = Instant::now() + (SHARE * begin.elapsed()).max(Duration::from_secs(2));
        }
    }

    /// Whether who asks may change something.
    fn writes(&self, request: &Request) -> bool {
        let Some(token) = &self.token else { return false };
        let bearer = request.field("authorization").and_then(|v| v.strip_prefix("Bearer "));
        request.cookie(COOKIE).is_some_and(|cookie| same(cookie, &self.session))
            || bearer.is_some_and(|given| same(given.trim(), token))
    }

    fn answer(&self, request: &Request) -> Answer {
        let said = |status, text: &str| Answer::page(status, page::sentence("No", text));
        // A name that leads here and is somebody else's could read this page for its own.
        let host = request.field("host").unwrap_or_default();
        if self.loopback && !is_local(host) {
            return said(403, "this page is for this machine: ask for localhost or 127.0.0.1");
        }
        match request.path.as_str() {
            "/style.css" => return Answer::text("text/css; charset=utf-8", page::STYLE),
            "/script.js" => return Answer::text("text/javascript; charset=utf-8", page::SCRIPT),
            _ => {}
        }
        if request.method == "POST" {
            return self.change(request, host);
        }
        if request.path == "/login" && self.token.is_some() {
            return Answer::page(200, page::login(None));
        }
        let writes = self.writes(request);
        if !self.loopback && !writes {
            return Answer::page(401, page::login(None));
        }
        let mode = Mode::Server { writes, login: self.token.is_some() };
        match self.page(request, mode) {
            Ok(Some(answer)) => answer,
            Ok(None) => said(404, "there is nothing at this address"),
            Err(error) => said(503, &error.to_string()),
        }
    }

    fn page(&self, request: &Request, mode: Mode) -> Result<Option<Answer>, StoreError> {
        let site = self.site();
        let asked = |name: &str| -> String { request.asked(name).chars().take(300).collect() };
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        let mut answer = match parts.as_slice() {
            [""] => {
                let filter = Filter {
                    words: asked("q"),
                    compiler: asked("compiler"),
                    version: asked("version"),
                    level: asked("level"),
                    symptom: asked("symptom"),
                    state: asked("state"),
                };
                let page = request.asked("page").parse().unwrap_or(0);
                Answer::page(200, page::bugs(&site, mode, &filter, page))
            }
            ["campaign"] => Answer::page(200, page::campaign(&site, mode)),
            ["bug", id] | ["bug", id, ..] => {
                let Some(id) = id.parse::<i64>().ok() else { return Ok(None) };
                let Some(view) = self.view(&site, id)? else { return Ok(None) };
                match parts.get(2..) {
                    Some([]) => Answer::page(200, page::bug(&site, mode, &view)),
                    Some(["bugzilla.txt"]) => Answer::text("text/plain; charset=utf-8", view.bugzilla()),
                    Some(["github.md"]) => Answer::text("text/plain; charset=utf-8", view.github()),
                    Some(["bug.tar"]) => self.download(&view)?,
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        if let Some(trouble) = lock(&self.trouble).as_ref() {
            answer.fields.push(("X-Trouble", trouble.clone()));
        }
        Ok(Some(answer))
    }

    /// A bug as a verdict of it shows it; by its address, as the best of them does.
    fn view(&self, site: &Site, id: i64) -> Result<Option<View>, StoreError> {
        let shown = site.entries.of(id).map_or(id, |(_, e)| if e.first == id { e.shown } else { id });
        site.view(&lock(&self.reader), &self.selected, shown)
    }

    fn download(&self, view: &View) -> Result<Answer, StoreError> {
        let files = export::files(&lock(&self.reader), &view.verdict)?;
        let name = format!("rvvfuzz-{}", view.entry.first);
        let mut answer = Answer::text("application/x-tar", export::tar(&name, &files));
        let attachment = format!("attachment; filename=\"{name}.tar\"");
        answer.fields.push(("Content-Disposition", attachment));
        Ok(answer)
    }

    fn change(&self, request: &Request, host: &str) -> Answer {
        let said = |status, text: &str| Answer::page(status, page::sentence("No", text));
        // Pages of others may send forms here: a browser says whose they are.
        let foreign =
            request.field("origin").is_some_and(|o| o.split_once("://").is_none_or(|(_, h)| h != host))
                || request.field("sec-fetch-site").is_some_and(|s| s != "same-origin" && s != "none");
        if foreign {
            return said(403, "this form is another page's");
        }
        let Some(token) = &self.token else {
            return said(403, "this server is read-only: start it with a token to set states");
        };
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        let cookie = |value: &str, age: &str| {
            let mut answer = Answer::to("/");
            let text = format!("{COOKIE}={value}; HttpOnly; SameSite=Strict; Path=/{age}");
            answer.fields.push(("Set-Cookie", text));
            answer
        };
        match parts.as_slice() {
            ["login"] if same(request.said("token").trim(), token) => cookie(&self.session, ""),
            ["login"] => {
                // Not faster than that, so that nobody tries them all.
                std::thread::sleep(Duration::from_millis(500));
                Answer::page(403, page::login(Some("That is not the token.")))
            }
            ["logout"] => cookie("", "; Max-Age=0"),
            ["bug", id, "state"] => {
                if !self.writes(request) {
                    return Answer::page(
                        401,
                        page::login(Some("States are set by those who have the token.")),
                    );
                }
                let entry = id.parse().ok().and_then(|id| self.site().entries.of(id).map(|(_, e)| e.first));
                let (Some(first), Some(state)) = (entry, State::from_word(request.said("state"))) else {
                    return said(400, "a state is set for a bug that is there, and is one of four");
                };
                match self.set_state(first, state, request.said("note")) {
                    Ok(()) => Answer::to(&format!("/bug/{first}")),
                    Err(error) => said(503, &error.to_string()),
                }
            }
            _ => said(404, "there is nothing to change at this address"),
        }
    }

    /// Stores a state, and shows it at once.
    fn set_state(&self, verdict: i64, state: State, note: &str) -> Result<(), StoreError> {
        let mut writer = lock(&self.writer);
        let mut store = match writer.take() {
            Some(store) => store,
            None => Store::annotate(&self.place)?,
        };
        // After an error it is opened again.
        store.set_state(verdict, state, note)?;
        *writer = Some(store);
        let mut site = self.site.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut site).entries.set_state(verdict, state, note);
        self.changed.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Whether a `Host` is a name of this machine for itself.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
