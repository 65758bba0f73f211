//! The page for people: one renderer, for the server and for a file.
//!
//! Strings, and no template crate: `maud` and `askama` are procedural macros, which the build of the main job
//! would pay for. What is quoted goes through `escape`, and a test quotes markup. The page needs nothing from
//! anywhere else, and its policy forbids it; scripts and styles are these files and nothing in the text.

mod bug;
mod campaign;
mod list;

use super::entries::{BuildFacts, Entries, Filter};
use super::live::duration;
use super::view::View;
use super::{Figures, Selected};
use crate::programs::store::lease::Worker;
use crate::programs::store::states::State;
use crate::programs::store::{Store, StoreError};
use rvv_tools::junit::escape;
use std::fmt::Write;

/// The style sheet.
pub const STYLE: &str = include_str!("style.css");
/// The script.
pub const SCRIPT: &str = include_str!("script.js");
/// The digests of both: a file's policy allows these and no others.
const STYLE_DIGEST: &str = "sha256-mZXFRqgCqQtKedWo7AbQv449kAXlGa+fWDQGBoRtO6A=";
const SCRIPT_DIGEST: &str = "sha256-wcogAqFFi1oi5YgHY0p6pP49QBgeyUYauhqpZTPprVE=";

/// Bugs with all their details in a file; the others are in its list.
const IN_FILE: usize = 500;

/// Where the page is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A file: everything is in it.
    File,
    /// A server's: each bug has its own address.
    Server {
        /// Who looks may set states.
        writes: bool,
        /// Who has the token may.
        login: bool,
    },
}

/// All that pages are made of.
#[derive(Clone)]
pub struct Site {
    /// The campaign.
    pub figures: Figures,
    /// The bugs.
    pub entries: Entries,
    /// What the builds are.
    pub builds: Vec<BuildFacts>,
    /// Who has worked on it.
    pub workers: Vec<Worker>,
    /// What waits for workers, by kind, and what they have taken.
    pub queue: Vec<(String, u64, u64)>,
    /// Where the store is.
    pub place: String,
}

impl Site {
    /// Reads a store.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(store: &Store, selected: &Selected) -> Result<Site, StoreError> {
        let figures = Figures::read(store, selected)?;
        let summaries = store.summaries()?;
        let entries = Entries::new(&summaries, &figures.batches, &store.states()?, selected);
        let builds = super::entries::builds(&selected.testbeds);
        let (workers, queue) = (store.workers()?, store.queue()?);
        Ok(Site { figures, entries, builds, workers, queue, place: store.place().to_string() })
    }

    /// What there is about a bug, as this verdict of it shows it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn view(&self, store: &Store, selected: &Selected, verdict: i64) -> Result<Option<View>, StoreError> {
        let Some((place, entry)) = self.entries.of(verdict) else { return Ok(None) };
        let Some(stored) = store.verdict(verdict)? else { return Ok(None) };
        let verdicts = self.entries.verdicts(place, 50);
        View::read(store, &selected.testbeds, entry, stored, verdicts).map(Some)
    }
}

/// A campaign's page as a file.
///
/// # Errors
/// When the store cannot be read.
pub fn file(store: &Store) -> Result<String, StoreError> {
    let selected = Selected::read(store)?;
    let site = Site::read(store, &selected)?;
    let mut body = headline(&site);
    body += &list::bugs(&site, Mode::File, &Filter::default(), 0);
    body += &campaign::figures(&site);
    body += &campaign::plots(&site);
    body += &campaign::rest(&site);
    for entry in site.entries.list.iter().take(IN_FILE) {
        let Some(view) = site.view(store, &selected, entry.shown)? else { continue };
        let _ = write!(
            body,
            "<details class=\"card\" id=\"bug-{}\"><summary>{} {}</summary>{}</details>",
            entry.first,
            chip(entry.state),
            escape(&entry.signature),
            bug::body(&view, Mode::File)
        );
    }
    Ok(document(&site, "", Mode::File, &body))
}

/// The list of bugs, from the server.
pub fn bugs(site: &Site, mode: Mode, filter: &Filter, page: usize) -> String {
    let body = headline(site) + &list::bugs(site, mode, filter, page);
    document(site, "bugs", mode, &body)
}

/// The campaign, from the server.
pub fn campaign(site: &Site, mode: Mode) -> String {
    let body = format!(
        "<div data-live=\"campaign\">{}{}{}</div>",
        campaign::figures(site),
        campaign::plots(site),
        campaign::rest(site)
    );
    document(site, "campaign", mode, &body)
}

/// A bug, from the server.
pub fn bug(site: &Site, mode: Mode, view: &View) -> String {
    let place = site.entries.of(view.entry.first).map_or(0, |(place, _)| place);
    let link = |at: Option<usize>, key: &str, name: &str| {
        let entry = at.and_then(|at| site.entries.list.get(at));
        entry.map_or(String::new(), |e| format!("<a href=\"/bug/{}\" data-key=\"{key}\">{name}</a>", e.first))
    };
    let body = format!(
        "<div class=\"row\"><a href=\"/\" data-key=\"u\">← all bugs</a>{} {}</div><h1>{}</h1>{}",
        link(place.checked_sub(1), "p", "previous"),
        link(place.checked_add(1), "n", "next"),
        escape(&view.title()),
        bug::body(view, mode)
    );
    document(site, "", mode, &body)
}

