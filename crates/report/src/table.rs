//! Text tables: columns as wide as their widest cell, numbers to the right.

use crate::format::NOT_OBSERVED;

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Space between two columns.
const GAP: &str = "  ";

/// A table of text.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        Self {
            columns: columns.iter().map(|(name, align)| ((*name).to_owned(), *align)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; it has a cell for every column.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a row has a cell for every column");
        self.rows.push(cells);
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Drops columns in which no row says anything.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        let silent =
            |index: usize| self.rows.iter().all(|row| row[index].is_empty() || row[index] == NOT_OBSERVED);
        let keep: Vec<bool> = (0..self.columns.len()).map(|index| !silent(index)).collect();
        let mut kept = keep.iter();
        self.columns.retain(|_| *kept.next().unwrap_or(&true));
        for row in &mut self.rows {
            let mut kept = keep.iter();
            row.retain(|_| *kept.next().unwrap_or(&true));
        }
        self
    }

    /// The table for a terminal, each line ended, `indent` before each.
    pub(crate) fn to_text(&self, indent: &str, heading: impl Fn(&str) -> String) -> String {
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|index| {
                let cells = self.rows.iter().map(|row| width(&row[index])).max().unwrap_or(0);
                cells.max(width(&self.columns[index].0))
            })
            .collect();
        let line = |cells: &[String]| {
            let padded: Vec<String> = cells
                .iter()
                .zip(&widths)
                .zip(&self.columns)
                .map(|((cell, &column), (_, align))| pad(cell, column, *align))
                .collect();
            padded.join(GAP).trim_end().to_owned()
        };
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let rules: Vec<String> = widths.iter().map(|&w| "─".repeat(w)).collect();
        let mut out = format!("{indent}{}\n{indent}{}\n", heading(&line(&names)), rules.join(GAP));
        for row in &self.rows {
            out.push_str(indent);
            out.push_str(&line(row));
            out.push('\n');
        }
        out
    }

    /// The table in Markdown (the pipe tables of GitHub and pandoc).
    pub(crate) fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(self.columns.iter().map(|(name, _)| escaped(name)).collect());
        out.push_str(&line(
            self.columns
                .iter()
                .map(|(_, align)| match align {
                    Align::Left => "---".to_owned(),
                    Align::Right => "---:".to_owned(),
                })
                .collect(),
        ));
        for row in &self.rows {
            out.push_str(&line(row.iter().map(|cell| escaped(cell)).collect()));
        }
        out
    }
}

/// Characters on the screen. Every character that a report writes is one column wide; names of
/// files from elsewhere may be wider and then only push their own row.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

fn pad(cell: &str, column: usize, align: Align) -> String {
    let space = " ".repeat(column.saturating_sub(width(cell)));
    match align {
        Align::Left => format!("{cell}{space}"),
        Align::Right => format!("{space}{cell}"),
    }
}

/// Text that Markdown shows as it is, in one cell.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '\\' | '`' | '*' | '_' | '<' | '[' => {
                out.push('\\');
                out.push(character);
            }
            '\n' | '\r' => out.push(' '),
            _ => out.push(character),
        }
    }
    out
}

/// `text` in lines of at most `columns`, the first after `first`, the others after as many spaces.
pub(crate) fn wrapped(first: &str, text: &str, columns: usize) -> String {
    let indent = " ".repeat(width(first));
    let mut out = String::from(first);
    let mut used = width(first);
    let mut fresh = true;
    for word in text.split_whitespace() {
        if !fresh && used + 1 + width(word) > columns {
            out.push('\n');
            out.push_str(&indent);
            used = width(&indent);
            fresh = true;
        }
        if !fresh {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += width(word);
        fresh = false;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::{Align, Table, width, wrapped};

    fn table() -> Table {
        let mut table = Table::new(&[("case", Align::Left), ("MB/s", Align::Right), ("mark", Align::Left)]);
        table.row(vec!["a|b".into(), "1,234".into(), String::new()]);
        table.row(vec!["µ".into(), "9.5".into(), "–".into()]);
        table
    }

    #[test]
    fn columns_line_up_and_silent_ones_go() {
        let text = table().without_empty_columns().to_text("  ", str::to_owned);
        assert_eq!(text, "  case   MB/s\n  ────  ─────\n  a|b   1,234\n  µ       9.5\n");
    }

    #[test]
    fn markdown_escapes_what_would_end_a_cell() {
        assert!(table().to_markdown().contains("| a\\|b | 1,234 |"));
    }

    #[test]
    fn long_text_is_folded_at_words() {
        let text = wrapped("a  ", "one two three four", 11);
        assert_eq!(text, "a  one two\n   three\n   four\n");
        assert!(text.lines().all(|line| width(line) <= 11));
    }
}
