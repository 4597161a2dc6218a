//! Documents whose commands are run. A fenced block states its kind:
//!
//! ````text
//! ```console            commands after `$ `, each followed by all that it prints
//! ```console open-mpi   the same, only with that MPI
//! ```sh                 commands that another test runs
//! ```yaml, ```text      no commands
//! ````
//!
//! In printed output, `...` stands for any text on its line, and alone on a line for any number of
//! lines. The commands of a document are run in one shell, from its first line to its last.

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The line of the document where it starts, numbered from 1.
    pub line: usize,
    /// The words after the fence.
    pub words: Vec<String>,
    /// Its lines.
    pub lines: Vec<String>,
}

/// A command and its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The line of the document where it is, numbered from 1.
    pub line: usize,
    /// The command; several lines if the first ones end in a backslash.
    pub command: String,
    /// Its output.
    pub printed: Vec<String>,
}

/// The fenced blocks of a document.
///
/// # Panics
/// Panics at a fence that is not closed, and at a block that does not state its kind.
pub fn blocks(name: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(words)) => {
                let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
                assert!(
                    !words.is_empty(),
                    "{name}:{}: the block does not say whether it holds commands: console, sh, \
                     yaml or text",
                    number + 1
                );
                open = Some(Block {
                    line: number + 1,
                    words,
                    lines: Vec::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "{name}: a block is not closed");
    blocks
}

/// The sentences of a document's paragraphs and lists.
pub fn sentences(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut paragraphs = vec![String::new()];
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        in_block ^= fence;
        let ends = fence || in_block || line.trim().is_empty() || line.starts_with(['|', '#', '!']);
        let item = line.trim_start().strip_prefix("* ");
        if ends || item.is_some() {
            paragraphs.push(String::new());
        }
        if let (false, Some(last)) = (ends, paragraphs.last_mut()) {
            *last += item.unwrap_or(line).trim();
            last.push(' ');
        }
    }
    let ends = |paragraph: &String| {
        let parts = paragraph.split_inclusive(&['.', '?', '!'][..]);
        let mut sentences = vec![String::new()];
        for part in parts {
            // A point inside a name or a number does not end a sentence.
            if part.starts_with(' ')
                && let Some(last) = sentences.last()
                && !last.is_empty()
            {
                sentences.push(String::new());
            }
            if let Some(last) = sentences.last_mut() {
                *last += part;
            }
        }
        sentences
    };
    let all = paragraphs.iter().flat_map(ends);
    let trimmed = all.map(|sentence| sentence.trim().to_owned());
    trimmed.filter(|sentence| !sentence.is_empty()).collect()
}

impl Block {
    /// The commands of a block with the MPI called `mpi`; empty if it is for another.
    pub fn shown(&self, mpi: &str) -> Vec<Shown> {
        let is_for_it = self.words[1..].iter().all(|word| word == mpi);
        if self.words[0] != "console" || !is_for_it {
            return Vec::new();
        }
        let mut shown: Vec<Shown> = Vec::new();
        let mut goes_on = false;
        for (number, line) in self.lines.iter().enumerate() {
            let starts = line.strip_prefix("$ ");
            match (starts, shown.last_mut()) {
                (Some(command), _) if !goes_on => shown.push(Shown {
                    line: self.line + 1 + number,
                    command: command.to_owned(),
                    printed: Vec::new(),
                }),
                (_, Some(last)) if goes_on => {
                    last.command.push('\n');
                    last.command += line;
                }
                (_, Some(last)) => last.printed.push(line.clone()),
                (_, None) => panic!("line {}: no command prints this", self.line + 1 + number),
            }
            let typed = goes_on || starts.is_some();
            goes_on = typed && line.ends_with('\\');
        }
        // Blank lines separate commands.
        for one in &mut shown {
            while one.printed.last().is_some_and(String::is_empty) {
                one.printed.pop();
            }
        }
        shown
    }
}

