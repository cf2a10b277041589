//! Text tables: columns are as wide as their widest cell, and numbers are right-aligned.

use std::borrow::Cow;

use plan::{visible, visible_lines};
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::format::NOT_OBSERVED;
use crate::format::escape;
use crate::format::screen::Screen;
pub(crate) use crate::format::screen::Tone;

/// Alignment of a column: words to the left, numbers to the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Space between two columns.
const GAP: &str = "  ";
/// Indent of the values of a row in a list, the layout of tables that are too wide for the screen.
const LIST_INDENT: &str = "    ";
/// Minimum width of a column whose text is wrapped.
const WRAPPED_MIN: usize = 10;
/// Characters in a row of a table that is as wide as the page.
const PAGE_COLUMNS: usize = 165;
/// Space between two columns on the page.
const PAGE_GAP: usize = 3;
/// Minimum width on the page of the column that can be moved below its row.
const PAGE_WORDS_MIN: usize = 40;

/// One cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Highlighting. The text must make sense without it.
    pub(crate) tone: Tone,
    /// The number of the figure that the cell links to.
    pub(crate) figure: Option<usize>,
}

impl Cell {
    /// A highlighted cell.
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone, figure: None }
    }

    /// A link to a figure by its number; empty if none.
    pub(crate) fn figure(number: Option<usize>) -> Self {
        let text = number.map(|number| number.to_string()).unwrap_or_default();
        Self { text, tone: Tone::Plain, figure: number }
    }

    /// The same cell with hidden characters in its text escaped.
    fn shown(self) -> Self {
        match visible(&self.text) {
            Cow::Borrowed(_) => self,
            Cow::Owned(text) => Self { text, ..self },
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        text.unwrap_or_default().into()
    }
}

/// Units that are not separated from their number by a line break.
const UNITS: [&str; 21] = [
    "%", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "kB/s", "MB/s", "GB/s", "TB/s", "ns", "µs",
    "ms", "s", "min", "h", "IOPS",
];

