//! The pages of the book included in the command.

use crate::render;

/// A page of the book.
#[derive(Debug)]
pub struct Page {
    /// Part of the book that it belongs to.
    pub part: &'static str,
    /// Its topic: the name of its file without the ending.
    pub name: &'static str,
    /// Its text, as Markdown.
    text: &'static str,
}

/// All pages except the measurements, in the order of docs/SUMMARY.md.
pub static PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

impl Page {
    /// The page with this name.
    pub fn named(name: &str) -> Option<&'static Page> {
        PAGES.iter().find(|page| page.name == name)
    }

    /// Its heading.
    pub fn title(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_start_matches(['#', ' '])
    }

    /// Its text for a terminal.
    pub fn plain(&self) -> String {
        render::plain(self.text)
    }
}
