//! Our own bug reports, read back: sections of paragraphs, lists, tables and code.
//!
//! A report comes out of a store, which may come from anywhere: what is not understood is text.

/// A part of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Lines of text.
    Text(String),
    /// A point of a list.
    Point(String),
    /// Rows of a table, the first is its head.
    Table(Vec<Vec<String>>),
    /// Code.
    Code(String),
}

/// What is below a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The heading; the first section has none.
    pub title: String,
    /// What is there.
    pub blocks: Vec<Block>,
}

/// A report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its sections, in order; the first is what is above all headings.
    pub sections: Vec<Section>,
}

impl Document {
    /// Reads a report.
    pub fn parse(text: &str) -> Document {
        let mut sections = vec![Section::default()];
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(title) = line.strip_prefix("## ") {
                sections.push(Section { title: title.trim().to_string(), blocks: Vec::new() });
                continue;
            }
            let Some(section) = sections.last_mut() else { continue };
            let blocks = &mut section.blocks;
            if line.starts_with("```") {
                let code: Vec<&str> = lines.by_ref().take_while(|l| !l.starts_with("```")).collect();
                blocks.push(Block::Code(code.join("\n") + "\n"));
            } else if let Some(row) = line.strip_prefix('|') {
                let row = row.trim_end().strip_suffix('|').unwrap_or(row);
                let cells: Vec<String> = row.split('|').map(|c| c.trim().to_string()).collect();
                if cells.iter().all(|c| !c.is_empty() && c.bytes().all(|b| b == b'-')) {
                    continue;
                }
                match blocks.last_mut() {
                    Some(Block::Table(rows)) => rows.push(cells),
                    _ => blocks.push(Block::Table(vec![cells])),
                }
            } else if let Some(point) = line.strip_prefix("- ") {
                blocks.push(Block::Point(point.to_string()));
            } else if !line.trim().is_empty() && !line.starts_with("# ") {
                match blocks.last_mut() {
                    Some(Block::Text(text)) => *text += &format!("\n{line}"),
                    _ => blocks.push(Block::Text(line.to_string())),
                }
            }
        }
        Document { sections }
    }

    /// The section whose heading begins so.
    pub fn section(&self, title: &str) -> Option<&Section> {
        self.sections.iter().find(|s| s.title.starts_with(title))
    }

    /// The first code below a heading.
    pub fn code(&self, title: &str) -> Option<&str> {
        self.section(title)?.blocks.iter().find_map(|b| match b {
            Block::Code(code) => Some(code.as_str()),
            _ => None,
        })
    }

    /// The first table below a heading.
    pub fn table(&self, title: &str) -> Option<&[Vec<String>]> {
        self.section(title)?.blocks.iter().find_map(|b| match b {
            Block::Table(rows) => Some(rows.as_slice()),
            _ => None,
        })
    }

    /// What is said below a heading, without tables and code.
    pub fn text(&self, title: &str) -> Option<String> {
        let texts: Vec<&str> = self
            .section(title)?
            .blocks
            .iter()
            .filter_map(|b| match b {
                Block::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        if texts.is_empty() { None } else { Some(texts.join("\n")) }
    }

    /// A point of the summary: what follows `- NAME: `.
    pub fn point(&self, name: &str) -> Option<&str> {
        self.sections.first()?.blocks.iter().find_map(|b| match b {
            Block::Point(text) => text.strip_prefix(name)?.strip_prefix(": "),
            _ => None,
        })
    }

    /// The command in a point of the summary.
    pub fn command(&self, name: &str) -> Option<&str> {
        self.point(name)?.split_once('`')?.1.rsplit_once('`').map(|(line, _)| line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "# a: b: c\n\n- Symptom: wrong output\n- Compiler: gcc 14, `gcc -O2 bug.c -o bug`\n\n\
                          ## The function (bug.c)\n\n```c\nint f;\n## no heading\n```\n\n\
                          ## Expected and actual\n\nIt ends\nso\n\n| element | expected | got |\n|---|---|---|\n\
                          | a[1] | 0x1 | 0x2 |\n\n… and 3 more\n\n## The guilty pass\n\npass 7\n";

    #[test]
    fn a_report_is_read_back() {
        let report = Document::parse(REPORT);
        assert_eq!(report.code("The function"), Some("int f;\n## no heading\n"));
        assert_eq!(report.command("Compiler"), Some("gcc -O2 bug.c -o bug"));
        assert_eq!(report.point("Symptom"), Some("wrong output"));
        assert_eq!(report.table("Expected").unwrap()[1], ["a[1]", "0x1", "0x2"]);
        assert_eq!(report.text("Expected").unwrap(), "It ends\nso\n… and 3 more");
        assert_eq!(report.text("The guilty pass").as_deref(), Some("pass 7"));
        assert!(report.section("None").is_none() && report.command("Symptom").is_none());
    }

    #[test]
    fn what_is_no_report_is_text() {
        for text in ["", "```", "|", "||||\n|--|", "## ", "- ", "<script>\n| `x"] {
            let read = Document::parse(text);
            assert!(!read.sections.is_empty());
        }
        assert_eq!(Document::parse("hello").text(""), Some("hello".to_string()));
    }
}