/// A table of text.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
    /// The heading of the column that is moved below its row if the table is too wide.
    below: Option<&'static str>,
    /// Whether text may be wrapped within its column if the table is too wide.
    wraps: bool,
    /// Number of rows that were left out.
    omitted: usize,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        Self {
            columns: columns.iter().map(|(name, align)| (visible(name).into_owned(), *align)).collect(),
            rows: Vec::new(),
            below: None,
            wraps: true,
            omitted: 0,
        }
    }

    /// A table with a row for each of `rows`; its columns are added to the result.
    pub(crate) fn of<T>(rows: impl IntoIterator<Item = T>) -> TableOf<T> {
        let of: Vec<T> = rows.into_iter().collect();
        let rows = of.iter().map(|_| Vec::new()).collect();
        TableOf { of, table: Self { rows, ..Self::new(&[]) } }
    }

    /// Keeps each row on one line, however long, so that rows can be searched and compared.
    pub(crate) fn unfolded(mut self) -> Self {
        self.wraps = false;
        self
    }

    /// Lets the last column, called `heading`, be moved below its row if the table is too wide.
    pub(crate) fn below(mut self, heading: &'static str) -> Self {
        self.below = Some(heading);
        self
    }

    /// Adds a row with a cell for every column. Hidden characters in its texts are escaped.
    pub(crate) fn row(&mut self, cells: Vec<impl Into<Cell>>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a row has a cell for every column");
        self.rows.push(cells.into_iter().map(|cell| cell.into().shown()).collect());
    }

    /// Headings with their alignment.
    pub(crate) fn columns(&self) -> &[(String, Align)] {
        &self.columns
    }

    /// All cells.
    pub(crate) fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// The table with at most `most` rows, and how many were left out.
    pub(crate) fn first(&self, most: usize) -> (Self, usize) {
        let rows: Vec<_> = self.rows.iter().take(most).cloned().collect();
        let omitted = self.omitted + self.rows.len() - rows.len();
        let columns = self.columns.clone();
        (Self { columns, rows, below: self.below, wraps: self.wraps, omitted: 0 }, omitted)
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Drops empty columns.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        let silent =
            |index: usize| self.rows.iter().all(|row| matches!(row[index].text.as_str(), "" | NOT_OBSERVED));
        let keep: Vec<bool> = (0..self.columns.len()).map(|index| !silent(index)).collect();
        let mut kept = keep.iter();
        self.columns.retain(|_| *kept.next().unwrap_or(&true));
        for row in &mut self.rows {
            let mut kept = keep.iter();
            row.retain(|_| *kept.next().unwrap_or(&true));
        }
        self
    }

    /// The index of the column called `heading`.
    fn index(&self, heading: &str) -> Option<usize> {
        self.columns.iter().position(|(name, _)| name == heading)
    }

    /// Drops the column that may be below its row, and merges rows that only differ in their first cell.
    pub(crate) fn brief(self) -> Self {
        let table = match self.below.and_then(|heading| self.index(heading)) {
            Some(index) => self.without_column(index).0,
            None => self,
        };
        let same = analysis::figures::grouped(table.rows, |row| {
            row[1..].iter().map(|cell| cell.text.clone()).collect::<Vec<_>>()
        });
        let one = |mut rows: Vec<Vec<Cell>>| {
            let names = analysis::figures::grouped(rows.iter().map(|row| row[0].text.clone()), String::clone);
            let more = names.len() - 1;
            let mut row = rows.swap_remove(0);
            if more > 0 {
                row[0].text.push_str(&format!(" and {more} more"));
            }
            row
        };
        Self { rows: same.into_iter().map(one).collect(), ..table }
    }

    /// Removes those of the columns `headings` whose value is the same in several rows, and returns these
    /// values.
    pub(crate) fn take_constant(&mut self, headings: &[&str]) -> Vec<String> {
        let mut said = Vec::new();
        for heading in headings {
            let Some(index) = self.index(heading) else { continue };
            let Some((first, others)) = self.rows.split_first() else { continue };
            let text = first[index].text.clone();
            if others.is_empty() || others.iter().any(|row| row[index].text != text) {
                continue;
            }
            self.columns.remove(index);
            for row in &mut self.rows {
                row.remove(index);
            }
            if !text.is_empty() {
                said.push(text);
            }
        }
        said
    }

    /// The table for `screen`, with `indent` before each line. If it is too wide, first the column that may be below
    /// its row is moved there, then text is wrapped within its column, and as a last resort each row becomes a list
    /// of headings with their values.
    pub(crate) fn to_text(&self, indent: &str, screen: Screen) -> String {
        let most = screen.columns().saturating_sub(width(indent));
        let below = self.below.and_then(|heading| self.index(heading));
        if let Some(index) = below.filter(|_| total_width(&self.natural_widths()) > most) {
            return self.with_column_below(index, indent, screen);
        }
        let widths = self.widths(most);
        if self.wraps && total_width(&widths) > most {
            return self.as_list(indent, screen);
        }
        let mut out = self.heading(indent, &widths, screen);
        for row in &self.rows {
            for line in self.lines(row, &widths, screen) {
                out.push_str(indent);
                out.push_str(line.trim_end());
                out.push('\n');
            }
        }
        out
    }

    /// The headings over their rules; empty if no column has a heading.
    fn heading(&self, indent: &str, widths: &[usize], screen: Screen) -> String {
        if self.columns.iter().all(|(name, _)| name.is_empty()) {
            return String::new();
        }
        let heading = self.columns.iter().zip(widths);
        let heading: Vec<String> =
            heading.map(|((name, align), &column)| pad(name, column, *align)).collect();
        let rules: Vec<String> = widths.iter().map(|&w| "─".repeat(w)).collect();
        format!("{indent}{}\n{indent}{}\n", screen.strong(heading.join(GAP).trim_end()), rules.join(GAP))
    }

    /// The table with column `index` below each row.
    fn with_column_below(&self, index: usize, indent: &str, screen: Screen) -> String {
        let (narrow, below) = self.without_column(index);
        let most = screen.columns().saturating_sub(width(indent));
        let widths = narrow.widths(most);
        if narrow.wraps && total_width(&widths) > most {
            return self.as_list(indent, screen);
        }
        let text = narrow.to_text(indent, screen);
        let mut lines = text.lines();
        let mut out: String = lines.by_ref().take(2).map(|line| format!("{line}\n")).collect();
        for (row, below) in narrow.rows.iter().zip(below) {
            for line in lines.by_ref().take(narrow.lines(row, &widths, screen).len()) {
                out.push_str(line);
                out.push('\n');
            }
            if !below.is_empty() {
                out.push_str(&wrapped(&format!("{indent}    └ "), &below, screen.prose()));
            }
        }
        out
    }

    /// Each row as its first cells and, indented below, `heading value` of all other non-empty cells.
    fn as_list(&self, indent: &str, screen: Screen) -> String {
        let named = self.columns.iter().position(|(_, align)| *align == Align::Left).unwrap_or(0);
        let mut out = String::new();
        for row in &self.rows {
            let (first, others) = row.split_at(named + 1);
            let first: Vec<&str> = first.iter().map(|cell| cell.text.as_str()).collect();
            out.push_str(&wrapped(indent, &first.join(GAP), screen.columns()));
            let filled = others.iter().zip(&self.columns[named + 1..]);
            let filled = filled.filter(|(cell, _)| !matches!(cell.text.as_str(), "" | NOT_OBSERVED));
            let values: Vec<String> =
                filled.map(|(cell, (name, _))| format!("{name} {}", cell.text)).collect();
            if !values.is_empty() {
                out.push_str(&wrapped(
                    &format!("{indent}{LIST_INDENT}"),
                    &values.join(" · "),
                    screen.columns(),
                ));
            }
        }
        out
    }

    /// The table without column `index`, and that column's text in each row.
    fn without_column(&self, index: usize) -> (Self, Vec<String>) {
        let without = |row: &Vec<Cell>| {
            let mut row = row.clone();
            let cell = row.remove(index);
            (row, cell.text)
        };
        let (rows, below) = self.rows.iter().map(without).unzip();
        let mut columns = self.columns.clone();
        columns.remove(index);
        (Self { columns, rows, below: None, wraps: self.wraps, omitted: self.omitted }, below)
    }

    /// For the page: the table without the column that must be below its row, and the texts of that column; none if
    /// the page has room for the column.
    pub(crate) fn parted_for_page(&self) -> Option<(Self, Vec<String>)> {
        let index = self.index(self.below?)?;
        let mut widths = self.natural_widths();
        widths.remove(index);
        let others: usize = widths.iter().map(|width| width + PAGE_GAP).sum();
        (others + PAGE_WORDS_MIN > PAGE_COLUMNS).then(|| self.without_column(index))
    }

    /// The width of each column's widest cell.
    fn natural_widths(&self) -> Vec<usize> {
        (0..self.columns.len())
            .map(|index| {
                let cells = self.rows.iter().map(|row| width(&row[index].text)).max().unwrap_or(0);
                cells.max(width(&self.columns[index].0))
            })
            .collect()
    }

    /// The width of each column, so that all fit into `most` if possible. The widest columns of words are reduced;
    /// columns of numbers are not.
    fn widths(&self, most: usize) -> Vec<usize> {
        let mut widths = self.natural_widths();
        loop {
            let over = total_width(&widths).saturating_sub(most);
            let widest = (0..widths.len())
                .filter(|&index| {
                    self.columns[index].1 == Align::Left && widths[index] > width(&self.columns[index].0)
                })
                .max_by_key(|&index| widths[index]);
            match widest {
                Some(index) if self.wraps && over > 0 && widths[index] > WRAPPED_MIN => widths[index] -= 1,
                _ => return widths,
            }
        }
    }

    /// A row as lines, with each cell wrapped to its column.
    fn lines(&self, row: &[Cell], widths: &[usize], screen: Screen) -> Vec<String> {
        let wrapped_cells: Vec<Vec<String>> = row
            .iter()
            .zip(widths)
            .map(|(cell, &column)| {
                if width(&cell.text) <= column {
                    return vec![cell.text.clone()];
                }
                wrapped("", &cell.text, column).lines().flat_map(|line| broken(line, column)).collect()
            })
            .collect();
        let lines = wrapped_cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |index: usize| {
            let cells = wrapped_cells.iter().zip(row).zip(widths).zip(&self.columns).map(
                |(((lines, cell), &column), (_, align))| {
                    let text = lines.get(index).map_or("", String::as_str);
                    let padded = pad(text, column, *align);
                    if text.is_empty() { padded } else { screen.tone(cell.tone, &padded) }
                },
            );
            cells.collect::<Vec<_>>().join(GAP)
        };
        (0..lines).map(line).collect()
    }

    /// The table in Markdown (the pipe tables of GitHub and pandoc).
    pub(crate) fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(self.columns.iter().map(|(name, _)| escape::markdown(name)).collect());
        let rule = |(_, align): &(String, Align)| match align {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        };
        out.push_str(&line(self.columns.iter().map(rule).collect()));
        for row in &self.rows {
            out.push_str(&line(row.iter().map(|cell| escape::markdown(&cell.text)).collect()));
        }
        out
    }
}

