//! Accepts `enable subgroups`: naga 30 has the operations and refuses the directive.

use std::borrow::Cow;
use std::ops::Range;

/// Replaces `subgroups` in the enable directives of `source` by spaces, byte for byte, so that
/// positions in the source stay what they are.
pub(super) fn blank_subgroups(source: &str) -> Cow<'_, str> {
    if !source.contains("subgroups") {
        return Cow::Borrowed(source);
    }
    let mut text = source.to_owned();
    for range in subgroups_tokens(source) {
        let spaces = " ".repeat(range.len());
        text.replace_range(range, &spaces);
    }
    Cow::Owned(text)
}

/// The tokens to drop. Directives come before all declarations, so the first token that begins
/// no directive ends the search.
fn subgroups_tokens(source: &str) -> Vec<Range<usize>> {
    let mut dropped = Vec::new();
    let mut position = 0;
    while let Some(keyword) = next_token(source, position) {
        let mut tokens = vec![keyword.clone()];
        match &source[keyword] {
            "enable" | "requires" | "diagnostic" => loop {
                let last = tokens.last().map_or(position, |token| token.end);
                let Some(token) = next_token(source, last) else {
                    return dropped;
                };
                let ends = &source[token.clone()] == ";";
                tokens.push(token);
                if ends {
                    break;
                }
            },
            ";" => {}
            _ => return dropped,
        }
        position = tokens.last().map_or(position, |token| token.end);
        if &source[tokens[0].clone()] == "enable" {
            dropped.extend(subgroups_in_enable(source, tokens));
        }
    }
    dropped
}

/// Each `subgroups` with one comma beside it, or the whole directive if nothing else is enabled.
fn subgroups_in_enable(source: &str, mut tokens: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut dropped = Vec::new();
    let is = |token: &Range<usize>, text: &str| &source[token.clone()] == text;
    while let Some(name) = tokens.iter().position(|token| is(token, "subgroups")) {
        dropped.push(tokens.remove(name));
        let mut beside = [name, name - 1].into_iter();
        if let Some(comma) = beside.find(|&index| is(&tokens[index], ",")) {
            dropped.push(tokens.remove(comma));
        }
    }
    if !dropped.is_empty() && tokens.len() == 2 {
        dropped.append(&mut tokens);
    }
    dropped
}

/// The first token at or after `position`: a word, or one character of punctuation.
fn next_token(source: &str, position: usize) -> Option<Range<usize>> {
    let start = skip_blanks(source, position);
    let rest = &source[start..];
    let word = rest.find(|character: char| !(character.is_alphanumeric() || character == '_'));
    let length = match word.unwrap_or(rest.len()) {
        0 => rest.chars().next()?.len_utf8(),
        length => length,
    };
    Some(start..start + length)
}

/// The first position at or after `position` that is neither white space nor in a comment.
fn skip_blanks(source: &str, mut position: usize) -> usize {
    loop {
        let rest = source[position..].trim_start();
        position = source.len() - rest.len();
        position += if rest.starts_with("//") {
            rest.find(LINE_ENDS).unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment_len(rest)
        } else {
            return position;
        };
    }
}

/// WGSL section "Blankspace and Line Breaks".
const LINE_ENDS: [char; 7] = [
    '\n', '\u{b}', '\u{c}', '\r', '\u{85}', '\u{2028}', '\u{2029}',
];

/// Bytes of the block comment that `text` begins with; WGSL lets them nest.
fn block_comment_len(text: &str) -> usize {
    let mut depth = 0usize;
    let mut position = 0;
    while let Some(found) = text[position..].find(['/', '*']) {
        position += found;
        let step = match text.get(position..position + 2) {
            Some("/*") => {
                depth += 1;
                2
            }
            Some("*/") => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        position += step;
        if depth == 0 {
            return position;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(source: &str) -> Cow<'_, str> {
        let text = blank_subgroups(source);
        assert_eq!(text.len(), source.len());
        text
    }

    #[test]
    fn lone_subgroups_takes_the_directive_with_it() {
        assert_eq!(blanked("enable subgroups; fn"), "                  fn");
    }

    #[test]
    fn other_names_of_the_list_stay() {
        assert_eq!(blanked("enable f16, subgroups;"), "enable f16           ;");
        assert_eq!(blanked("enable subgroups, f16;"), "enable            f16;");
        assert_eq!(
            blanked("enable a, subgroups, b,;"),
            "enable a,            b,;"
        );
    }

    #[test]
    fn repeated_names_go() {
        assert_eq!(blanked("enable subgroups,subgroups,;").trim(), "");
        assert_eq!(
            blanked("enable f16;enable subgroups;").trim(),
            "enable f16;"
        );
    }

    #[test]
    fn comments_stay() {
        let source = "// enable subgroups;\n/* /* */ enable subgroups; */ enable/**/subgroups ; fn";
        let expected =
            "// enable subgroups;\n/* /* */ enable subgroups; */       /**/            fn";
        assert_eq!(blanked(source), expected);
    }

    #[test]
    fn directives_after_declarations_stay() {
        let source = "const a = 1; enable subgroups;";
        assert_eq!(blanked(source), source);
    }

    #[test]
    fn names_that_contain_it_stay() {
        let source = "enable subgroups_f16;";
        assert_eq!(blanked(source), source);
    }

    #[test]
    fn unfinished_directives_stay() {
        for source in [
            "enable subgroups",
            "enable subgroups /*",
            "enable subgroups //;",
            "enable",
        ] {
            assert_eq!(blanked(source), source);
        }
    }
}
