//! The tokens of Rust code that paths are made of, without comments and texts.

/// A token, and the line that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// A word, `::`, or one other character.
    pub text: String,
    /// Its line, from 1 on.
    pub line: usize,
}

impl Token {
    /// Whether it is this text.
    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }
}

/// The tokens of some code.
pub fn tokens(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = code;
    let mut line = 1;
    while !rest.is_empty() {
        let (length, is_token) = next(rest);
        let (text, behind) = rest.split_at(length);
        if is_token {
            let text = text.to_owned();
            tokens.push(Token { text, line });
        }
        line += text.matches('\n').count();
        rest = behind;
    }
    tokens
}

/// The length of what stands first, and whether it is a token.
fn next(code: &str) -> (usize, bool) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = code.find(|c| !is_word(c)).unwrap_or(code.len());
    let first = code.chars().next().map_or(0, char::len_utf8);
    if code.starts_with("//") {
        return (code.find('\n').unwrap_or(code.len()), false);
    }
    if code.starts_with("/*") {
        return (comment(code), false);
    }
    if let Some(length) = raw_text(code) {
        return (length, false);
    }
    match code.as_bytes() {
        [b'"', ..] => (text(code, '"'), false),
        [b'b' | b'c', b'"', ..] => (1 + text(&code[1..], '"'), false),
        [b'\'', ..] => (character(code), false),
        [b':', b':', ..] => (2, true),
        _ if word > 0 => (word, true),
        _ => (first, !code.starts_with(char::is_whitespace)),
    }
}

/// The length of a comment in `/* */`, which may hold others.
fn comment(code: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < code.len() {
        match &code.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    code.len()
}

/// The length of `r"..."`, `r#"..."#` and so on.
fn raw_text(code: &str) -> Option<usize> {
    let start = ["r", "br", "cr"].iter().find(|start| {
        let behind = code.strip_prefix(**start).unwrap_or_default();
        behind.trim_start_matches('#').starts_with('"')
    })?;
    let behind = &code[start.len()..];
    let marks = behind.len() - behind.trim_start_matches('#').len();
    let end = format!("\"{}", "#".repeat(marks));
    let inner = &behind[marks + 1..];
    let length = inner.find(&end).map_or(inner.len(), |at| at + end.len());
    Some(start.len() + marks + 1 + length)
}

/// The length of a text between two `quote`s, with escapes.
fn text(code: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in code.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => (),
        }
    }
    code.len()
}

/// The length of a character in quotes, or of the mark of a lifetime.
fn character(code: &str) -> usize {
    let mut inner = code.chars().skip(1);
    match (inner.next(), inner.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => text(code, '\''),
        _ => 1,
    }
}
