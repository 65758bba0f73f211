//! HTTP/1.1 as far as a page needs it: one request on a connection, bounded in size, time and number.
//!
//! `httparse` reads the head. Of the servers that are crates, `tiny_http` puts no bound on the lines of a
//! head, and `hyper` brings an asynchronous runtime.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The longest head of a request.
const HEAD: usize = 16 << 10;
/// The longest body.
const BODY: usize = 64 << 10;
/// Fields of a head.
const FIELDS: usize = 64;
/// Time for a whole request to come in, and for the answer to go out.
const TIME: Duration = Duration::from_secs(10);
/// Requests at a time; others are told to come again.
const AT_ONCE: usize = 64;

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `HEAD` or `POST`.
    pub method: String,
    /// The path, without what follows `?`.
    pub path: String,
    /// What is asked for after `?`.
    pub query: Vec<(String, String)>,
    /// Fields of the head, names in small letters.
    pub fields: Vec<(String, String)>,
    /// The fields of a form that was sent.
    pub form: Vec<(String, String)>,
}

impl Request {
    /// A field of the head.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// What is asked for by this name.
    pub fn asked(&self, name: &str) -> &str {
        find(&self.query, name)
    }

    /// What a form says.
    pub fn said(&self, name: &str) -> &str {
        find(&self.form, name)
    }

    /// A cookie.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let all = self.field("cookie")?.split(';');
        all.filter_map(|c| c.trim().split_once('=')).find(|(n, _)| *n == name).map(|(_, v)| v)
    }
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> &'a str {
    pairs.iter().find(|(n, _)| n == name).map_or("", |(_, v)| v)
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// `Content-Type`.
    pub kind: &'static str,
    /// More fields of the head.
    pub fields: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// A page.
    pub fn page(status: u16, text: String) -> Answer {
        Answer { status, kind: "text/html; charset=utf-8", fields: Vec::new(), body: text.into_bytes() }
    }

    /// A text.
    pub fn text(kind: &'static str, text: impl Into<Vec<u8>>) -> Answer {
        Answer { status: 200, kind, fields: Vec::new(), body: text.into() }
    }

    /// Go there.
    pub fn to(address: &str) -> Answer {
        let fields = vec![("Location", address.to_string())];
        Answer { status: 303, kind: "text/plain; charset=utf-8", fields, body: Vec::new() }
    }
}

/// A request that cannot be answered as one: its status, and why.
pub type Refusal = (u16, &'static str);

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

/// `%41` and `+` decoded; bytes that are no text are replaced.
pub fn decode(text: &str, plus: bool) -> String {
    let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let pair = bytes.get(at + 1).copied().and_then(digit).zip(bytes.get(at + 2).copied().and_then(digit));
        match (bytes[at], pair) {
            (b'%', Some((high, low))) => {
                out.push(high << 4 | low);
                at += 2;
            }
            (b'+', _) if plus => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |p: &str| {
        let (name, value) = p.split_once('=').unwrap_or((p, ""));
        (decode(name, true), decode(value, true))
    };
    text.split('&').filter(|p| !p.is_empty()).take(FIELDS).map(pair).collect()
}

/// Reads a request from bytes that come in until `end`; whoever sends slowly is not waited for.
pub fn read(from: &mut impl Read, late: &dyn Fn() -> bool) -> Result<Request, Refusal> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut chunk = [0; 4096];
    let mut more = |bytes: &mut Vec<u8>| -> Result<(), Refusal> {
        if late() {
            return Err((408, "the request took too long"));
        }
        match from.read(&mut chunk) {
            Ok(0) => Err((400, "the request has no end")),
            Ok(n) => {
                bytes.extend_from_slice(&chunk[..n]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(_) => Err((408, "the request took too long")),
        }
    };
    loop {
        // As many bytes as there are, up to the limit: a head that is longer is none.
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        match parsed.parse(&bytes[..bytes.len().min(HEAD)]) {
            Ok(httparse::Status::Complete(length)) => {
                let mut request = head(&parsed)?;
                let body = body_length(&request)?;
                while bytes.len() < length + body {
                    more(&mut bytes)?;
                }
                if request.method == "POST" {
                    request.form = pairs(&String::from_utf8_lossy(&bytes[length..length + body]));
                }
                return Ok(request);
            }
            Ok(httparse::Status::Partial) if bytes.len() >= HEAD => {
                return Err((431, "the head is too long"));
            }
            Ok(httparse::Status::Partial) => more(&mut bytes)?,
            Err(httparse::Error::TooManyHeaders) => return Err((431, "the head has too many fields")),
            Err(_) => return Err((400, "this is no request")),
        }
    }
}

fn head(parsed: &httparse::Request<'_, '_>) -> Result<Request, Refusal> {
    let method = parsed.method.unwrap_or_default().to_string();
    let target = parsed.path.unwrap_or_default();
    if !["GET", "HEAD", "POST"].contains(&method.as_str()) {
        return Err((405, "pages are read with GET and changed with POST"));
    }
    if !target.starts_with('/') {
        return Err((400, "the address is no path"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let field = |h: &httparse::Header<'_>| {
        (h.name.to_ascii_lowercase(), String::from_utf8_lossy(h.value).trim().to_string())
    };
    let fields = parsed.headers.iter().map(field).collect();
    Ok(Request { method, path: decode(path, false), query: pairs(query), fields, form: Vec::new() })
}

fn body_length(request: &Request) -> Result<usize, Refusal> {
    let lengths: Vec<&str> =
        request.fields.iter().filter(|(n, _)| n == "content-length").map(|(_, v)| v.as_str()).collect();
    if request.field("transfer-encoding").is_some() || lengths.len() > 1 {
        return Err((400, "a body must have one length"));
    }
    let Some(length) = lengths.first() else { return Ok(0) };
    let digits = !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit());
    match length.parse::<usize>() {
        Ok(length) if length <= BODY => Ok(length),
        _ if digits => Err((413, "the body is too long")),
        _ => Err((400, "a body must have a length")),
    }
}

/// Writes an answer, with what keeps it from doing harm.
pub fn write(to: &mut impl Write, answer: &Answer, policy: &str, with_body: bool) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n",
        answer.status,
        reason(answer.status),
        answer.kind,
        answer.body.len()
    );
    for (name, value) in &answer.fields {
        // A field that had an end of a line in it would be two.
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        head += &format!("{name}: {value}\r\n");
    }
    head += "\r\n";
    to.write_all(head.as_bytes())?;
    if with_body {
        to.write_all(&answer.body)?;
    }
    to.flush()
}

/// Counts itself out at its end, however that comes.
struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Answers requests until `stop` is set, each in a thread.
pub fn serve(
    listener: &TcpListener,
    policy: &str,
    stop: &AtomicBool,
    answer: &(dyn Fn(&Request) -> Answer + Sync),
    refuse: &(dyn Fn(Refusal) -> Answer + Sync),
) -> io::Result<()> {
    // So that `stop` is seen.
    listener.set_nonblocking(true)?;
    let at_work = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // Nobody is there, or there are no more files for a while.
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
            };
            let place = Place(&at_work);
            let full = at_work.fetch_add(1, Ordering::SeqCst) >= AT_ONCE;
            let one = move || one(stream, full, policy, answer, refuse, &place);
            // Without another thread, the connection is closed.
            let _ = std::thread::Builder::new().spawn_scoped(scope, one);
        }
        Ok(())
    })
}

