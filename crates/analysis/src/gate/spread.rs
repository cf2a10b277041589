//! Distributions of many rows of one figure, such as its nodes, and the rows that are named individually.
//!
//! Human-readable formats list up to [`LISTED_MAX`] rows of a figure. With more rows they show a [`Spread`];
//! machine-readable formats contain all rows.

use super::table::{Head, Row, Table, Value};
use crate::figures::grouped;
use crate::statistics::{quantile, sorted};

/// The maximum number of rows of one figure that human-readable formats list individually: as many as a reader can
/// compare at a glance.
pub const LISTED_MAX: usize = 32;
/// The number of rows named at each end of a distribution.
const ENDS_NAMED: usize = 3;
/// The maximum number of rows that are named because they stand out; if there are more, the lowest ones.
const STANDING_OUT_NAMED: usize = 12;

/// The quantiles shown for a distribution: heading and share.
///
/// Linear interpolation between neighbours: definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical
/// Packages", 1996. The middle one is [`crate::statistics::Summary::median`].
pub const QUANTILES: [(&str, f64); 7] = [
    ("least", 0.0),
    ("5 %", 0.05),
    ("25 %", 0.25),
    ("median", 0.5),
    ("75 %", 0.75),
    ("95 %", 0.95),
    ("most", 1.0),
];

/// The distribution of many rows of one figure.
#[derive(Debug, Clone)]
pub struct Spread<'t> {
    /// [`Row::figures`], which is the same for all of them.
    pub figures: &'t [usize],
    /// The number of all rows.
    pub all: usize,
    /// The number of rows that stand out.
    pub standing_out: usize,
    /// The rows that are named, sorted by the first of the columns: those that stand out, and a few at each end.
    /// Empty if the rows are withheld.
    pub named: Vec<&'t Row>,
    /// The columns with a distribution, and their values at [`QUANTILES`]; empty if the rows are withheld.
    pub columns: Vec<(Head, [Value; QUANTILES.len()])>,
}

impl Table {
    /// The distributions for each figure with many rows, if a column of the table has one.
    #[must_use]
    pub fn spreads(&self) -> Vec<Spread<'_>> {
        if !self.columns.iter().any(|head| head.spread) {
            return Vec::new();
        }
        let figures = grouped(&self.rows, |row| row.figures.as_slice());
        figures.iter().filter(|rows| rows.len() > LISTED_MAX).map(|rows| self.spread(rows)).collect()
    }

    /// The distribution of `rows`, which all belong to one figure.
    fn spread<'t>(&self, rows: &[&'t Row]) -> Spread<'t> {
        let spread = || self.columns.iter().enumerate().filter(|(_, head)| head.spread);
        let distribution = |(place, head): (usize, &Head)| {
            let values = || rows.iter().map(|row| &row.cells[place]);
            let kind = values().find(|value| number(value).is_some())?;
            let numbers = sorted(&values().filter_map(number).collect::<Vec<_>>());
            let of = |(_, share)| quantile(&numbers, share).map_or(Value::None, |at| like(kind, at));
            Some((*head, QUANTILES.map(of)))
        };
        let rate = |row: &Row| spread().next().and_then(|(place, _)| number(&row.cells[place]));
        let mut ordered: Vec<(f64, &Row)> = rows.iter().filter_map(|row| Some((rate(row)?, *row))).collect();
        ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
        let last = ordered.len().saturating_sub(ENDS_NAMED);
        let (mut named, mut standing_out) = (Vec::new(), 0);
        for (place, (_, row)) in ordered.into_iter().enumerate() {
            standing_out += usize::from(row.stands_out);
            let is_end = place < ENDS_NAMED || place >= last;
            if is_end || (row.stands_out && standing_out <= STANDING_OUT_NAMED) {
                named.push(row);
            }
        }
        Spread {
            figures: rows.first().map_or(&[], |row| &row.figures),
            all: rows.len(),
            standing_out,
            named,
            columns: spread().filter_map(distribution).collect(),
        }
    }
}

impl Spread<'_> {
    /// Whether `row` is part of this distribution.
    #[must_use]
    pub fn has(&self, row: &Row) -> bool {
        self.figures == row.figures
    }
}

/// The number in a value that may have a distribution.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Rate(number, _) => Some(*number),
        Value::Count(count) => Some(*count as f64),
        _ => None,
    }
}

/// Wraps `number` in the kind of `value`. A number between two counts becomes a plain number.
fn like(value: &Value, number: f64) -> Value {
    match value {
        Value::Rate(_, of) => Value::Rate(number, *of),
        _ => Value::Number(number),
    }
}

#[cfg(test)]
mod tests {
    use super::{LISTED_MAX, Spread};
    use crate::figures::RateOf;
    use crate::gate::table::{Column, Row, Statement, Table, Value, count, flag, operations, spread};
    use crate::gate::{Kind, Of};

    /// A member, and whether it is slow.
    #[derive(Clone)]
    struct Member(u64, bool);

    impl Statement for Member {
        const KIND: Kind = Kind::Node;
        const OF: Of = Of::Nothing;
        const CAPTION: &'static str = "";
        const COLUMNS: &'static [Column<Self>] = &[
            count("number", "", "", |one| Some(one.0)),
            spread(operations("rate", "rate", "", |one| Some(one.0 as f64))),
            flag("slow", "", "", |one| Some(one.1)),
        ];

        fn stands_out(&self) -> bool {
            self.1
        }
    }

    /// Members with the rates 1 to `all` in a shuffled order; every `slow`th of them is slow.
    fn members(all: u64, slow: u64) -> Table {
        let all = (0..all).map(|place| (place * 7919) % all + 1);
        Table::planned(&all.map(|rate| Member(rate, rate % slow == 0)).collect::<Vec<_>>())
    }

    fn numbers(spread: &Spread<'_>) -> Vec<u64> {
        let number = |row: &&Row| match row.cells[0] {
            Value::Count(number) => number,
            _ => 0,
        };
        spread.named.iter().map(number).collect()
    }

    #[test]
    fn many_rows_are_a_distribution_with_both_ends_and_those_that_stand_out() {
        let table = members(1001, 250);
        let spreads = table.spreads();
        let [spread] = spreads.as_slice() else { panic!("they are of one figure") };
        assert_eq!((spread.all, spread.standing_out), (1001, 4));
        assert_eq!(numbers(spread), [1, 2, 3, 250, 500, 750, 999, 1000, 1001]);
        let rate = |at: f64| Value::Rate(at, RateOf::Operations);
        assert_eq!(spread.columns.len(), 1);
        assert_eq!(spread.columns[0].1, [1.0, 51.0, 251.0, 501.0, 751.0, 951.0, 1001.0].map(rate));
    }

    #[test]
    fn where_most_stand_out_only_the_lowest_are_named() {
        let table = members(1000, 1);
        let spreads = table.spreads();
        let [spread] = spreads.as_slice() else { panic!("they are of one figure") };
        assert_eq!(spread.standing_out, 1000);
        assert!(spread.named.len() <= LISTED_MAX, "{:?}", numbers(spread));
        assert_eq!(numbers(spread)[..4], [1, 2, 3, 4]);
    }

    #[test]
    fn as_many_rows_as_can_be_listed_are_no_distribution() {
        let table = members(LISTED_MAX as u64, 5);
        assert!(table.spreads().is_empty());
        let table = members(LISTED_MAX as u64 + 1, 5);
        assert_eq!(table.spreads().len(), 1);
    }
}
