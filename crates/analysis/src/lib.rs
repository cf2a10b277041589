//! Pure functions on records: statistics, rates, bounds.