/// A page that says something in a sentence.
pub fn sentence(title: &str, text: &str) -> String {
    shell(
        title,
        "<p></p>",
        &format!("<div class=\"card\"><h1>{}</h1><p>{}</p></div>", escape(title), escape(text)),
        true,
    )
}

/// Asks for the token.
pub fn login(why: Option<&str>) -> String {
    let why = why.map_or(String::new(), |w| format!("<p class=\"alarm\">{}</p>", escape(w)));
    let body = format!(
        "<div class=\"card\"><h1>Token</h1>{why}<p>The token that this server was started with.</p>\
         <form method=\"post\" action=\"/login\" class=\"row\"><input type=\"password\" name=\"token\" \
         autocomplete=\"current-password\" aria-label=\"token\" autofocus required><button class=\"main\">Enter</button></form></div>"
    );
    shell("Token", "<p></p>", &body, true)
}

/// A state, as a mark.
fn chip(state: State) -> String {
    format!("<span class=\"chip {}\">{}</span>", state.word(), state.name())
}

/// What matters first.
fn headline(site: &Site) -> String {
    let (new, all) = (site.entries.count(State::New), site.entries.list.len());
    let mut out = String::from("<div data-live=\"headline\">");
    if site.entries.list.iter().any(|e| e.culprit_kind == "oracle" && e.state == State::New) {
        out += "<p class=\"alarm\">The oracle is suspect: every testbed agrees against it.</p>";
    }
    for (testbed, why) in site.figures.broken.iter().take(5) {
        let why = why.lines().next().unwrap_or("");
        let _ = write!(out, "<p class=\"alarm\">{} does not work: {}</p>", escape(testbed), escape(why));
    }
    let said = match (all, site.figures.programs) {
        (0, 0) => "No program has been run yet.".to_string(),
        (0, n) => format!("Nothing is wrong in {} programs.", spaced(n)),
        _ => format!(
            "{new} new bug{}, {} other{}",
            campaign::plural(new),
            all - new,
            campaign::plural(all - new)
        ),
    };
    let _ = write!(
        out,
        "<h1>{said}</h1><p class=\"dim\">Seed {}; {} programs in {}, {:.1} a second; {}.</p></div>",
        site.figures.settings.seed,
        spaced(site.figures.programs),
        duration(site.figures.seconds),
        campaign::rate(&site.figures),
        campaign::at_work(site),
    );
    out
}

/// A number with its thousands apart.
pub(super) fn spaced(n: u64) -> String {
    super::plot::number(n as f64)
}

fn document(site: &Site, here: &str, mode: Mode, body: &str) -> String {
    let title = format!("rvvfuzz: campaign of seed {}", site.figures.settings.seed);
    let mut top = String::new();
    if let Mode::Server { writes, login } = mode {
        let current = |name| if here == name { " aria-current=\"page\"" } else { "" };
        let _ = write!(
            top,
            "<nav><a href=\"/\" data-key=\"b\"{}>Bugs</a><a href=\"/campaign\" data-key=\"c\"{}>Campaign</a></nav>",
            current("bugs"),
            current("campaign")
        );
        let who = match (writes, login) {
            (true, _) => "<form method=\"post\" action=\"/logout\"><button>Leave</button></form>",
            (false, true) => "<a href=\"/login\">Enter token</a>",
            (false, false) => "read only",
        };
        let _ = write!(top, "<span class=\"right\">{} <kbd>?</kbd> keys</span>{who}", escape(&site.place));
    } else {
        let _ = write!(top, "<span class=\"right\">{} <kbd>?</kbd> keys</span>", escape(&site.place));
    }
    shell(&title, &top, body, mode != Mode::File)
}

const KEYS: &str = "<aside class=\"keys\" aria-label=\"keys\"><p><kbd>j</kbd> <kbd>k</kbd> next, previous row<br>\
    <kbd>Enter</kbd> open it<br><kbd>/</kbd> search<br><kbd>u</kbd> up to all bugs<br><kbd>n</kbd> <kbd>p</kbd> next, previous bug<br>\
    <kbd>s</kbd> set the state<br><kbd>b</kbd> bugs, <kbd>c</kbd> campaign<br><kbd>?</kbd> this list, <kbd>Esc</kbd> away</p></aside>";

/// The policy of the server's pages.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                          form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

fn shell(title: &str, top: &str, body: &str, served: bool) -> String {
    let (style, script) = if served {
        let script = "<script src=\"/script.js\" defer></script>".to_string();
        ("<link rel=\"stylesheet\" href=\"/style.css\">".to_string(), script)
    } else {
        let policy = format!(
            "default-src 'none'; style-src '{STYLE_DIGEST}'; script-src '{SCRIPT_DIGEST}'; form-action 'none'; base-uri 'none'"
        );
        let style = format!(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"><style>{STYLE}</style>"
        );
        (style, format!("<script>{SCRIPT}</script>"))
    };
    // In a file, the script comes after what it works on.
    let (head, foot) = if served { (script.as_str(), "") } else { ("", script.as_str()) };
    let every = if served { 10 } else { 0 };
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">{style}<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><title>{}</title>{head}</head><body data-every=\"{every}\">\n\
         <header><div><b>rvvfuzz</b>{top}</div></header>\n<main>{body}</main>\n{KEYS}\n\
         <footer>rvvfuzz {}</footer>\n{foot}</body></html>\n",
        escape(title),
        env!("CARGO_PKG_VERSION")
    )
}
