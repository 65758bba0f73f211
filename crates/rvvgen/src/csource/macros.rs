//! Macros, conditions and headers: what a preprocessor does.
//!
//! A condition on names that nothing defines is decided for RISC-V with vectors: the branch that has
//! intrinsics is taken where another has none; names that speak of RISC-V or RVV count as defined; all
//! others as not.

use super::ast::Place;
use super::conditions::evaluate;
use super::files::{Files, SourceError};
use super::lex::{Hidden, Tok, Token, tokens};
use super::{DEEPEST, MOST_TOKENS};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

#[derive(Debug)]
struct Macro {
    /// None: it takes none.
    params: Option<Vec<Rc<str>>>,
    variadic: bool,
    body: Vec<Token>,
}

/// Macros that are there from the start.
const PREDEFINED: [(&str, &str); 22] = [
    ("__riscv", "1"),
    ("__riscv_xlen", "64"),
    ("__riscv_flen", "64"),
    ("__riscv_v", "1000000"),
    ("__riscv_vector", "1"),
    ("__riscv_v_intrinsic", "1000000"),
    ("__riscv_v_elen", "64"),
    ("__riscv_v_elen_fp", "64"),
    ("__riscv_v_min_vlen", "128"),
    ("__riscv_zvfh", "1000000"),
    ("__riscv_zfh", "1000000"),
    ("__GNUC__", "14"),
    ("__GNUC_MINOR__", "2"),
    ("__STDC__", "1"),
    ("__STDC_VERSION__", "201112L"),
    ("__LP64__", "1"),
    ("__linux__", "1"),
    ("__unix__", "1"),
    ("__ORDER_LITTLE_ENDIAN__", "1234"),
    ("__ORDER_BIG_ENDIAN__", "4321"),
    ("__BYTE_ORDER__", "1234"),
    ("__CHAR_BIT__", "8"),
];

/// How often one file may include another one, and itself.
const MOST_TIMES: usize = 200;

type Result<T> = std::result::Result<T, SourceError>;

/// What is being read.
pub struct Preprocessor<'f> {
    files: &'f mut Files,
    macros: HashMap<Rc<str>, Rc<Macro>>,
    out: Vec<Token>,
    /// Text since the last directive that changes macros.
    pending: Vec<Token>,
    times: HashMap<u32, usize>,
    once: HashSet<u32>,
    fuel: usize,
}

/// The tokens of a file, macros expanded and headers included.
pub fn preprocess(files: &mut Files, file: u32, text: &[Token]) -> Result<Vec<Token>> {
    let define = files.define.clone();
    let mut preprocessor = Preprocessor {
        files,
        macros: HashMap::new(),
        out: Vec::new(),
        pending: Vec::new(),
        times: HashMap::new(),
        once: HashSet::new(),
        fuel: MOST_TOKENS,
    };
    for (name, value) in PREDEFINED {
        preprocessor.predefine(name, value);
    }
    let is_c = preprocessor.files.path(file).and_then(|p| p.extension()).is_none_or(|s| s == "c" || s == "h");
    if !is_c {
        preprocessor.predefine("__cplusplus", "201703L");
    }
    for (name, value) in &define {
        preprocessor.predefine(name, value);
    }
    preprocessor.process(text, 0)?;
    preprocessor.flush()?;
    Ok(preprocessor.out)
}

/// The part of a condition's text that is read if it holds.
struct Branch<'t> {
    /// `None` is `#else`.
    condition: Option<(&'static str, &'t [Token])>,
    text: &'t [Token],
}

const CONDITIONS: [&str; 3] = ["if", "ifdef", "ifndef"];

/// The directive that starts here and its line.
fn directive(tokens: &[Token], at: usize) -> Option<(&str, &[Token], usize)> {
    tokens.get(at).filter(|t| t.first && t.is("#"))?;
    let end = tokens[at + 1..].iter().position(|t| t.first).map_or(tokens.len(), |n| at + 1 + n);
    let line = &tokens[at + 1..end];
    match line.first().map(|t| &t.tok) {
        Some(Tok::Word(word)) => Some((word, &line[1..], end)),
        _ => Some(("", &line[..0], end)),
    }
}

fn speaks_of_vectors(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("riscv") || name.contains("rvv")
}

