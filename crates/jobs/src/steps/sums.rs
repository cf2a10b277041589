//! Results of steps about the rows that they keep.

use std::collections::BTreeMap;

use crate::row::{ROW_BYTES, amount, quantity};

/// Sums over rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Number of rows.
    pub rows: u64,
    /// Sum of their quantities.
    pub quantity: u64,
    /// Sum of their amounts in cents, which wraps around.
    pub amount: i64,
}

impl Sums {
    /// Adds a row.
    #[inline]
    pub(crate) fn add(&mut self, row: &[u8]) {
        self.rows += 1;
        self.quantity += u64::from(quantity(row));
        self.amount = self.amount.wrapping_add(amount(row));
    }

    /// Sums of consecutive rows.
    pub(crate) fn of(rows: &[u8]) -> Self {
        let mut sums = Self::default();
        rows.chunks_exact(ROW_BYTES).for_each(|row| sums.add(row));
        sums
    }

    /// Adds all of `other`.
    pub(crate) fn join(&mut self, other: Self) {
        self.rows += other.rows;
        self.quantity += other.quantity;
        self.amount = self.amount.wrapping_add(other.amount);
    }

    /// Converts the sums to results of a step. The number of rows gets the name `name`.
    #[expect(clippy::cast_precision_loss, reason = "a sum below 2^53 is exact")]
    pub(crate) fn found(self, name: &str) -> BTreeMap<String, f64> {
        let found = [
            (name, self.rows as f64),
            ("sum_quantity", self.quantity as f64),
            ("sum_amount", self.amount as f64),
        ];
        found.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
