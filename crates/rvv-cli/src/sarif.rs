//! SARIF 2.1.0, which tools that show results of analyses read.
//!
//! It is plain JSON: the types of a SARIF crate, generated from the whole schema, would be more to build than
//! to save.

use serde_json::{Map, Value, json};

/// One run of a tool.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The tool.
    pub tool: String,
    /// Its version.
    pub version: String,
    /// What its results can be of.
    pub rules: Vec<Rule>,
    /// The command line, if it is to be told.
    pub command: Option<String>,
    /// What went wrong with the run itself.
    pub warnings: Vec<String>,
    /// Files that are in the log: path and text.
    pub files: Vec<(String, String)>,
    /// What was found: result objects.
    pub results: Vec<Value>,
}

/// A kind of results.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its id.
    pub id: String,
    /// A name for people, if it has one.
    pub name: Option<String>,
    /// What it is about, in a sentence.
    pub says: String,
}

/// Lines and columns of a file, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// The first line.
    pub line: u64,
    /// Where in it.
    pub column: Option<u64>,
    /// The last line, if there are several.
    pub last: Option<u64>,
}

impl Run {
    /// A log of this run alone.
    #[must_use]
    pub fn to_text(&self) -> String {
        let rule = |rule: &Rule| {
            let mut value = json!({ "id": rule.id, "shortDescription": { "text": rule.says } });
            if let Some(name) = &rule.name {
                value["name"] = name.as_str().into();
            }
            value
        };
        let warning = |text: &String| json!({ "level": "warning", "message": { "text": text } });
        let file = |(path, text): &(String, String)| json!({ "location": { "uri": uri(path) }, "contents": { "text": text } });
        let list = |values: Vec<Value>| Value::Array(values);
        let mut invocation = json!({ "executionSuccessful": true });
        if let Some(command) = &self.command {
            invocation["commandLine"] = command.as_str().into();
        }
        invocation["toolExecutionNotifications"] = list(self.warnings.iter().map(warning).collect());
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": self.tool,
                    "version": self.version,
                    "rules": list(self.rules.iter().map(rule).collect()),
                } },
                "invocations": [invocation],
                "artifacts": list(self.files.iter().map(file).collect()),
                "results": self.results,
            }],
        });
        format!("{log:#}\n")
    }

    /// Lines of one of `files`, or of a file that is elsewhere: a physical location.
    #[must_use]
    pub fn place(&self, path: &str, region: Region) -> Value {
        let mut file = json!({ "uri": uri(path) });
        if let Some(index) = self.files.iter().position(|(name, _)| name == path) {
            file["index"] = index.into();
        }
        let mut lines = Map::new();
        lines.insert("startLine".to_owned(), region.line.into());
        for (key, number) in [("startColumn", region.column), ("endLine", region.last)] {
            if let Some(number) = number {
                lines.insert(key.to_owned(), number.into());
            }
        }
        json!({ "artifactLocation": file, "region": lines })
    }
}

/// A location that is a thing with a name; [`Run::place`] may be added to it.
#[must_use]
pub fn location(name: &str, kind: &str) -> Value {
    json!({ "logicalLocations": [{ "fullyQualifiedName": name, "kind": kind }] })
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-._~/".contains(b);
    let encoded: String = path
        .bytes()
        .map(|b| if plain(&b) { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect();
    if encoded.starts_with('/') { format!("file://{encoded}") } else { encoded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_what_was_put_in() {
        let rule = Rule { id: "r".into(), name: Some("R".into()), says: "it \"is\" so".into() };
        let mut run = Run {
            tool: "t".into(),
            version: "1".into(),
            rules: vec![rule],
            command: Some("t x".into()),
            warnings: vec!["w".into()],
            files: vec![("a b.c".into(), "text\n".into())],
            results: Vec::new(),
        };
        let mut at = location("f", "function");
        at["physicalLocation"] = run.place("a b.c", Region { line: 3, column: None, last: Some(4) });
        run.results.push(json!({ "ruleId": "r", "locations": [at] }));
        let log: Value = serde_json::from_str(&run.to_text()).expect("it is JSON");
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"][0]["shortDescription"]["text"], "it \"is\" so");
        assert_eq!(run["tool"]["driver"]["rules"][0]["name"], "R");
        assert_eq!(run["invocations"][0]["commandLine"], "t x");
        assert_eq!(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"], "w");
        assert_eq!(run["artifacts"][0]["location"]["uri"], "a%20b.c");
        let place = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"], json!({ "uri": "a%20b.c", "index": 0 }));
        assert_eq!(place["region"], json!({ "startLine": 3, "endLine": 4 }));
    }

    #[test]
    fn paths_become_uris() {
        let place = |path| Run::default().place(path, Region { line: 1, column: Some(2), last: None });
        assert_eq!(place("/a/b.c")["artifactLocation"], json!({ "uri": "file:///a/b.c" }));
        assert_eq!(place("é#")["artifactLocation"]["uri"], "%C3%A9%23");
        assert_eq!(place("x")["region"], json!({ "startLine": 1, "startColumn": 2 }));
    }
}