/// A table that is built column by column.
pub(crate) struct TableOf<T> {
    of: Vec<T>,
    table: Table,
}

impl<T> TableOf<T> {
    /// Leaves out all rows after the first `most`.
    pub(crate) fn at_most(mut self, most: usize) -> Self {
        self.table.omitted = self.of.len().saturating_sub(most);
        self.of.truncate(most);
        self.table.rows.truncate(most);
        self
    }

    /// Adds a column of words.
    pub(crate) fn left<C: Into<Cell>>(self, heading: &str, cell: impl Fn(&T) -> C) -> Self {
        self.column(heading, Align::Left, cell)
    }

    /// Adds a column of numbers.
    pub(crate) fn right<C: Into<Cell>>(self, heading: &str, cell: impl Fn(&T) -> C) -> Self {
        self.column(heading, Align::Right, cell)
    }

    /// Adds the columns that `more` adds.
    pub(crate) fn with(self, more: impl FnOnce(Self) -> Self) -> Self {
        more(self)
    }

    fn column<C: Into<Cell>>(mut self, heading: &str, align: Align, cell: impl Fn(&T) -> C) -> Self {
        self.table.columns.push((visible(heading).into_owned(), align));
        for (row, of) in self.table.rows.iter_mut().zip(&self.of) {
            row.push(cell(of).into().shown());
        }
        self
    }