impl Preprocessor<'_> {
    fn predefine(&mut self, name: &str, value: &str) {
        let body = tokens(value.as_bytes(), u32::MAX);
        self.macros.insert(name.into(), Rc::new(Macro { params: None, variadic: false, body }));
    }

    fn deep<T>(&self, at: &[Token]) -> Result<T> {
        let place = at.first().map_or(Place::default(), |t| t.place);
        Err(SourceError::Deep(self.files.name(place.file).to_string(), place.line))
    }

    fn spend(&mut self, tokens: usize) -> Result<()> {
        match self.fuel.checked_sub(tokens) {
            Some(rest) => {
                self.fuel = rest;
                Ok(())
            }
            None => {
                let file = self.pending.first().or(self.out.last()).map_or(0, |t| t.place.file);
                Err(SourceError::Expansion(self.files.name(file).to_string()))
            }
        }
    }

    fn process(&mut self, text: &[Token], depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return self.deep(text);
        }
        let mut at = 0;
        while at < text.len() {
            let Some((name, line, end)) = directive(text, at) else {
                self.spend(1)?;
                self.pending.push(text[at].clone());
                at += 1;
                continue;
            };
            at = end;
            match name {
                "define" => {
                    self.flush()?;
                    self.define(line);
                }
                "undef" => {
                    self.flush()?;
                    if let Some(name) = line.first().and_then(Token::word) {
                        self.macros.remove(name);
                    }
                }
                "include" => {
                    self.flush()?;
                    self.include(line, depth)?;
                }
                "pragma" if line.first().is_some_and(|t| t.is_word("once")) => {
                    self.once.insert(line[0].place.file);
                }
                _ if CONDITIONS.contains(&name) => {
                    let (branches, end) = self.branches(text, name, line, end)?;
                    at = end;
                    if let Some(text) = self.choose(&branches)? {
                        self.process(text, depth + 1)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The branches of a condition whose first line ends at `from`, and where all end.
    fn branches<'t>(
        &mut self,
        text: &'t [Token],
        name: &str,
        line: &'t [Token],
        from: usize,
    ) -> Result<(Vec<Branch<'t>>, usize)> {
        let kind = |name: &str| CONDITIONS.into_iter().find(|c| *c == name).unwrap_or("if");
        let mut condition = Some((kind(name), line));
        let (mut start, mut at, mut open) = (from, from, 0usize);
        let mut branches = Vec::new();
        while at < text.len() {
            let Some((name, line, end)) = directive(text, at) else {
                at += 1;
                continue;
            };
            match name {
                _ if CONDITIONS.contains(&name) => open += 1,
                "endif" if open > 0 => open -= 1,
                "endif" | "elif" | "else" if open == 0 => {
                    branches.push(Branch { condition, text: &text[start..at] });
                    if name == "endif" {
                        self.spend((end - from) / 16)?;
                        return Ok((branches, end));
                    }
                    condition = if name == "elif" { Some(("if", line)) } else { None };
                    start = end;
                }
                _ => {}
            }
            at = end;
        }
        branches.push(Branch { condition, text: &text[start..] });
        Ok((branches, text.len()))
    }

    /// The text of the branch that holds.
    fn choose<'t>(&mut self, branches: &[Branch<'t>]) -> Result<Option<&'t [Token]>> {
        let mut possible = Vec::new();
        let mut usual = None;
        for branch in branches {
            let Some((kind, line)) = branch.condition else {
                usual = usual.or(Some(branch.text));
                possible.push(branch.text);
                break;
            };
            let (sure, assumed) = self.holds(kind, line, branch.text)?;
            if sure != Some(false) {
                possible.push(branch.text);
            }
            if assumed {
                usual = usual.or(Some(branch.text));
            }
            if sure == Some(true) {
                break;
            }
        }
        let has = |text: &&[Token]| text.iter().any(|t| t.word().is_some_and(|w| w.starts_with("__riscv_")));
        let with: Vec<&[Token]> = possible.iter().copied().filter(has).collect();
        let usual_has = usual.as_ref().is_some_and(has);
        Ok(if usual_has || with.is_empty() { usual } else { Some(with[0]) })
    }

    /// Whether a condition holds for sure or is sure not to, and what is assumed of it.
    fn holds(&mut self, kind: &str, line: &[Token], text: &[Token]) -> Result<(Option<bool>, bool)> {
        if kind != "if" {
            let Some(name) = line.first().and_then(Token::word).cloned() else {
                return Ok((Some(false), false));
            };
            let defined = self.macros.contains_key(&name);
            // The guard of a header.
            let guard = kind == "ifndef"
                && directive(text, 0).is_some_and(|(what, line, _)| {
                    what == "define" && line.first().is_some_and(|t| t.is_word(&name))
                });
            let assumed = defined || (!guard && speaks_of_vectors(&name));
            let sure = (defined || guard).then_some(defined == (kind == "ifdef"));
            return Ok((sure, assumed == (kind == "ifdef")));
        }
        let mut line = line.to_vec();
        // `defined X` first: X is not expanded.
        let mut at = 0;
        let mut replaced = Vec::new();
        while at < line.len() {
            if !line[at].is_word("defined") {
                replaced.push(line[at].clone());
                at += 1;
                continue;
            }
            let brackets = line.get(at + 1).is_some_and(|t| t.is("("));
            let name = line.get(at + 1 + usize::from(brackets)).and_then(Token::word).cloned();
            at += if brackets { 4 } else { 2 };
            let tok = match name {
                Some(name) if self.macros.contains_key(&name) => Tok::Number("1".into()),
                // No macro has such a name, so it is looked up below.
                Some(name) => Tok::Word(format!("defined {name}").into()),
                None => Tok::Number("0".into()),
            };
            replaced.push(Token::new(tok, Place::default()));
        }
        line = self.expand(replaced, 0)?;
        let sure = evaluate(&line, &|_| None).map(|v| v != 0);
        let assume = |name: &str| Some(i64::from(speaks_of_vectors(name)));
        let assumed = evaluate(&line, &assume).is_some_and(|v| v != 0);
        Ok((sure, assumed))
    }

    fn define(&mut self, line: &[Token]) {
        let Some(name) = line.first().and_then(Token::word).cloned() else { return };
        let mut body = &line[1..];
        let mut params = None;
        let mut variadic = false;
        if body.first().is_some_and(|t| t.is("(") && !t.spaced) {
            let Some(end) = body.iter().position(|t| t.is(")")) else { return };
            let mut names: Vec<Rc<str>> = Vec::new();
            for token in &body[1..end] {
                match token.word() {
                    Some(word) => names.push(word.clone()),
                    None if token.is("...") => variadic = true,
                    None => {}
                }
            }
            // `args...` is a name for what `...` stands for.
            let named = end > 2 && body[end - 1].is("...") && body[end - 2].word().is_some();
            if variadic && !named {
                names.push("__VA_ARGS__".into());
            }
            params = Some(names);
            body = &body[end + 1..];
        }
        self.macros.insert(name, Rc::new(Macro { params, variadic, body: body.to_vec() }));
    }

    fn include(&mut self, line: &[Token], depth: usize) -> Result<()> {
        let Some(first) = line.first() else { return Ok(()) };
        let from = first.place.file;
        let name = match &first.tok {
            Tok::Text(name) => name.to_string(),
            Tok::Sign("<") => line[1..].iter().take_while(|t| !t.is(">")).map(text_of).collect(),
            _ => return Ok(()),
        };
        let Some(path) = self.files.header(from, &name) else { return Ok(()) };
        let Ok((file, text)) = self.files.open(&path) else { return Ok(()) };
        let times = self.times.entry(file).or_default();
        *times += 1;
        if *times > MOST_TIMES || self.once.contains(&file) {
            return Ok(());
        }
        self.process(&text, depth + 1)?;
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        // The arguments of a macro may go on after a directive.
        let text = std::mem::take(&mut self.pending);
        let expanded = self.expand(text, 0)?;
        self.out.extend(expanded);
        Ok(())
    }

    /// Expands all macros.
    fn expand(&mut self, mut text: Vec<Token>, depth: usize) -> Result<Vec<Token>> {
        if depth > DEEPEST {
            return self.deep(&text);
        }
        text.reverse();
        let mut out = Vec::with_capacity(text.len());
        while let Some(token) = text.pop() {
            let known = token.word().and_then(|word| Some((word.clone(), self.macros.get(word)?.clone())));
            let Some((name, found)) = known.filter(|(name, _)| !is_hidden(&token, name)) else {
                out.push(token);
                continue;
            };
            let args = match &found.params {
                None => Vec::new(),
                Some(params) => match arguments(&mut text, params.len(), found.variadic) {
                    Some((args, taken)) => {
                        self.spend(taken / 4)?;
                        args
                    }
                    None => {
                        out.push(token);
                        continue;
                    }
                },
            };
            let body = self.substitute(&found, &args, &token, depth)?;
            self.spend(1 + body.len())?;
            let depth = token.hidden.as_ref().map_or(0, |h| h.depth) + 1;
            let hidden = Some(Rc::new(Hidden { name, rest: token.hidden.clone(), depth }));
            text.extend(body.into_iter().rev().map(|mut t| {
                if t.hidden.is_none() {
                    t.hidden = hidden.clone();
                }
                t
            }));
        }
        Ok(out)
    }

    fn substitute(
        &mut self,
        of: &Macro,
        args: &[Vec<Token>],
        at: &Token,
        depth: usize,
    ) -> Result<Vec<Token>> {
        let mut out: Vec<Token> = Vec::new();
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; args.len()];
        let param = |t: &Token| {
            let names = of.params.as_ref()?;
            names.iter().position(|n| t.is_word(n)).filter(|n| *n < args.len())
        };
        let mut i = 0;
        while i < of.body.len() {
            let token = &of.body[i];
            let paste = |n: usize| of.body.get(n).is_some_and(|t| t.is("##"));
            if token.is("#") && of.params.is_some() && of.body.get(i + 1).and_then(param).is_some() {
                out.push(Token::new(Tok::Text("".into()), at.place));
                i += 2;
                continue;
            }
            if token.is("##") && i > 0 && i + 1 < of.body.len() {
                let right = match param(&of.body[i + 1]) {
                    Some(n) => args[n].clone(),
                    None => vec![of.body[i + 1].clone()],
                };
                // `, ## __VA_ARGS__`: the comma goes if there is nothing after it.
                if out.last().is_some_and(|t| t.is(",")) {
                    if right.is_empty() {
                        out.pop();
                    }
                    out.extend(right);
                } else {
                    join(&mut out, right);
                }
                i += 2;
                continue;
            }
            match param(token) {
                Some(n) if paste(i + 1) => out.extend(args[n].iter().cloned()),
                Some(n) => {
                    if expanded[n].is_none() {
                        expanded[n] = Some(self.expand(args[n].clone(), depth + 1)?);
                    }
                    let arg = expanded[n].as_deref().unwrap_or_default();
                    self.spend(arg.len())?;
                    out.extend(arg.iter().cloned());
                }
                None => out.push(token.clone()),
            }
            i += 1;
        }
        out.iter_mut().for_each(|t| t.place = at.place);
        Ok(out)
    }
}

