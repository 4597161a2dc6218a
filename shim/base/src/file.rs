//! Files of Treepie: a header, and a value that derives serde.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::SystemTime;

use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess};
use serde::{Deserialize, Serialize, Serializer};

use crate::error::FileError;
use crate::header::{self, VERSION};
use crate::joined::{Joined, SideFields};
use crate::kind::Kind;
use crate::moment::date;
use crate::{text, yaml};

/// Value with a kind of file of its own.
pub trait FileContents: Serialize + DeserializeOwned {
    /// Kind that the file states.
    const KIND: Kind;

    /// Checks that the parts are consistent, and puts them into their order. `path` is for
    /// messages.
    ///
    /// # Errors
    /// The first field that is wrong.
    fn on_read(&mut self, _path: &Path) -> Result<(), FileError> {
        Ok(())
    }

    /// Checks for contents that could not be read again. `path` is for messages.
    ///
    /// # Errors
    /// The first field that is wrong.
    fn on_write(&self, _path: &Path) -> Result<(), FileError> {
        Ok(())
    }
}

/// Origin of a file; both fields are empty if it is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Header {
    /// Program that wrote the file, such as `treepie 0.1.0`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub producer: String,
    /// Time of writing, in UTC: `2026-11-21T04:03:48Z`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub date: String,
}

impl Header {
    /// Returns the header of a file that `producer` writes now.
    pub fn now(producer: impl Into<String>) -> Self {
        Header {
            producer: producer.into(),
            date: date(SystemTime::now()),
        }
    }
}

/// File: its contents, which it dereferences to, and its header.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct File<T> {
    /// Origin of the file.
    pub header: Header,
    /// Contents of the file.
    pub body: T,
}

impl<T, S> FileContents for Joined<T, S>
where
    T: FileContents,
    S: SideFields + Serialize,
{
    const KIND: Kind = T::KIND;
}

impl<T> Deref for File<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.body
    }
}

impl<T> DerefMut for File<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.body
    }
}

impl<T: FileContents> File<T> {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// A file that cannot be read, is of another kind, or contradicts itself.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::from_text(path, &text::read(path)?)
    }

    /// Reads the contents of the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// Text of another kind, or that contradicts itself.
    pub fn from_text(path: &Path, text: &str) -> Result<Self, FileError> {
        header::check(path, text, Some(T::KIND))?;
        let mut file: Self = yaml::parse(path, text)?;
        file.body.on_read(path)?;
        Ok(file)
    }

    /// Writes the file, completely or not at all.
    ///
    /// # Errors
    /// Contents that contradict themselves; a file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        text::write(path, &self.to_text(path)?)
    }

    /// Returns the text of the file; `path` is for messages.
    ///
    /// # Errors
    /// Contents that contradict themselves.
    pub fn to_text(&self, path: &Path) -> Result<String, FileError> {
        self.body.on_write(path)?;
        yaml::to_text(path, self)
    }
}

/// Returns the text of a file of a kind; `path` is for messages.
///
/// # Errors
/// Values that YAML cannot represent, which do not occur.
pub fn to_text(
    path: &Path,
    kind: Kind,
    header: &Header,
    body: &impl Serialize,
) -> Result<String, FileError> {
    yaml::to_text(path, &Lines::new(kind, header, body))
}

/// File as it is written.
#[derive(Serialize)]
struct Lines<'a, T> {
    treepie: String,
    version: u64,
    #[serde(flatten)]
    header: &'a Header,
    #[serde(flatten)]
    body: &'a T,
}

impl<'a, T> Lines<'a, T> {
    fn new(kind: Kind, header: &'a Header, body: &'a T) -> Self {
        Lines {
            treepie: kind.to_string(),
            version: VERSION,
            header,
            body,
        }
    }
}

impl<T: FileContents> Serialize for File<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        Lines::new(T::KIND, &self.header, &self.body).serialize(out)
    }
}

impl<'de, T: FileContents> Deserialize<'de> for File<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let Joined { body, side } = Joined::deserialize(input)?;
        Ok(File { header: side, body })
    }
}

impl SideFields for Header {
    const NAMES: &'static [&'static str] = &["treepie", "version", "producer", "date"];

    fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, lines: &mut A) -> Result<(), A::Error> {
        match name {
            "producer" => self.producer = lines.next_value()?,
            "date" => self.date = lines.next_value()?,
            // [`header::check`] has read it.
            _ => drop(lines.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        ranks: usize,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    }

    impl FileContents for Sample {
        const KIND: Kind = Kind::Profile;

        fn on_read(&mut self, path: &Path) -> Result<(), FileError> {
            match self.ranks {
                0 => Err(FileError::field(path, "ranks", "is 0")),
                _ => Ok(()),
            }
        }
    }

    fn read(text: &str) -> Result<File<Sample>, FileError> {
        File::from_text(Path::new("a.yaml"), text)
    }

    #[test]
    fn a_file_reads_back_as_it_was_written_in_any_order() {
        let file = read("version: 1\nranks: 3\nproducer: by hand\ntreepie: profile\n").unwrap();
        assert_eq!((file.header.producer.as_str(), file.ranks), ("by hand", 3));
        let text = file.to_text(Path::new("a.yaml")).unwrap();
        assert_eq!(
            text,
            "treepie: profile\nversion: 1\nproducer: by hand\nranks: 3\n"
        );
        assert_eq!(read(&text).unwrap(), file);
    }

    #[test]
    fn errors_have_the_line_and_the_field() {
        const START: &str = "treepie: profile\nversion: 1\n";
        for (lines, expected) in [
            (
                "producer: [1]\nranks: 3\n",
                "a.yaml:3:11: producer: invalid type: sequence, expected text",
            ),
            (
                "date: now\nranks: many\n",
                "a.yaml:4:8: ranks: invalid type: string \"many\", expected a whole number",
            ),
            (
                "rnaks: 3\n",
                "a.yaml:3:1: unknown field `rnaks`, did you mean `ranks`?; known here are ranks, \
                 notes",
            ),
            (
                "notes: []\n",
                "a.yaml:1:1: missing field `ranks`; write it, or write the file again if it was cut \
                 off",
            ),
            ("ranks: 0\n", "a.yaml: ranks: is 0"),
        ] {
            let error = read(&format!("{START}{lines}")).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