    /// The finished table.
    pub(crate) fn done(self) -> Table {
        self.table
    }
}

/// The width of a table with columns of these widths.
fn total_width(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

/// The columns that `text` takes on the screen.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `line` split into parts of at most `columns`, for single words that are longer, such as names of cases.
fn broken(line: &str, columns: usize) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in line.chars() {
        let last = parts.last_mut().expect("there is one from the start");
        if !last.is_empty() && width(last) + letter.width().unwrap_or(0) > columns {
            parts.push(letter.to_string());
        } else {
            last.push(letter);
        }
    }
    parts
}

fn pad(cell: &str, column: usize, align: Align) -> String {
    let space = " ".repeat(column.saturating_sub(width(cell)));
    match align {
        Align::Left => format!("{cell}{space}"),
        Align::Right => format!("{space}{cell}"),
    }
}

/// `text` wrapped to lines of at most `columns`: the first after `first`, the others after as many spaces. Line ends in
/// `text` count as spaces; hidden characters are escaped.
pub(crate) fn wrapped(first: &str, text: &str, columns: usize) -> String {
    let (first, text) = (visible(first), visible_lines(text));
    let indent = " ".repeat(width(&first));
    let mut used = width(&first);
    let mut out = first.into_owned();
    let mut at_line_start = true;
    for word in unbroken(&text) {
        let word = &*word;
        if !at_line_start && used + 1 + width(word) > columns {
            out.push('\n');
            out.push_str(&indent);
            used = width(&indent);
            at_line_start = true;
        }
        if !at_line_start {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += width(word);
        at_line_start = false;
    }
    out.push('\n');
    out
}

/// The words of `text`, each number with its unit as one word.
fn unbroken(text: &str) -> Vec<Cow<'_, str>> {
    let mut words: Vec<Cow<'_, str>> = Vec::new();
    for word in text.split_whitespace() {
        let unit = word.trim_end_matches([',', ';', ':', '.', ')']);
        match words.last_mut().filter(|number| number.ends_with(|last: char| last.is_ascii_digit())) {
            Some(number) if UNITS.contains(&unit) => *number = format!("{number} {word}").into(),
            _ => words.push(word.into()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Align, Cell, Table, Tone, width, wrapped};
    use crate::format::screen::Screen;

    fn table() -> Table {
        let mut table = Table::new(&[("case", Align::Left), ("MB/s", Align::Right), ("mark", Align::Left)]);
        table.row(vec!["a|b", "1,234", ""]);
        table.row(vec!["µ", "9.5", "–"]);
        table
    }

    #[test]
    fn units_stay_with_their_numbers() {
        assert_eq!(wrapped("", "devices read 0.0 % of all", 17), "devices read\n0.0 % of all\n");
        assert_eq!(wrapped("", "a file of 4 KiB, direct", 13), "a file of\n4 KiB, direct\n");
        assert_eq!(wrapped("", "one s two", 5), "one s\ntwo\n", "a word that only looks like one");
    }

    #[test]
    fn columns_line_up_and_silent_ones_go() {
        let text = table().without_empty_columns().to_text("  ", Screen::PLAIN);
        assert_eq!(text, "  case   MB/s\n  ────  ─────\n  a|b   1,234\n  µ       9.5\n");
    }

    #[test]
    fn words_are_folded_where_a_table_would_be_too_wide() {
        let mut table = Table::new(&[("#", Align::Right), ("a", Align::Left), ("b", Align::Left)]);
        let words = "word ".repeat(30);
        table.row(vec!["12345".to_owned(), words.clone(), words]);
        let text = table.to_text("", Screen::PLAIN);
        assert!(text.lines().all(|line| width(line) <= 120), "{text}");
        assert_eq!(text.matches("word").count(), 60);
    }

    #[test]
    fn a_table_of_many_numbers_changes_its_shape_on_a_narrow_screen() {
        let headings: Vec<String> = (0..12).map(|index| format!("rate {index}")).collect();
        let numbers = headings.iter().map(|name| (name.as_str(), Align::Right));
        let columns: Vec<_> =
            [("#", Align::Right), ("case", Align::Left)].into_iter().chain(numbers).collect();
        let mut table = Table::new(&columns);
        let cells = |from: u32| (from..from + 12).map(|value| format!("{value},000"));
        table.row(["1", "one"].map(str::to_owned).into_iter().chain(cells(100)).collect());
        table.row(["2", "two"].map(str::to_owned).into_iter().chain(cells(200)).collect());
        for columns in [60, 80, 100, 160] {
            let text = table.to_text("", Screen::PLAIN.wide(columns));
            assert!(text.lines().all(|line| width(line) <= columns), "{text}");
            assert!((100..112).chain(200..212).all(|value| text.contains(&format!("{value},000"))), "{text}");
            assert_eq!(text.contains("─"), columns == 160, "{text}");
        }
    }

    #[test]
    fn a_toned_cell_is_coloured_only_where_asked() {
        let mut table = Table::new(&[("verdict", Align::Left), ("n", Align::Right)]);
        table.row(vec![Cell::toned("FAIL", Tone::Bad), Cell::figure(Some(3))]);
        assert!(!table.to_text("", Screen::PLAIN).contains('\u{1b}'));
        assert!(table.to_text("", Screen::PLAIN.coloured()).contains("\u{1b}[31mFAIL   \u{1b}[0m"));
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
