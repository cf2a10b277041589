//! Folding of texts with lines wider than the screen.

use crate::Screen;
use crate::format::table::{width, wrapped};

impl Screen {
    /// Folds the lines of `text` that are wider than the screen. The last column continues below itself, other
    /// text at the indent of its line; coloured lines are already laid out.
    #[must_use]
    pub fn folded(self, text: &str) -> String {
        let fold = |line: &str| {
            let words = line.trim_end();
            if width(words) <= self.columns() || words.contains('\u{1b}') {
                return line.to_owned();
            }
            let (first, rest) = words.split_at(column(words, self.columns() / 2));
            wrapped(first, rest, self.columns())
        };
        text.split_inclusive('\n').map(fold).collect()
    }
}

/// The byte offset at which the last column of `line` starts, if that is within `most` characters; otherwise
/// that of its text.
fn column(line: &str, most: usize) -> usize {
    let indent = line.len() - line.trim_start().len();
    let gap = |at: &usize| {
        line.is_char_boundary(*at) && line[..*at].ends_with("  ") && !line[*at..].starts_with(' ')
    };
    let mut begins = (indent + 1..line.len()).rev().filter(gap);
    begins.find(|&at| width(&line[..at]) <= most).unwrap_or(indent)
}

#[cfg(test)]
mod tests {
    use crate::Screen;

    #[test]
    fn wide_lines_go_on_below_their_last_column() {
        let screen = Screen::PLAIN.wide(60);
        let help = "Usage: ioproof ior [OPTION]...\n  -A, --async   requests by io_uring, one at a time, as nothing can be done before each\n";
        assert_eq!(
            screen.folded(help),
            "Usage: ioproof ior [OPTION]...\n  -A, --async   requests by io_uring, one at a time, as\n                nothing can be done before each\n"
        );
        let plain = "  a line without columns that is wider than the sixty columns of this screen";
        let folded = screen.folded(plain);
        assert_eq!(
            folded,
            "  a line without columns that is wider than the sixty\n  columns of this screen\n"
        );
        let coloured = format!("\u{1b}[1m{}\u{1b}[0m", "word ".repeat(30));
        assert_eq!(screen.folded(&coloured), coloured);
        assert_eq!(Screen::PLAIN.folded("short\n\nlines"), "short\n\nlines");
    }
}
