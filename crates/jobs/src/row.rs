//! Rows: their layout, and their generation from a seed.
//!
//! A row has 128 bytes in little-endian order. Row `i` of a table is a function of only the table's seed and
//! `i`, so rows can be generated in parallel and checked anywhere with integer arithmetic. `docs/JOBS.md`
//! gives the formulas.

use plan::jobs::{TableOrder, drawn};

/// Size of a row in bytes.
pub const ROW_BYTES: usize = 128;
/// Exclusive upper bound of days.
pub const DAYS: u32 = 3650;
/// Number of random numbers drawn per row, whether or not they are used.
const COLUMNS: u64 = 16;
/// Number of different amounts, in cents.
const AMOUNTS: u64 = 1_000_000;
/// The smallest amount, in cents.
const AMOUNT_MIN: i64 = -100_000;

/// A row, by its fields.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Row {
    /// Its number.
    pub id: u64,
    /// Key for sorting and summing.
    pub key: u64,
    /// A day, below [`DAYS`] if generated from the seed.
    pub day: u32,
    /// Quantity, 1 to 100 if generated from the seed.
    pub quantity: u32,
    /// Amount in cents.
    pub amount: i64,
    /// Eight variables in [0, 1).
    pub x: [f64; 8],
    /// The measure: 1 + x0 + 2 x1 + … + 8 x7 and some noise.
    pub y: f64,
    /// Incompressible data.
    pub filler: [u64; 3],
}

impl Row {
    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; ROW_BYTES] {
        let mut bytes = [0; ROW_BYTES];
        self.encode_into(&mut bytes);
        bytes
    }

    /// Writes its bytes to `bytes`.
    ///
    /// # Panics
    /// Panics if the size is not exactly one row.
    pub fn encode_into(&self, bytes: &mut [u8]) {
        assert_eq!(bytes.len(), ROW_BYTES, "a row has a fixed width");
        let mut put = |place: usize, word: [u8; 8]| bytes[place..place + 8].copy_from_slice(&word);
        put(0, self.id.to_le_bytes());
        put(8, self.key.to_le_bytes());
        put(16, (u64::from(self.day) | u64::from(self.quantity) << 32).to_le_bytes());
        put(24, self.amount.to_le_bytes());
        for (number, x) in self.x.iter().enumerate() {
            put(32 + 8 * number, x.to_le_bytes());
        }
        put(96, self.y.to_le_bytes());
        for (number, filler) in self.filler.iter().enumerate() {
            put(104 + 8 * number, filler.to_le_bytes());
        }
    }

    /// Decodes a row.
    ///
    /// # Panics
    /// Panics if there are fewer bytes than in a row.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        Self {
            id: id(bytes),
            key: key(bytes),
            day: day(bytes),
            quantity: quantity(bytes),
            amount: amount(bytes),
            x: std::array::from_fn(|number| x(bytes, number)),
            y: y(bytes),
            filler: std::array::from_fn(|number| word(bytes, 104 + 8 * number)),
        }
    }
}

/// The eight bytes at `place`.
#[inline]
fn word(bytes: &[u8], place: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[place..place + 8]);
    u64::from_le_bytes(eight)
}

/// The number of the row in these bytes.
#[inline]
#[must_use]
pub fn id(row: &[u8]) -> u64 {
    word(row, 0)
}

/// The key of the row in these bytes.
#[inline]
#[must_use]
pub fn key(row: &[u8]) -> u64 {
    word(row, 8)
}

/// The day of the row in these bytes.
#[inline]
#[must_use]
pub fn day(row: &[u8]) -> u32 {
    low(word(row, 16))
}

/// The quantity of the row in these bytes.
#[inline]
#[must_use]
pub fn quantity(row: &[u8]) -> u32 {
    low(word(row, 16) >> 32)
}

/// The amount, in cents, of the row in these bytes.
#[inline]
#[must_use]
pub fn amount(row: &[u8]) -> i64 {
    word(row, 24).cast_signed()
}

/// Variable `number` of the row in these bytes.
///
/// # Panics
/// Panics if `number` is 8 or more.
#[inline]
#[must_use]
pub fn x(row: &[u8], number: usize) -> f64 {
    assert!(number < 8, "a row has eight variables");
    f64::from_bits(word(row, 32 + 8 * number))
}

/// The measure of the row in these bytes.
#[inline]
#[must_use]
pub fn y(row: &[u8]) -> f64 {
    f64::from_bits(word(row, 96))
}

/// The lower half of a word.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
const fn low(word: u64) -> u32 {
    word as u32
}

/// A number in [0, `below`) from 32 random bits.
#[inline]
fn ranged(bits: u32, below: u32) -> u32 {
    low((u64::from(bits) * u64::from(below)) >> 32)
}

