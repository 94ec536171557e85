//! Places in a WGSL source and how errors show them.

use std::error::Error;
use std::fmt;

use naga::Span;

/// A place in a WGSL source.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SourceLocation {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The source line, or the part of it around the column, and below it a caret.
    pub excerpt: String,
}

impl SourceLocation {
    /// Characters of a line that an excerpt shows, on each side of the column.
    const EXCERPT_REACH: usize = 80;

    /// The start of `span`, with `label` beside the caret; nothing if the span is unknown.
    pub(super) fn new(span: Span, label: &str, source: &str) -> Option<Self> {
        let start = span.to_range()?.start;
        let before = source.get(..start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        let text = source[line_start..].lines().next().unwrap_or("");
        let column = before[line_start..].chars().count();

        let skipped = column.saturating_sub(Self::EXCERPT_REACH);
        let shown = text.chars().skip(skipped).take(2 * Self::EXCERPT_REACH);
        let shown: String = shown.map(blank_control).collect();
        let gutter = format!("{line} | ");
        let indent = gutter.len() + column - skipped;
        let excerpt = format!("{gutter}{shown}\n{:indent$}^ {label}", "");
        Some(Self {
            line: u32::try_from(line).ok()?,
            column: u32::try_from(column + 1).ok()?,
            excerpt: excerpt.trim_end().to_owned(),
        })
    }
}

/// Tabs and control characters have no fixed width; the caret needs one.
fn blank_control(character: char) -> char {
    if character.is_control() {
        ' '
    } else {
        character
    }
}

/// " at line:column", or nothing.
pub(super) struct At<'a>(pub(super) &'a Option<SourceLocation>);

impl fmt::Display for At<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(location) => write!(formatter, " at {}:{}", location.line, location.column),
            None => Ok(()),
        }
    }
}

/// The excerpt on lines of its own, or nothing.
pub(super) struct Excerpt<'a>(pub(super) &'a Option<SourceLocation>);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(location) => write!(formatter, "\n{}", location.excerpt),
            None => Ok(()),
        }
    }
}

/// An error with its causes: naga's outermost message alone says only which function is invalid.
pub(super) struct Chain<'a>(pub(super) &'a dyn Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(cause) = next {
            write!(formatter, ": {cause}")?;
            next = cause.source();
        }
        Ok(())
    }
}