fn is_hidden(token: &Token, name: &str) -> bool {
    let mut hidden = token.hidden.as_ref();
    if hidden.is_some_and(|h| h.depth >= DEEPEST) {
        return true;
    }
    while let Some(h) = hidden {
        if *h.name == *name {
            return true;
        }
        hidden = h.rest.as_ref();
    }
    false
}

/// Takes a macro's arguments from a reversed text, and says of how many tokens they were; nothing is taken if
/// there are none.
fn arguments(text: &mut Vec<Token>, params: usize, variadic: bool) -> Option<(Vec<Vec<Token>>, usize)> {
    text.last().filter(|t| t.is("("))?;
    let mut open = 0usize;
    let mut end = text.len();
    loop {
        end = end.checked_sub(1)?;
        match &text[end].tok {
            Tok::Sign("(") => open += 1,
            Tok::Sign(")") => {
                open -= 1;
                if open == 0 {
                    break;
                }
            }
            _ => {}
        }
    }
    let mut inside = text.split_off(end);
    let taken = inside.len();
    inside.reverse();
    let mut args = vec![Vec::new()];
    for token in inside.drain(1..taken - 1) {
        open += usize::from(token.is("("));
        open -= usize::from(token.is(")"));
        let rest = variadic && args.len() == params;
        if open == 0 && token.is(",") && !rest {
            args.push(Vec::new());
        } else if let Some(last) = args.last_mut() {
            last.push(token);
        }
    }
    args.resize(params.max(args.len()), Vec::new());
    Some((args, taken))
}

/// A token as it is written.
fn text_of(token: &Token) -> &str {
    match &token.tok {
        Tok::Word(text) | Tok::Number(text) => text,
        Tok::Sign(sign) => sign,
        _ => "",
    }
}

/// Makes one token of the last and the first.
fn join(out: &mut Vec<Token>, right: Vec<Token>) {
    let mut right = right.into_iter();
    let Some(first) = right.next() else { return };
    match out.pop() {
        Some(last) => {
            let joined = format!("{}{}", text_of(&last), text_of(&first));
            out.extend(tokens(joined.as_bytes(), last.place.file));
        }
        None => out.push(first),
    }
    out.extend(right);
}
