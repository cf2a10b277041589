//! Folding of many node names: `n[01-16]`, as batch systems write them.

/// Maximum length of a list of nodes shown whole.
const LETTERS_MAX: usize = 72;
/// Number of names shown of a longer list; the rest is counted.
const NAMED_MAX: usize = 4;

/// A name, split around the last number of its first label; none if the label has no number, or one too long.
fn parts(name: &str) -> Option<(&str, &str, &str)> {
    let is_digit = |c: char| c.is_ascii_digit();
    let label = name.split('.').next()?;
    let end = label.rfind(is_digit)? + 1;
    let start = label[..end].trim_end_matches(is_digit).len();
    let digits = &name[start..end];
    digits.parse::<u32>().is_ok().then_some((&name[..start], digits, &name[end..]))
}

/// The common pattern of consecutive names: the text before and after their numbers, and the digits of a
/// number with leading zeros; none for a name without a number.
type Pattern<'a> = (&'a str, &'a str, Option<usize>);

/// `n[01-16]`, `n[1,3-4], login`: each name once, in the order in which they come first.
pub(crate) fn folded(names: &[&str]) -> String {
    let is_padded = |digits: &str| digits.len() > 1 && digits.starts_with('0');
    let all = names.iter().filter_map(|name| parts(name)).filter(|(_, digits, _)| is_padded(digits));
    let padded: Vec<_> = all.map(|(before, digits, after)| (before, digits.len(), after)).collect();
    let mut patterns: Vec<(Pattern<'_>, Vec<u32>)> = Vec::new();
    for name in names {
        let (pattern, number) = match parts(name) {
            None => ((*name, "", None), None),
            Some((before, digits, after)) => {
                let width = if padded.contains(&(before, digits.len(), after)) { digits.len() } else { 0 };
                ((before, after, Some(width)), digits.parse().ok())
            }
        };
        match patterns.iter_mut().find(|(known, _)| *known == pattern) {
            Some((_, numbers)) => numbers.extend(number),
            None => patterns.push((pattern, Vec::from_iter(number))),
        }
    }
    let shown = patterns.into_iter().map(|((before, after, width), mut numbers)| {
        numbers.sort_unstable();
        numbers.dedup();
        let range = runs(&numbers, width.unwrap_or(0));
        if numbers.len() > 1 {
            format!("{before}[{range}]{after}")
        } else {
            format!("{before}{range}{after}")
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// `1,3-4`, each number in `width` digits at least.
pub(crate) fn runs(numbers: &[u32], width: usize) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next).map(|run| match run {
        [first, .., last] => format!("{first:0width$}-{last:0width$}"),
        _ => format!("{:0width$}", run[0]),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// Like [`folded`] if short, otherwise the first ones and the number of the rest.
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
