//! A table in a line of the journal. Its rows are made some at a time: the columns of a phase of hours, all parsed at
//! once, take more memory than its rows.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::PhaseKey;
use crate::files::limits::{self, TextBudget};
use crate::table::values::{JournalColumn, Values};
use crate::table::{Columns, Row};

/// The columns `case`, `repetition` and `phase`, which are the first ones of every table and stored once per event.
pub(crate) const KEY_COLUMNS: usize = 3;
/// Number of rows that are parsed at a time, as in a group of a Parquet table.
const PIECE_ROWS: usize = 16_384;

/// The rows of `table`, a JSON object of columns, that belong to `key`.
pub(crate) fn rows<R: Row>(key: &PhaseKey, table: &str) -> Result<Vec<R>, String> {
    let mut columns = TableText::of(table)?;
    // Growing it step by step would take up to three times as much memory.
    let mut rows = Vec::with_capacity(columns.rows);
    columns.each_piece(key, |mut piece| rows.append(&mut piece))?;
    Ok(rows)
}

/// Checks whether the rows of `table` can be read, without keeping them.
pub(crate) fn check<R: Row>(key: &PhaseKey, table: &str) -> Result<(), String> {
    TableText::<R>::of(table)?.each_piece(key, drop)
}

/// The columns of a table that have not been parsed yet.
struct TableText<'a, R: Row> {
    /// In the order of [`Row::COLUMNS`], without the key; `None` for one that the table does not have.
    columns: Vec<Option<ColumnText<'a>>>,
    rows: usize,
    texts: TextBudget,
    of: std::marker::PhantomData<R>,
}

fn wrong<R: Row>(error: impl std::fmt::Display) -> String {
    format!("table {}: {error}", R::TABLE)
}

impl<'a, R: Row> TableText<'a, R> {
    fn of(table: &'a str) -> Result<Self, String> {
        let stored = table.len() as u64;
        let known: HashMap<Cow<'a, str>, &'a RawValue> = serde_json::from_str(table).map_err(wrong::<R>)?;
        let text = |name| known.get(name).map(|value| ColumnText::of(value.get()));
        let columns: Vec<_> = R::COLUMNS.iter().skip(KEY_COLUMNS).map(|column| text(column.name)).collect();
        let rows = columns.iter().flatten().find_map(ColumnText::count).unwrap_or(1);
        limits::check_rows_of_line(limits::bytes_of_rows::<R>(rows as u64), stored)?;
        Ok(Self { columns, rows, texts: TextBudget::of_line(stored), of: std::marker::PhantomData })
    }

    /// Passes all rows to `take`, in their order.
    fn each_piece(&mut self, key: &PhaseKey, mut take: impl FnMut(Vec<R>)) -> Result<(), String> {
        let mut left = self.rows;
        while left > 0 {
            let count = left.min(PIECE_ROWS);
            left -= count;
            let mut columns = vec![
                (R::COLUMNS[0].name, Values::word(&key.case, count)),
                (R::COLUMNS[1].name, Values::Integers(vec![i64::from(key.repetition); count])),
                (R::COLUMNS[2].name, Values::word(key.phase.name(), count)),
            ];
            for (column, text) in R::COLUMNS.iter().skip(KEY_COLUMNS).zip(&mut self.columns) {
                let values = match text {
                    Some(text) => text.next(count),
                    None => column.absent(count),
                };
                columns.push((column.name, values.map_err(wrong::<R>)?));
            }
            take(R::from_columns(&mut Columns::new(count, columns, &mut self.texts)).map_err(wrong::<R>)?);
        }
        match self.columns.iter().flatten().any(ColumnText::has_more) {
            true => Err(wrong::<R>("its columns have different numbers of values")),
            false => Ok(()),
        }
    }
}

