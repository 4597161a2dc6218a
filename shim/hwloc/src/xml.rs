//! The text of an hwloc XML file, checked before hwloc reads it.
//!
//! hwloc only reports "invalid" for a wrong file, and its libxml plugin also writes to standard
//! error, which only a variable of the whole process could suppress. So hwloc is only given
//! well-formed XML.

use std::ffi::CString;
use std::io::Read;
use std::path::Path;

use roxmltree::{Document, ParsingOptions};
use treepie_base::open;
use treepie_base::printable::one_line;

use crate::error::HwlocError;

/// Maximum number of bytes of a file: a machine of a thousand cores takes a thousandth of it.
const LARGEST: u64 = 256 << 20;

/// The checked text of an hwloc XML file.
pub(crate) struct XmlText {
    /// The whole text in the form that hwloc requires.
    pub(crate) text: CString,
    /// The name of the machine on which it was written, if the file has it and it is one word.
    pub(crate) host: Option<String>,
}

/// Reads a well-formed XML file with a topology in it.
///
/// # Errors
/// [`HwlocError::Unreadable`] and [`HwlocError::NotXml`].
pub(crate) fn read(path: &Path) -> Result<XmlText, HwlocError> {
    let mut bytes = Vec::new();
    let read = open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    read.map_err(|source| HwlocError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    check(bytes).map_err(|reason| HwlocError::NotXml {
        path: path.to_owned(),
        // The reason may contain parts of the file.
        reason: one_line(&reason),
    })
}

fn check(bytes: Vec<u8>) -> Result<XmlText, String> {
    let text = String::from_utf8(bytes).map_err(|_| "it is not text in UTF-8".to_owned())?;
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(&text, options).map_err(|e| e.to_string())?;
    let root = document.root_element();
    if root.tag_name().name() != "topology" {
        return Err(format!("its element is <{}>", root.tag_name().name()));
    }
    check_sets(&document)?;
    let host = host(&document);
    let text = CString::new(text).map_err(|_| "it contains a zero byte".to_owned())?;
    Ok(XmlText { text, host })
}

/// Refuses an object with one half of a pair of sets: hwloc (2.9) writes into the other half.
fn check_sets(document: &Document) -> Result<(), String> {
    for object in document
        .descendants()
        .filter(|it| it.has_tag_name("object"))
    {
        for (set, complete) in [
            ("cpuset", "complete_cpuset"),
            ("nodeset", "complete_nodeset"),
        ] {
            if object.has_attribute(set) && !object.has_attribute(complete) {
                let line = document.text_pos_at(object.range().start).row;
                return Err(format!(
                    "the object in line {line} has {set}, not {complete}"
                ));
            }
        }
    }
    Ok(())
}

fn host(document: &Document) -> Option<String> {
    document
        .descendants()
        .find(|node| node.has_tag_name("info") && node.attribute("name") == Some("HostName"))
        .and_then(|info| info.attribute("value"))
        .filter(|host| !host.is_empty() && !host.contains(char::is_whitespace))
        .map(str::to_owned)
}
