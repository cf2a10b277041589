//! What all parsers of printed texts need: lines, words, numbers, units, times and JSON.

pub(super) mod command;
pub(super) mod decode;
pub(super) mod json;
pub(super) mod json_parts;
pub(super) mod lines;
pub(super) mod messages;
pub(super) mod prefixes;
pub(super) mod times;
pub(super) mod units;