fn one(
    mut stream: TcpStream,
    full: bool,
    policy: &str,
    answer: &(dyn Fn(&Request) -> Answer + Sync),
    refuse: &(dyn Fn(Refusal) -> Answer + Sync),
    _place: &Place<'_>,
) {
    let end = Instant::now() + TIME;
    let ready = stream.set_nonblocking(false).is_ok()
        && stream.set_read_timeout(Some(Duration::from_secs(2))).is_ok()
        && stream.set_write_timeout(Some(TIME)).is_ok();
    if !ready {
        return;
    }
    let (answered, with_body) = if full {
        (refuse((503, "too many ask at once; ask again")), true)
    } else {
        match read(&mut stream, &|| Instant::now() >= end) {
            Ok(request) => (answer(&request), request.method != "HEAD"),
            Err(refusal) => (refuse(refusal), true),
        }
    };
    // Who went away does not want to know.
    let _ = write(&mut stream, &answered, policy, with_body);
    // What is still on its way would reset the connection before the answer is read.
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let mut rest = [0; 4096];
    let mut left = 2 * BODY / rest.len();
    while left > 0 && Instant::now() < end && matches!(stream.read(&mut rest), Ok(n) if n > 0) {
        left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn reads(text: &[u8]) -> Result<Request, Refusal> {
        read(&mut &text[..], &|| false)
    }

    #[test]
    fn a_request_is_read() {
        let text = b"POST /bug/7/state?x=1&y HTTP/1.1\r\nHost: a\r\nCookie: q=1; rvvfuzz=z\r\nContent-Length: 26\r\n\r\n\
                     state=fixed&note=a+%3Cb%3EGET /";
        let request = reads(text).unwrap();
        assert_eq!(
            (request.path.as_str(), request.asked("x"), request.asked("y")),
            ("/bug/7/state", "1", "")
        );
        assert_eq!((request.said("state"), request.said("note")), ("fixed", "a <b>"));
        assert_eq!((request.cookie("rvvfuzz"), request.cookie("z")), (Some("z"), None));
        assert_eq!(reads(b"GET /%2e%2e/%ff%zz HTTP/1.1\r\n\r\n").unwrap().path, "/../\u{fffd}%zz");
    }

    #[test]
    fn odd_requests_are_refused() {
        let long = |n: usize| format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(n)).into_bytes();
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(100)).into_bytes();
        for (text, status) in [
            (&b""[..], 400),
            (b"GET / HTTP/1.1\r\n", 400),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 400),
            (b"DELETE / HTTP/1.1\r\n\r\n", 405),
            (b"GET http://x/ HTTP/1.1\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
            (b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
            (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            (b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab", 400),
            (&long(20_000), 431),
            (&many, 431),
        ] {
            assert_eq!(reads(text).unwrap_err().0, status, "{}", String::from_utf8_lossy(text));
        }
        assert!(reads(&long(10_000)).is_ok());
        assert_eq!(read(&mut &b"GET / HTTP/1.1\r\n\r\n"[..], &|| true).unwrap_err().0, 408);
    }

    #[test]
    fn whatever_comes_is_read_or_refused() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let good = b"POST /bug/7/state?q=%41 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\na=b&c";
        for _ in 0..20_000 {
            let mut bytes = good.to_vec();
            for _ in 0..rng.random_range(1..5) {
                let at = rng.random_range(0..bytes.len());
                bytes[at] = rng.random();
            }
            let _ = reads(&bytes);
        }
    }

    #[test]
    fn an_answer_has_no_field_that_was_not_meant() {
        let answer = Answer { fields: vec![("Location", "/\r\nSet-Cookie: x=y".into())], ..Answer::to("/") };
        let mut out = Vec::new();
        write(&mut out, &answer, "default-src 'none'", true).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("Location: /Set-Cookie: x=y\r\n") && !text.contains("\nSet-Cookie"));
    }
}
