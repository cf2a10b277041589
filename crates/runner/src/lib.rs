//! Takes a plan through its life and writes the record.
