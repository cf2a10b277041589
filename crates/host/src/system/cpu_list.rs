//! Parses lists of processors in the kernel's format, for example `0-3,8,10-11`.

use std::ops::RangeInclusive;

/// Returns the ranges of a list, or `None` if it cannot be parsed.
pub(crate) fn parse(text: &str) -> Option<Vec<RangeInclusive<u32>>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(',')
        .map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some(first..=last)
        })
        .collect()
}

/// The number of processors in a list.
pub(crate) fn count(ranges: &[RangeInclusive<u32>]) -> u32 {
    ranges
        .iter()
        .fold(0, |sum: u32, range| sum.saturating_add((range.end() - range.start()).saturating_add(1)))
}

/// The first processor of `ranges` that is not contained in `taken`.
pub(crate) fn first_outside(ranges: &[RangeInclusive<u32>], taken: &[RangeInclusive<u32>]) -> Option<u32> {
    ranges.iter().find_map(|range| {
        let mut candidate = *range.start();
        while let Some(covering) = taken.iter().find(|covering| covering.contains(&candidate)) {
            candidate = covering.end().checked_add(1)?;
        }
        range.contains(&candidate).then_some(candidate)
    })
}

#[cfg(test)]
mod tests {
    use super::{count, first_outside, parse};

    #[test]
    fn a_list_counts_every_processor_in_it() {
        assert_eq!(count(&parse("0-3,8,10-11\n").unwrap()), 7);
        assert_eq!(count(&parse("").unwrap()), 0);
        assert_eq!(parse("3-1"), None);
        assert_eq!(parse("a"), None);
    }

    #[test]
    fn the_first_processor_of_the_next_socket_is_found() {
        let online = parse("0-7").unwrap();
        assert_eq!(first_outside(&online, &parse("0-1,4-5").unwrap()), Some(2));
        assert_eq!(first_outside(&online, &parse("0-7").unwrap()), None);
        assert_eq!(first_outside(&parse("1,3").unwrap(), &parse("0-2").unwrap()), Some(3));
    }
}
