//! Names of many nodes in few words: `n[01-16]`, as batch systems write them.

use std::collections::HashMap;

/// Letters of a list of nodes that is shown whole.
const LETTERS_MAX: usize = 72;
/// Names that stand for a longer one; the rest is counted.
const NAMED_MAX: usize = 4;

/// What the names of a row of nodes have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Pattern<'a> {
    before: &'a str,
    after: &'a str,
    /// Digits of a number with leading zeros; 0 where it has none.
    width: usize,
}

/// A name, taken apart at the last number of its first label.
#[derive(Debug, Clone, Copy)]
struct Parts<'a> {
    before: &'a str,
    digits: &'a str,
    after: &'a str,
}

impl<'a> Parts<'a> {
    /// None where the first label has no number, or one too long to be one.
    fn of(name: &'a str) -> Option<Self> {
        let label = name.find('.').unwrap_or(name.len());
        let end = name[..label].rfind(|c: char| c.is_ascii_digit())? + 1;
        let start = name[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| {
            // The character before the number may be more than one byte long.
            at + name[at..].chars().next().map_or(1, char::len_utf8)
        });
        let parts = Self { before: &name[..start], digits: &name[start..end], after: &name[end..] };
        parts.digits.parse::<u32>().ok().map(|_| parts)
    }

    fn is_padded(&self) -> bool {
        self.digits.len() > 1 && self.digits.starts_with('0')
    }
}

/// `n[01-16]`, `n[1,3-4], login`: each name once, in the order in which they come first.
pub(crate) fn folded(names: &[&str]) -> String {
    parts(names).join(", ")
}

/// As [`folded`] where that is short, else the first ones and how many there are beside them.
pub(crate) fn shortened(names: &[&str]) -> String {
    let whole = folded(names);
    if whole.chars().count() <= LETTERS_MAX {
        return whole;
    }
    let mut each: Vec<&str> = Vec::new();
    for name in names {
        if !each.contains(name) {
            each.push(name);
        }
    }
    let more = each.len().saturating_sub(NAMED_MAX);
    each.truncate(NAMED_MAX);
    format!("{} and {} more", each.join(", "), crate::format::grouped(more as u64))
}

fn parts(names: &[&str]) -> Vec<String> {
    let apart: Vec<Option<Parts<'_>>> = names.iter().map(|name| Parts::of(name)).collect();
    let padded: Vec<(&str, &str, usize)> = apart
        .iter()
        .flatten()
        .filter(|parts| parts.is_padded())
        .map(|parts| (parts.before, parts.after, parts.digits.len()))
        .collect();
    let pattern = |parts: &Parts<'_>| -> usize {
        let width = parts.digits.len();
        if padded.contains(&(parts.before, parts.after, width)) { width } else { 0 }
    };
    let mut order: Vec<Result<Pattern<'_>, &str>> = Vec::new();
    let mut numbers: HashMap<Pattern<'_>, Vec<u32>> = HashMap::new();
    for (name, parts) in names.iter().zip(&apart) {
        let Some(parts) = parts else {
            if !order.contains(&Err(*name)) {
                order.push(Err(*name));
            }
            continue;
        };
        let pattern = Pattern { before: parts.before, after: parts.after, width: pattern(parts) };
        let these = numbers.entry(pattern.clone()).or_default();
        if these.is_empty() {
            order.push(Ok(pattern));
        }
        these.extend(parts.digits.parse::<u32>());
    }
    let shown = |one: Result<Pattern<'_>, &str>| match one {
        Ok(pattern) => range(&pattern, numbers.get(&pattern).map_or(&[], Vec::as_slice)),
        Err(name) => name.to_owned(),
    };
    order.into_iter().map(shown).collect()
}

/// All numbers of one pattern.
fn range(pattern: &Pattern<'_>, numbers: &[u32]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let number = |value: u32| format!("{value:0width$}", width = pattern.width);
    let runs: Vec<String> = sorted
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| match run {
            [one] => number(*one),
            [first, .., last] => format!("{}-{}", number(*first), number(*last)),
            [] => String::new(),
        })
        .collect();
    match sorted.as_slice() {
        [one] => format!("{}{}{}", pattern.before, number(*one), pattern.after),
        _ => format!("{}[{}]{}", pattern.before, runs.join(","), pattern.after),
    }
}

#[cfg(test)]
mod tests {
    use super::{folded, shortened};

    #[test]
    fn numbers_in_a_row_are_a_range() {
        let names: Vec<String> = (1..=16).map(|n| format!("n{n:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(folded(&names), "n[01-16]");
        assert_eq!(folded(&["n1", "n3", "n4", "login"]), "n[1,3-4], login");
        assert_eq!(folded(&["n9", "n10", "n8"]), "n[8-10]");
        assert_eq!(folded(&["n09", "n10"]), "n[09-10]");
        assert_eq!(folded(&["r1i0n3", "r1i0n4", "r2i0n3"]), "r1i0n[3-4], r2i0n3");
        assert_eq!(folded(&["a1.site", "a2.site", "a1.other"]), "a[1-2].site, a1.other");
    }

    #[test]
    fn names_without_a_number_stand_as_they_are() {
        assert_eq!(folded(&["alpha", "beta", "alpha"]), "alpha, beta");
        assert_eq!(folded(&["10.0.0.1"]), "10.0.0.1");
        assert_eq!(folded(&["é7"]), "é7");
        assert_eq!(folded(&["n99999999999"]), "n99999999999");
        assert_eq!(folded(&[]), "");
    }

    #[test]
    fn many_kinds_of_names_are_counted() {
        let names: Vec<String> = (0..20).map(|n| format!("host-{}", char::from(b'a' + n))).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = shortened(&names);
        assert_eq!(text, "host-a, host-b, host-c, host-d and 16 more");
        let odd: Vec<String> = (0..600).map(|n| format!("n{}", n * 2)).collect();
        let odd: Vec<&str> = odd.iter().map(String::as_str).collect();
        assert_eq!(shortened(&odd), "n0, n2, n4, n6 and 596 more");
    }
}
