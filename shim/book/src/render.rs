//! Markdown as plain text: for a terminal, and for manual pages.

use std::path::Path;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::page::Page;
use crate::table;

/// Columns of a page.
pub const WIDTH: usize = 80;

/// The text of a page: wrapped paragraphs, underlined headings, aligned tables.
pub fn plain(markdown: &str) -> String {
    let mut page = Plain::default();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        page.take(event);
    }
    page.see_also();
    page.text
}

/// A page during formatting.
#[derive(Default)]
struct Plain {
    text: String,
    /// Words of the current paragraph, heading or cell.
    inline: String,
    /// Lists around the current item.
    depth: usize,
    /// True if the next paragraph is the first of its item.
    begins_item: bool,
    in_code: bool,
    /// Position in `inline` at which the text of a link begins, and the link's target.
    link: Option<(usize, String)>,
    /// Topics that the page links to.
    topics: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Plain {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.code(&text),
            Event::Text(text) | Event::Code(text) => self.inline += &text,
            Event::SoftBreak | Event::HardBreak => self.inline.push(' '),
            _ => (),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::List(_) => {
                self.block();
                self.depth += 1;
            }
            Tag::Item => self.begins_item = true,
            Tag::CodeBlock(_) => {
                self.blank();
                self.in_code = true;
            }
            Tag::Link { dest_url, .. } => {
                self.link = Some((self.inline.len(), dest_url.into_string()));
            }
            Tag::Image { .. } => self.inline.push('['),
            Tag::Table(_) => self.rows.clear(),
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => (),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => self.heading(level),
            TagEnd::Paragraph | TagEnd::Item => self.block(),
            TagEnd::List(_) => self.depth -= 1,
            TagEnd::CodeBlock => self.in_code = false,
            TagEnd::Link => self.close_link(),
            TagEnd::Image => self.inline.push(']'),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                self.blank();
                self.text += &table::aligned(&self.rows, WIDTH);
            }
            _ => (),
        }
    }

    /// Writes an empty line before a block, except at the top.
    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        let title = std::mem::take(&mut self.inline);
        self.blank();
        self.text += &format!("{title}\n");
        let line = match level {
            HeadingLevel::H1 => "=",
            HeadingLevel::H2 => "-",
            _ => "",
        };
        if !line.is_empty() {
            self.text += &format!("{}\n", line.repeat(title.chars().count()));
        }
    }

    /// Ends a paragraph, inside an item or not.
    fn block(&mut self) {
        let paragraph = std::mem::take(&mut self.inline);
        if paragraph.trim().is_empty() {
            return;
        }
        let indent = " ".repeat(2 * self.depth);
        let first = match self.begins_item && self.depth > 0 {
            true => format!("{}* ", " ".repeat(2 * (self.depth - 1))),
            false => indent.clone(),
        };
        // Items of a list are not separated by empty lines.
        if !self.begins_item || self.depth == 0 {
            self.blank();
        } else if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.begins_item = false;
        let lines = wrapped(&paragraph, WIDTH - indent.len());
        for (number, line) in lines.iter().enumerate() {
            let begin = if number == 0 { &first } else { &indent };
            self.text += &format!("{begin}{line}\n");
        }
        if self.depth == 0 {
            self.text.push('\n');
        }
    }

    fn code(&mut self, text: &str) {
        let indent = " ".repeat(2 * self.depth + 4);
        for line in text.lines() {
            self.text += &format!("{indent}{line}\n");
        }
    }

    /// Writes the topic or the address after a link.
    fn close_link(&mut self) {
        let Some((start, target)) = self.link.take() else {
            return;
        };
        let file = target.split('#').next().unwrap_or_default();
        let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
        let page = match file.ends_with(".md") && !file.contains("figures/") {
            true => stem.and_then(topic_of).and_then(Page::named),
            false => None,
        };
        match page {
            Some(page) => {
                if !self.topics.contains(&page.name) {
                    self.topics.push(page.name);
                }
                match self.inline.get(start..) {
                    Some(words) if words == page.name => self.inline.insert(start, '['),
                    _ => self.inline += &format!(" [{}", page.name),
                }
                self.inline.push(']');
            }
            None if target.starts_with("http") => self.inline += &format!(" <{target}>"),
            None => (),
        }
    }

    fn see_also(&mut self) {
        if !self.topics.is_empty() {
            let list = format!("In brackets: topics of `treepie help TOPIC`, here {}.", {
                self.topics.join(", ")
            });
            self.blank();
            self.text += &format!("{}\n", wrapped(&list, WIDTH).join("\n"));
        }
        while self.text.ends_with("\n\n") {
            self.text.pop();
        }
    }
}

/// The topic of a file's stem.
fn topic_of(stem: &str) -> Option<&str> {
    match stem {
        "LD_PRELOAD" => Some("preload"),
        "README" => None,
        stem => Some(stem),
    }
}

/// Wraps a paragraph to lines of at most `width` columns; longer words have a separate line.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                *line += word;
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PAGES;

    #[test]
    fn a_page_becomes_headings_lists_tables_and_blocks_without_markup() {
        let page = "# One `two`\n\nText [hangs](hangs.md), and [more](orders.md#x).\n\n\
                    * first\n  of two\n* second\n  * below\n\n```sh\n$ run  it\n```\n\n\
                    | a | b |\n|---|---|\n| `x` | **y** z |\n";
        let expected = "One two\n=======\n\nText [hangs], and more [orders].\n\n\
                        * first of two\n* second\n  * below\n\n    $ run  it\n\n\
                        a  b\n-  ---\nx  y z\n\n\
                        In brackets: topics of `treepie help TOPIC`, here hangs, orders.\n";
        assert_eq!(plain(page), expected);
    }

    #[test]
    fn pages_have_no_markup_and_fit_a_terminal() {
        for page in PAGES {
            let text = page.plain();
            assert!(text.lines().count() > 5, "{}: {text}", page.name);
            for line in text.lines() {
                let is_code = line.starts_with("    ");
                let markup = ["](", "|--", "**", "<!--"];
                let marked = markup.iter().any(|mark| line.contains(mark));
                assert!(is_code || !marked, "{}: {line}", page.name);
                let is_word = !line.trim_start_matches("* ").trim().contains(' ');
                let fits = line.chars().count() <= WIDTH;
                assert!(fits || is_code || is_word, "{}: {line}", page.name);
            }
        }
    }
}
