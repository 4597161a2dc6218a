//! One self-contained HTML file: style, tables, pictures. It loads nothing from elsewhere, and has
//! no scripts.

use treepie_base::printable::{markup, one_line};

use crate::picture::theme;
use crate::picture::write::{Drawing, svg};
use crate::table::Table;

const STYLE: &str = include_str!("style.css");

/// Narrow tables with more rows are set in columns.
const MOST_ROWS: usize = 20;

/// A page that is written from top to bottom.
pub struct Page {
    title: String,
    header: String,
    /// Id and heading of each section.
    sections: Vec<(String, String)>,
    body: String,
}

/// One important figure for the top of the page.
pub struct Card {
    /// Its identifier in the page, for programs.
    pub id: &'static str,
    /// Its title.
    pub name: String,
    /// The figure.
    pub value: String,
    /// Its source.
    pub detail: String,
    /// True if it has improved, `None` if that cannot be decided.
    pub better: Option<bool>,
}

impl Page {
    /// A page with a heading, and below it a line of facts and one about the method.
    pub fn new(title: &str, facts: &str, method: &str) -> Self {
        let (heading, facts, method) = (markup(&one_line(title)), markup(facts), markup(method));
        Page {
            title: one_line(title),
            header: format!("<h1>{heading}</h1>\n<p>{facts}</p>\n<p id=\"method\">{method}</p>\n"),
            sections: Vec::new(),
            body: String::new(),
        }
    }

    /// Opens a section; the previous one must be closed by [`Page::end_section`].
    pub fn section(&mut self, id: &str, heading: &str) {
        self.sections.push((id.to_owned(), heading.to_owned()));
        self.body += &format!("<section id=\"{id}\">\n<h2>{}</h2>\n", markup(heading));
    }

    /// Links to all sections.
    fn contents(&self) -> String {
        let links = self.sections.iter();
        let links = links.map(|(id, name)| format!("<a href=\"#{id}\">{}</a>\n", markup(name)));
        match self.sections.len() {
            0 | 1 => String::new(),
            _ => format!("<nav>\n{}</nav>\n", links.collect::<String>()),
        }
    }

    /// Closes a section.
    pub(crate) fn end_section(&mut self) {
        self.body += "</section>\n";
    }

    /// Adds a heading inside a section.
    pub fn heading(&mut self, text: &str) {
        self.body += &format!("<h3>{}</h3>\n", markup(text));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.body += &format!("<p>{}</p>\n", markup(text));
    }

    /// Adds several short lines.
    pub fn list(&mut self, lines: &[String]) {
        let items = lines
            .iter()
            .map(|line| format!("<li>{}</li>\n", markup(line)));
        self.body += &format!("<ul>\n{}</ul>\n", items.collect::<String>());
    }

    /// Adds a command to type.
    pub fn command(&mut self, text: &str) {
        self.body += &format!("<pre>{}</pre>\n", markup(text));
    }

    /// Adds the most important figures.
    pub fn cards(&mut self, cards: &[Card]) {
        self.body += "<dl class=\"cards\">\n";
        for card in cards {
            let class = match card.better {
                Some(true) => " class=\"better\"",
                Some(false) => " class=\"worse\"",
                None => "",
            };
            self.body += &format!(
                "<div{class}><dt>{}</dt><dd id=\"{}\">{}</dd><dd>{}</dd></div>\n",
                markup(&card.name),
                card.id,
                markup(&card.value),
                markup(&with_whole_numbers(&card.detail))
            );
        }
        self.body += "</dl>\n";
    }

    /// Adds a table; changes for the better or worse are coloured.
    pub fn table(&mut self, id: &str, table: &Table) {
        let is_long = table.rows().len() > MOST_ROWS && table.columns_of_words().len() <= 3;
        let class = if is_long { "wide long" } else { "wide" };
        let mut rows = table.rows().iter();
        self.body += &format!("<div class=\"{class}\"><table id=\"{id}\">\n");
        let of_words = table.columns_of_words();
        for heading in rows.by_ref().take(1) {
            let heading = row(heading, &of_words, "th");
            self.body += &format!("<thead>{heading}</thead>\n<tbody>\n");
        }
        for cells in rows {
            self.body += &row(cells, &of_words, "td");
            self.body.push('\n');
        }
        self.body += "</tbody>\n</table></div>\n";
    }

    /// Adds a picture with a description in words.
    ///
    /// # Errors
    /// Drawing fails.
    pub fn figure(&mut self, id: &str, words: &str, drawing: &impl Drawing) -> Result<(), String> {
        let words = markup(words);
        let drawn = svg(drawing)?;
        let labelled = format!("<svg role=\"img\" aria-label=\"{words}\" ");
        let drawn = drawn.replacen("<svg ", &labelled, 1);
        self.body += &format!(
            "<figure id=\"{id}\">\n{drawn}\n<figcaption>{words}</figcaption>\n</figure>\n"
        );
        Ok(())
    }

    /// Returns the whole file, with `footer` as its last line.
    pub fn text(&self, footer: &str) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{} - treepie</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n<main>\n\
             <header>\n{}{}</header>\n{}</main>\n\
             <footer>{}</footer>\n</body>\n</html>\n",
            markup(&self.title),
            theme::style(Some(&self.body)),
            self.header,
            self.contents(),
            self.body,
            markup(footer)
        )
    }
}

/// The text with blanks between digits at which no line ends.
fn with_whole_numbers(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let letter = |(at, &letter): (usize, &char)| match letter {
        ' ' if at > 0 && is_digit(at - 1) && is_digit(at + 1) => '\u{a0}',
        letter => letter,
    };
    letters.iter().enumerate().map(letter).collect()
}

/// Formats the cells of a row: words are aligned left, numbers right.
fn row(cells: &[String], of_words: &[bool], tag: &str) -> String {
    let mut text = "<tr>".to_owned();
    for (cell, &is_word) in cells.iter().zip(of_words) {
        let class = if is_word { " class=\"words\"" } else { "" };
        text += &format!("<{tag}{class}>{}</{tag}>", markup(cell));
    }
    text + "</tr>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_is_called_cannot_become_markup() {
        let page = Page::new("./a <script>alert(1)</script> & \"b\"", "\u{1b}[31m", "");
        let text = page.text("");
        assert!(!text.contains("<script"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(text.contains("./a &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;b&quot;"));
    }

    #[test]
    fn words_are_flush_left_and_numbers_flush_right() {
        let mut table = Table::new(["collective", "run by", "calls"]);
        table.row(["bcast", "the MPI", "24"]);
        table.row(["bcast", "grid-exchange", "-"]);
        let mut page = Page::new("x", "y", "z");
        page.table("t", &table);
        let text = page.text("");
        assert!(text.contains("<td class=\"words\">the MPI</td><td>24</td>"));
        assert!(text.contains("<th class=\"words\">run by</th><th>calls</th>"));
    }

    #[test]
    fn a_table_has_a_head_and_a_cell_for_each_word() {
        let mut table = Table::new(["level", "bytes"]);
        table.row(["node", "1 KiB"]);
        let mut page = Page::new("x", "y", "z");
        page.table("t", &table);
        let expected = "<thead><tr><th class=\"words\">level</th><th>bytes</th></tr></thead>\n<tbody>\n\
                        <tr><td class=\"words\">node</td><td>1 KiB</td></tr>\n</tbody>";
        assert!(page.text("").contains(expected), "{}", page.text(""));
    }
}
