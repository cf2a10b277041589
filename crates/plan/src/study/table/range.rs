//! Numbers and ranges of them.

/// A value that can be incremented.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar {
    /// Bytes, nanoseconds or a plain count, depending on the key's kind.
    Integer(u64),
    Number(f64),
}

impl Scalar {
    /// The value as a number that can be compared with others of its kind.
    pub(crate) fn order(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Number(value) => value,
        }
    }
}

/// A range that is never expanded, so that counting millions of values is cheap.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Range {
    /// Bytes, nanoseconds or counts.
    Whole { from: u64, growth: Growth<u64>, count: u64 },
    /// Numbers with fractions.
    Number { from: f64, growth: Growth<f64>, count: u64 },
}

/// How each value follows from the previous one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Growth<T> {
    Step(T),
    Times(T),
}

impl Range {
    /// Number of values.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Whole { count, .. } | Self::Number { count, .. } => *count,
        }
    }

    /// The value at `index`, which is below [`Range::count`].
    pub(crate) fn at(&self, index: u64) -> Scalar {
        let power = || i32::try_from(index).unwrap_or(i32::MAX);
        match *self {
            Self::Whole { from, growth: Growth::Step(step), .. } => Scalar::Integer(from + step * index),
            Self::Whole { from, growth: Growth::Times(factor), .. } => {
                Scalar::Integer(from * factor.pow(u32::try_from(index).unwrap_or(u32::MAX)))
            }
            Self::Number { from, growth: Growth::Step(step), .. } => {
                Scalar::Number(tidy(step.mul_add(index as f64, from)))
            }
            Self::Number { from, growth: Growth::Times(factor), .. } => {
                Scalar::Number(tidy(from * factor.powi(power())))
            }
        }
    }
}

/// A number without the last digits, which contain the errors of binary fractions.
fn tidy(number: f64) -> f64 {
    format!("{number:.12e}").parse().unwrap_or(number)
}