/// A script for bash that runs all commands, and prints between them the status of each.
pub fn script(shown: &[Shown]) -> String {
    let mut script = "exec 2>&1 </dev/null\n".to_owned();
    for one in shown {
        script += &one.command;
        script += &format!("\nprintf '\\n{MARK}%s\\n' \"$?\"\n");
    }
    script
}

/// Separator between the output of one command and that of the next.
const MARK: &str = "@@ ended with ";

/// The output and the status of each command of a [`script`].
pub fn outputs(all: &str) -> Vec<(Vec<String>, i32)> {
    let mut outputs = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for line in all.lines() {
        match line.strip_prefix(MARK) {
            Some(status) => {
                // The mark adds an empty line, and blank lines at the end do not count.
                while lines.last().is_some_and(|line| line.trim().is_empty()) {
                    lines.pop();
                }
                outputs.push((std::mem::take(&mut lines), status.parse().unwrap_or(-1)));
            }
            None => lines.push(line.to_owned()),
        }
    }
    outputs
}

/// True if the output is that in the document.
pub fn fits(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first.trim() == "..." => {
            (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..]))
        }
        Some((first, rest)) => match printed.split_first() {
            Some((line, others)) => line_fits(first, line) && fits(rest, others),
            None => false,
        },
    }
}

/// True if a line is as expected; `...` stands for any text. The number of blanks between two words
/// depends on the replaced text, and does not count.
fn line_fits(expected: &str, line: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (expected, line) = (plain(expected), plain(line));
    let mut parts = expected.split("...");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# Title
```console
$ one \\
  --two
printed
...
last
$ three

```
```yaml
a: 1
```
```console mpich
$ four
```
";

    #[test]
    fn commands_and_what_they_print_are_told_apart() {
        let blocks = blocks("x", TEXT);
        let lines: Vec<usize> = blocks.iter().map(|block| block.line).collect();
        assert_eq!(lines, [2, 11, 14]);
        let shown = blocks[0].shown("open-mpi");
        assert_eq!(shown[0].command, "one \\\n  --two");
        assert_eq!(shown[0].printed, ["printed", "...", "last"]);
        assert_eq!((shown[1].line, shown[1].command.as_str()), (8, "three"));
        assert!(shown[1].printed.is_empty());
        assert!(blocks[1].shown("open-mpi").is_empty());
        assert!(blocks[2].shown("open-mpi").is_empty());
        assert_eq!(blocks[2].shown("mpich").len(), 1);
    }

    #[test]
    fn dots_stand_for_anything_and_all_else_for_itself() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let check = |expected: &str, printed: &str| fits(&lines(expected), &lines(printed));
        assert!(check("a\n...\nd", "a\nb\nc\nd"));
        assert!(check("a\n...\nd", "a\nd"));
        assert!(check("took ... ms, 3 of ...", "took 12.5 ms, 3 of 4"));
        assert!(check("a   b", "a b"));
        assert!(!check("took ... ms", "took 12.5 s"));
        assert!(!check("a\nb", "a"));
        assert!(!check("a", "a\nb"));
        assert!(!check("", "a"));
    }

    #[test]
    fn every_command_has_its_output_and_its_status() {
        let all = "out\n\n@@ ended with 0\nno newline\n@@ ended with 3\n";
        let expected = vec![
            (vec!["out".to_owned()], 0),
            (vec!["no newline".to_owned()], 3),
        ];
        assert_eq!(outputs(all), expected);
    }

    #[test]
    fn sentences_are_those_of_paragraphs_and_items() {
        let text = "# No. Title\n\nOne of 1.5 parts\nand `a.b`. Two: x.\n\n* Three\n  goes on\n* Four?\n\n\
                    | no. sentence. |\n```text\nNone. None.\n```\n";
        let expected = [
            "One of 1.5 parts and `a.b`.",
            "Two: x.",
            "Three goes on",
            "Four?",
        ];
        assert_eq!(sentences(text), expected);
    }

    #[test]
    #[should_panic(expected = "does not say whether it holds commands")]
    fn a_block_of_no_kind_is_refused() {
        blocks("x", "```\n$ rm\n```\n");
    }
}