/// A column: one value that stands for all rows, or the values of an array that have not been parsed yet.
#[derive(Clone, Copy)]
enum ColumnText<'a> {
    ForAll(&'a str),
    Array(&'a str),
}

impl<'a> ColumnText<'a> {
    fn of(text: &'a str) -> Self {
        let array = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        array.map_or(Self::ForAll(text), |values| Self::Array(values.trim_ascii()))
    }

    /// The number of values, or `None` if one value stands for all rows.
    fn count(&self) -> Option<usize> {
        match self {
            Self::ForAll(_) => None,
            Self::Array("") => Some(0),
            Self::Array(values) => Some(commas(values).count() + 1),
        }
    }

    fn has_more(&self) -> bool {
        matches!(self, Self::Array(values) if !values.is_empty())
    }

    /// The values of the next `count` rows.
    fn next(&mut self, count: usize) -> Result<Values, String> {
        let parsed: Result<JournalColumn, _> = match self {
            Self::ForAll(value) => serde_json::from_str(value),
            Self::Array(values) => {
                let end = commas(values).nth(count - 1);
                let (next, rest) = end.map_or((*values, ""), |end| (&values[..end], &values[end + 1..]));
                *values = rest;
                serde_json::from_str(&format!("[{next}]"))
            }
        };
        parsed.map(|column| column.values(count)).map_err(|error| error.to_string())
    }
}

/// The positions of the commas between `values`. A comma in a text is not one of them.
fn commas(values: &str) -> impl Iterator<Item = usize> {
    let bytes = values.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let found = at + memchr::memchr2(b',', b'"', &bytes[at..])?;
            at = found + 1;
            if bytes[found] == b',' {
                return Some(found);
            }
            at = end_of_text(bytes, at);
        }
    })
}

/// The position after the quote that ends the text in `bytes` that begins at `at`.
fn end_of_text(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        if bytes[at + found] == b'"' {
            return at + found + 1;
        }
        // The next byte is escaped.
        at += found + 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::{ColumnText, PIECE_ROWS, check, rows};
    use crate::table::values::{NULL, Values};
    use crate::{DeviceRow, LatencyRow, PhaseKey, PrintedRow};

    fn key() -> PhaseKey {
        PhaseKey { case: "c".into(), repetition: 1, phase: plan::Phase::Read }
    }

    /// A table of `count` rows, whose `low_ns` counts.
    fn latency(count: usize) -> String {
        let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        let numbers = numbers.join(",");
        format!(
            r#"{{"operation":"read","measure":"response","low_ns":[{numbers}],"high_ns":[{numbers}],"count":[{numbers}]}}"#
        )
    }

    #[test]
    fn all_rows_are_read_whatever_the_number_of_pieces() {
        for count in [1, PIECE_ROWS - 1, PIECE_ROWS, PIECE_ROWS + 1, 3 * PIECE_ROWS] {
            let rows: Vec<LatencyRow> = rows(&key(), &latency(count)).expect("rows");
            assert_eq!(rows.len(), count);
            assert!(rows.iter().zip(0..).all(|(row, number)| row.low_ns == number && row.key == key()));
        }
        let none: Vec<LatencyRow> = rows(&key(), &latency(0)).expect("no rows");
        assert!(none.is_empty());
    }

    #[test]
    fn columns_of_different_lengths_are_refused() {
        let count = PIECE_ROWS + 2;
        for (from, to) in [("],\"high_ns\"", ",7],\"high_ns\""), ("],\"count\":[0,", "],\"count\":[")] {
            let table = latency(count).replacen(from, to, 1);
            assert_ne!(table, latency(count));
            check::<LatencyRow>(&key(), &table).expect_err(to);
            rows::<LatencyRow>(&key(), &table).expect_err(to);
        }
    }

    #[test]
    fn a_comma_or_a_quote_in_a_text_does_not_end_it() {
        let mut column = ColumnText::of(r#"[ "a,b" , "\"c\\", null,"","d]" ]"#);
        assert_eq!(column.count(), Some(5));
        let texts = |words: &[&str], places: &[u32]| Values::Texts {
            words: words.iter().map(|&word| word.to_owned()).collect(),
            places: places.to_vec(),
        };
        assert_eq!(column.next(2), Ok(texts(&["a,b", "\"c\\"], &[0, 1])));
        assert_eq!(column.next(3), Ok(texts(&["", "d]"], &[NULL, 0, 1])));
        assert!(!column.has_more());
    }

    #[test]
    fn what_is_no_column_is_refused() {
        for column in [r#"[1,[2],3]"#, r#"[1,,2,3]"#, r#"{"a":[1,2]}"#, r#"[1,"a",2]"#, "[1,2,]"] {
            let table = format!(r#"{{"label":"l","value":"1","number":null,"line":{column}}}"#);
            check::<PrintedRow>(&key(), &table).expect_err(column);
        }
        check::<DeviceRow>(&key(), "[]").expect_err("no table");
    }
}
