//! The sort order for names of nodes and devices.

use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Natural order: `node2` before `node10`. Runs of digits compare as numbers, everything else as
/// text; names that only differ in leading zeros compare as text.
///
/// ```
/// let mut names = ["n10", "n2", "n1"];
/// names.sort_by(|a, b| analysis::figures::by_name(a, b));
/// assert_eq!(names, ["n1", "n2", "n10"]);
/// ```
#[must_use]
pub fn by_name(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
    while let (Some(a), Some(b)) = (left.chars().next(), right.chars().next()) {
        let order = if a.is_ascii_digit() && b.is_ascii_digit() {
            let (number, rest) = digits(left);
            let (other_number, other_rest) = digits(right);
            (left, right) = (rest, other_rest);
            // Without leading zeros, the number with more digits is the larger one, whatever its
            // length.
            number.len().cmp(&other_number.len()).then_with(|| number.cmp(other_number))
        } else {
            (left, right) = (&left[a.len_utf8()..], &right[b.len_utf8()..]);
            a.cmp(&b)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    left.len().cmp(&right.len()).then_with(|| one.cmp(other))
}

/// The number at the start of `text` without leading zeros, and the rest of the text.
fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

/// The distinct names, in sort order.
pub(crate) fn named<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: BTreeSet<&str> = names.collect();
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    names.sort_by(|a, b| by_name(a, b));
    names
}