/// A number in [0, 1) from the upper 53 of 64 random bits.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "53 bits are what a number of this kind holds")]
pub(crate) fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// The parameters from which a table's rows are generated. They are stored in each page header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The table's seed: see [`plan::Jobs::table_seed`].
    pub seed: u64,
    /// Number of initial rows.
    pub rows: u64,
    /// Number of different keys, at least 1.
    pub groups: u64,
    /// The order of its keys.
    pub order: TableOrder,
}

impl Origin {
    /// Row number `id`. Rows from [`Origin::rows`] on are appended to the table later.
    #[inline]
    #[must_use]
    pub fn row(&self, id: u64) -> Row {
        let draw = |column: u64| drawn(self.seed, id.wrapping_mul(COLUMNS).wrapping_add(column));
        let x: [f64; 8] = std::array::from_fn(|number| unit(draw(4 + number as u64)));
        let mut y = 1.0;
        let mut factor = 1.0;
        for value in x {
            y += factor * value;
            factor += 1.0;
        }
        y += unit(draw(12)) - 0.5;
        let days = draw(2);
        Row {
            id,
            key: self.key(id, draw(1)),
            day: ranged(low(days >> 32), DAYS),
            quantity: 1 + ranged(low(days), 100),
            amount: AMOUNT_MIN + (draw(3) % AMOUNTS).cast_signed(),
            x,
            y,
            filler: std::array::from_fn(|number| draw(13 + number as u64)),
        }
    }

    #[inline]
    fn key(&self, id: u64, drawn: u64) -> u64 {
        match self.order {
            TableOrder::Number => drawn % self.groups.max(1),
            TableOrder::Key => {
                let key = u128::from(id) * u128::from(self.groups) / u128::from(self.rows.max(1));
                u64::try_from(key).unwrap_or(u64::MAX)
            }
        }
    }

    /// Fills `bytes` with the rows from number `first` on.
    pub fn fill(&self, first: u64, bytes: &mut [u8]) {
        for (number, row) in bytes.chunks_exact_mut(ROW_BYTES).enumerate() {
            self.row(first + number as u64).encode_into(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::jobs::{TableOrder, drawn};
    use proptest::prelude::{any, proptest};

    use super::{DAYS, Origin, ROW_BYTES, Row};

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            (id, key, day, quantity, amount) in any::<(u64, u64, u32, u32, i64)>(),
            x in any::<[f64; 8]>(),
            (y, filler) in any::<(f64, [u64; 3])>(),
        ) {
            let row = Row { id, key, day, quantity, amount, x, y, filler };
            let bytes = row.encode();
            assert_eq!(Row::decode(&bytes).encode(), bytes);
            assert_eq!((Row::decode(&bytes).amount, bytes[20]), (amount, quantity.to_le_bytes()[0]));
        }

        #[test]
        fn fields_stay_in_their_ranges(seed in any::<u64>(), id in any::<u64>(), groups in 1..1_000_000_u64) {
            let row = Origin { seed, rows: 10, groups, order: TableOrder::Number }.row(id);
            assert!(row.id == id && row.key < groups && row.day < DAYS && (1..=100).contains(&row.quantity));
            assert!((-100_000..900_000).contains(&row.amount));
            assert!(row.x.iter().all(|x| (0.0..1.0).contains(x)));
            let sum: f64 = row.x.iter().zip(1..).map(|(x, factor)| x * f64::from(factor)).sum();
            assert!((row.y - 1.0 - sum).abs() <= 0.5 + 1e-9);
        }

        #[test]
        fn keys_of_a_table_in_order_use_all_groups(rows in 1..500_u64, groups in 1..500_u64) {
            let origin = Origin { seed: 7, rows, groups, order: TableOrder::Key };
            let mut keys: Vec<u64> = (0..rows).map(|id| origin.row(id).key).collect();
            assert!(keys.is_sorted() && keys.iter().all(|key| *key < groups));
            keys.dedup();
            assert_eq!(keys.len() as u64, rows.min(groups));
        }
    }

    #[test]
    fn rows_are_those_of_the_documented_formulas() {
        let origin = Origin { seed: 42, rows: 100, groups: 1000, order: TableOrder::Number };
        let row = origin.row(5);
        assert_eq!(row.key, drawn(42, 81) % 1000);
        assert_eq!(row.filler[2], drawn(42, 95));
        assert_eq!(u64::from(row.day), ((drawn(42, 82) >> 32) * 3650) >> 32);
        assert_eq!(u64::from(row.quantity), 1 + (((drawn(42, 82) & 0xffff_ffff) * 100) >> 32));
    }

    #[test]
    fn a_buffer_is_filled_row_by_row() {
        let origin = Origin { seed: 1, rows: 100, groups: 10, order: TableOrder::Key };
        let mut bytes = vec![0; 3 * ROW_BYTES];
        origin.fill(7, &mut bytes);
        assert_eq!(bytes[ROW_BYTES..2 * ROW_BYTES], origin.row(8).encode());
    }
}
