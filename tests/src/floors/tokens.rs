//! The tokens of Rust code that paths are made of, without comments and texts.

use proc_macro2::{Delimiter, LexError, Spacing, TokenStream, TokenTree};

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
///
/// # Errors
/// Code that no compiler would take.
pub fn tokens(code: &str) -> Result<Vec<Token>, LexError> {
    let mut tokens = Vec::new();
    flatten(code.parse()?, &mut tokens);
    Ok(tokens)
}

fn flatten(stream: TokenStream, into: &mut Vec<Token>) {
    let mut after_colon = false;
    for tree in stream {
        let line = tree.span().start().line;
        let mut push = |text: &str| {
            let text = text.to_owned();
            into.push(Token { text, line });
        };
        let is_second = std::mem::take(&mut after_colon);
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Parenthesis | Delimiter::None => ("(", ")"),
                };
                push(open);
                flatten(group.stream(), into);
                let line = group.span_close().start().line;
                let text = close.to_owned();
                into.push(Token { text, line });
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => match is_second {
                true => push("::"),
                false if punct.spacing() == Spacing::Joint => after_colon = true,
                false => push(":"),
            },
            TokenTree::Punct(punct) => push(&punct.as_char().to_string()),
            TokenTree::Ident(word) => push(&word.to_string()),
            TokenTree::Literal(_) => (),
        }
    }
}
