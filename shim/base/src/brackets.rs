//! Depth of brackets in a YAML text, before it is parsed: the time of serde_yaml's reader grows
//! with its square.
//!
//! Brackets in scalars and comments do not count, so these are recognised as by the reader
//! (libyaml, `yaml_parser_fetch_next_token`). If a text is not YAML, the scan stops there.

/// Characters that end a line in YAML.
const BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// Returns the line, from 1, in which more than `most` brackets are open for the first time.
pub(crate) fn too_deep(text: &str, most: usize) -> Option<usize> {
    let mut scanner = Scanner::default();
    let mut lines = 1;
    for line in text.split_inclusive(BREAKS) {
        if scanner.line(line.trim_end_matches(BREAKS).as_bytes()) > most {
            return Some(lines);
        }
        lines += usize::from(line.ends_with('\n'));
    }
    None
}

/// Scanner with the brackets that the lines so far have left open.
struct Scanner {
    brackets: usize,
    /// The quotation mark of a scalar.
    quote: Option<u8>,
    /// True if a token can begin here; otherwise a plain scalar continues.
    at_token: bool,
    /// True if lines with more indentation than `indent` are a block scalar.
    in_block: bool,
    /// Column of the innermost block mapping or sequence.
    indent: isize,
}

impl Default for Scanner {
    fn default() -> Self {
        Scanner {
            brackets: 0,
            quote: None,
            at_token: true,
            in_block: false,
            indent: -1,
        }
    }
}

impl Scanner {
    /// Scans the next line; returns the maximum number of open brackets in it.
    fn line(&mut self, line: &[u8]) -> usize {
        let column = line.iter().take_while(|&&byte| byte == b' ').count();
        if self.brackets == 0 && self.quote.is_none() {
            let is_inside = column as isize > self.indent;
            if column == line.len() || (self.in_block && is_inside) {
                return 0;
            }
            self.in_block = false;
            self.at_token |= !is_inside;
            if line.starts_with(b"---") {
                self.indent = -1;
            }
        }
        let (mut most, mut at) = (self.brackets, 0);
        while at < line.len() {
            let before = at.checked_sub(1).map(|before| line[before]);
            if self.quote.is_none() && line[at] == b'#' && before.is_none_or(is_blank) {
                self.at_token = true;
                break;
            }
            at += self.token(&line[at..], column as isize);
            most = most.max(self.brackets);
        }
        most
    }

    /// Scans the first token of the rest of a line; returns its length.
    fn token(&mut self, rest: &[u8], column: isize) -> usize {
        let is_flow = self.brackets > 0;
        let next = rest.get(1).copied();
        let is_alone = next.is_none_or(is_blank);
        match (self.quote, rest[0]) {
            (Some(b'"'), b'\\') => return 2,
            (Some(quote), byte) if quote == byte => self.quote = None,
            (Some(_), _) | (None, b' ' | b'\t') => (),
            (None, b'[' | b'{') if is_flow || self.at_token => {
                self.brackets += 1;
                self.at_token = true;
            }
            (None, b']' | b'}') if is_flow => {
                self.brackets -= 1;
                self.at_token = true;
            }
            (None, b',') if is_flow => self.at_token = true,
            (None, b':')
                if is_alone
                    || is_flow && (self.at_token || next.is_some_and(is_flow_indicator)) =>
            {
                self.begin(is_flow, column);
            }
            (None, b'-') if self.at_token && is_alone => self.begin(is_flow, column),
            (None, b'?') if self.at_token && (is_alone || is_flow) => self.begin(is_flow, column),
            (None, b'|' | b'>') if self.at_token && !is_flow => {
                self.in_block = true;
                return rest.len();
            }
            (None, quote @ (b'\'' | b'"')) if self.at_token => self.quote = Some(quote),
            (None, b'!' | b'&' | b'*') if self.at_token => return property(rest),
            (None, _) => self.at_token = false,
        }
        1
    }

    /// Handles an indicator after which a token begins, in block context one of a mapping or
    /// sequence.
    fn begin(&mut self, is_flow: bool, column: isize) {
        self.at_token = true;
        if !is_flow {
            self.indent = column;
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_flow_indicator(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

/// Returns the length of a tag, an anchor or an alias.
fn property(rest: &[u8]) -> usize {
    let end = match rest.starts_with(b"!<") {
        true => rest.iter().position(|&byte| byte == b'>').map(|at| at + 1),
        false => rest
            .iter()
            .position(|&byte| is_blank(byte) || is_flow_indicator(byte)),
    };
    end.unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_yaml::Value;

    /// Returns the maximum depth of brackets.
    fn depth(text: &str) -> usize {
        (0..)
            .find(|&most| too_deep(text, most).is_none())
            .unwrap_or(0)
    }

    #[test]
    fn brackets_count_where_they_open_something() {
        for (text, expected) in [
            ("a: [b, {c: [d]}]\n", 3),
            ("[\n[\n[\n", 3),
            ("a: [\nx: [\ny: [", 3),
            ("a: n[0-3\nb: {a: []}\nc: x [[[\n", 2),
            ("- [0, 1]\n- [2, 3]\n", 1),
            ("a: [\"]]\", ']]', [ # ]]\n [", 3),
            ("a: ['it''s]', \"\\\"]\", [", 2),
            ("a: |\n  [[[\n  '\nb: [", 1),
            ("a: text that\n  [[[ goes on\nb: [[", 2),
            ("# [[[\ra: [[", 2),
            ("a: &b[ [", 2),
            ("!<[[[> [", 1),
        ] {
            assert_eq!(depth(text), expected, "{text:?}");
        }
        assert_eq!(too_deep("a: 1\nb: [\n[\n", 1), Some(3));
    }

    fn nested(value: &Value) -> usize {
        let deepest = |values: &mut dyn Iterator<Item = &Value>| values.map(nested).max();
        match value {
            Value::Sequence(parts) => 1 + deepest(&mut parts.iter()).unwrap_or(0),
            Value::Mapping(parts) => 1 + deepest(&mut parts.values()).unwrap_or(0),
            Value::Tagged(tagged) => nested(&tagged.value),
            _ => 0,
        }
    }

    proptest! {
        /// In text of one flow collection, all nesting is by brackets.
        #[test]
        fn no_bracket_that_the_reader_finds_is_missed(text in "\\[[\\[\\]\\[, '\"#:!&\\\\a\n]{0,24}\\]?") {
            if let Ok(value) = serde_yaml::from_str::<Value>(&text) {
                // `[a: b]` is a list of a mapping that has no brackets.
                let pairs = text.matches(':').count();
                prop_assert!(depth(&text) + pairs >= nested(&value), "{:?}", text);
            }
        }
    }
}
