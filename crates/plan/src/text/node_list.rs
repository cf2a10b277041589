//! Lists of node names as batch systems write them: `n[01-16]`, `r1n[1,3-4],login`.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limits::LISTED_NODES;
use crate::text::visible::shown;

/// The longest name of a host in the domain name system has 253 characters.
const NAME_BYTES: usize = 253;
/// Digits of a number, as many as a label of a name may have characters.
const DIGITS_MAX: usize = 63;

/// Nodes, written as a list such as `n[01-16],login`.
///
/// A bracket contains numbers and ranges of numbers; the digits of the first number of a range give the least number
/// of digits. A name may have several brackets, the last of which changes the fastest.
///
/// ```
/// use plan::NodeList;
/// let list: NodeList = "n[08-10],login".parse()?;
/// assert_eq!(list.names(), ["n08", "n09", "n10", "login"]);
/// assert!(list.has("n09.site.org") && !list.has("n9"));
/// # Ok::<(), plan::NodeListError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NodeList {
    items: Vec<Vec<Part>>,
    written: String,
}

/// A part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Numbers(Vec<Numbers>),
}

/// Consecutive numbers of at least so many digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbers {
    low: u32,
    high: u32,
    width: usize,
}

/// A text that is not a list of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{list}` is not a list of nodes: {problem}; write it as \"n[01-16],login\"")]
pub struct NodeListError {
    list: String,
    problem: String,
}

impl NodeList {
    /// The names, in the order of the list; at most [`LISTED_NODES`].
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let names = |item: &Vec<Part>| {
            item.iter().fold(vec![String::new()], |names, part| {
                let ends = part.texts();
                names.iter().flat_map(|name| ends.iter().map(move |end| format!("{name}{end}"))).collect()
            })
        };
        self.items.iter().flat_map(names).collect()
    }

    /// The list as it was written.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether no node is named.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether `node` is named, by its whole name or by its first label.
    #[must_use]
    pub fn has(&self, node: &str) -> bool {
        let label = node.split('.').next().unwrap_or(node);
        self.items.iter().any(|item| is_named(item, node) || is_named(item, label))
    }
}

impl Part {
    fn texts(&self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text.clone()],
            Self::Numbers(all) => {
                let each = |one: &Numbers| {
                    let width = one.width;
                    (one.low..=one.high).map(move |number| format!("{number:0width$}"))
                };
                all.iter().flat_map(each).collect()
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Text(_) => 1,
            Self::Numbers(all) => all
                .iter()
                .fold(0, |sum, one| sum.saturating_add((one.high - one.low) as usize).saturating_add(1)),
        }
    }
}

/// Whether `parts` can be `name`.
fn is_named(parts: &[Part], name: &str) -> bool {
    match parts {
        [] => name.is_empty(),
        [Part::Text(text), more @ ..] => {
            name.strip_prefix(text.as_str()).is_some_and(|rest| is_named(more, rest))
        }
        [Part::Numbers(all), more @ ..] => {
            let digits = name.bytes().take(DIGITS_MAX).take_while(u8::is_ascii_digit).count();
            (1..=digits).any(|length| {
                let (digits, rest) = name.split_at(length);
                let is_one = |number: u32| {
                    all.iter().any(|one| {
                        let width = one.width;
                        (one.low..=one.high).contains(&number) && format!("{number:0width$}") == digits
                    })
                };
                digits.parse().is_ok_and(is_one) && is_named(more, rest)
            })
        }
    }
}

impl std::str::FromStr for NodeList {
    type Err = NodeListError;

    fn from_str(text: &str) -> Result<Self, NodeListError> {
        let error = |problem: String| NodeListError { list: shown(text), problem };
        let (mut all, mut count) = (Vec::new(), 0_usize);
        for item in items(text).map_err(error)? {
            let item = parts(item).map_err(error)?;
            let names = item.iter().map(Part::count).fold(1, usize::saturating_mul);
            count = count.saturating_add(names);
            if count > LISTED_NODES {
                return Err(error(format!("more than {LISTED_NODES} names")));
            }
            all.push(item);
        }
        Ok(Self { items: all, written: text.to_owned() })
    }
}

impl TryFrom<String> for NodeList {
    type Error = NodeListError;

    fn try_from(text: String) -> Result<Self, NodeListError> {
        text.parse()
    }
}

impl From<NodeList> for String {
    fn from(list: NodeList) -> Self {
        list.written
    }
}

/// The parts of `text` between commas outside of brackets.
fn items(text: &str) -> Result<Vec<&str>, String> {
    let mut inside = false;
    let (mut all, mut start) = (Vec::new(), 0);
    for (place, letter) in text.char_indices() {
        match letter {
            '[' if inside => return Err("a bracket within a bracket".to_owned()),
            ']' if !inside => return Err("`]` without `[`".to_owned()),
            '[' | ']' => inside = !inside,
            ',' if !inside => {
                all.push(text[start..place].trim());
                start = place + 1;
            }
            letter if letter.is_control() => return Err("a control character".to_owned()),
            _ => {}
        }
    }
    all.push(text[start..].trim());
    match inside {
        true => Err("`[` without `]`".to_owned()),
        false if all.iter().any(|item| item.is_empty()) => Err("a name is missing".to_owned()),
        false if all.iter().any(|item| item.contains(char::is_whitespace)) => {
            Err("separate names by commas".to_owned())
        }
        false => Ok(all),
    }
}

/// The parts of one name.
fn parts(item: &str) -> Result<Vec<Part>, String> {
    let (mut all, mut rest, mut letters) = (Vec::new(), item, 0);
    while let Some((before, bracket)) = rest.split_once('[') {
        let (inside, after) = bracket.split_once(']').ok_or("`[` without `]`")?;
        letters += before.len();
        all.push(Part::Text(before.to_owned()));
        all.push(Part::Numbers(inside.split(',').map(numbers).collect::<Result<_, _>>()?));
        rest = after;
    }
    all.push(Part::Text(rest.to_owned()));
    if letters + rest.len() > NAME_BYTES {
        return Err(format!("a name of more than {NAME_BYTES} bytes"));
    }
    Ok(all)
}

/// The numbers of `3-4` or `7`.
fn numbers(part: &str) -> Result<Numbers, String> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    if first.len().max(last.len()) > DIGITS_MAX {
        return Err(format!("a number of more than {DIGITS_MAX} digits"));
    }
    let number = |digits: &str| {
        let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
        digits
            .parse::<u32>()
            .ok()
            .filter(|_| is_number)
            .ok_or_else(|| format!("`{part}` is no range of numbers"))
    };
    let (low, high) = (number(first)?, number(last)?);
    match low > high {
        true => Err(format!("`{part}` ends before it begins")),
        false => Ok(Numbers { low, high, width: first.len() }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::NodeList;

    fn names(text: &str) -> Vec<String> {
        text.parse::<NodeList>().expect("a list").names()
    }

    #[test]
    fn lists_are_those_of_batch_systems() {
        assert_eq!(names("n1"), ["n1"]);
        assert_eq!(names("n[1,3-4], login"), ["n1", "n3", "n4", "login"]);
        assert_eq!(names("n[08-10].site"), ["n08.site", "n09.site", "n10.site"]);
        assert_eq!(names("r[1-2]n[1-2]"), ["r1n1", "r1n2", "r2n1", "r2n2"]);
        assert_eq!(names("n[9-11]"), ["n9", "n10", "n11"]);
        assert_eq!(names("10.0.0.[1-2]"), ["10.0.0.1", "10.0.0.2"]);
    }

    #[test]
    fn a_mistake_is_named() {
        let said = |text: &str| text.parse::<NodeList>().expect_err("no list").to_string();
        for (text, problem) in [
            ("", "a name is missing"),
            ("a,,b", "a name is missing"),
            ("n[1-2", "`[` without `]`"),
            ("n1-2]", "`]` without `[`"),
            ("n[1-[2]]", "a bracket within a bracket"),
            ("n[2-1]", "`2-1` ends before it begins"),
            ("n[a-b]", "`a-b` is no range of numbers"),
            ("n[]", "`` is no range of numbers"),
            ("n[1-]", "`1-` is no range of numbers"),
            ("n[+1]", "`+1` is no range of numbers"),
            ("n[99999999999]", "`99999999999` is no range of numbers"),
            ("a b", "separate names by commas"),
            ("n[1-4294967295]", "more than 65536 names"),
            ("n[1-300][1-300]", "more than 65536 names"),
            ("a[1-65536],b", "more than 65536 names"),
            (&format!("n[{}1]", "0".repeat(70_000)), "a number of more than 63 digits"),
            (&format!("{}[1-65536]", "n".repeat(300)), "a name of more than 253 bytes"),
        ] {
            assert!(said(text).contains(problem), "{text}: {}", said(text));
        }
    }

    #[test]
    fn a_node_is_known_by_its_first_label() {
        let list: NodeList = "n[1-2],a.site".parse().expect("a list");
        assert!(list.has("n1") && list.has("n2.other") && list.has("a.site"));
        assert!(!list.has("n3") && !list.has("a") && !list.has("a.other"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-c0-9\\[\\],. -]{0,24}") {
            if let Ok(list) = text.parse::<NodeList>() {
                prop_assert!(!list.is_empty());
                prop_assert!(list.names().iter().all(|name| list.has(name)));
            }
        }

        #[test]
        fn a_range_has_each_number_once(first in 0_u32..1000, more in 0_u32..100, width in 1_usize..6) {
            let written = format!("x[{first:0width$}-{}]y", first + more);
            let list: NodeList = written.parse().expect("a list");
            prop_assert_eq!(list.names().len(), more as usize + 1);
            prop_assert!(list.names().iter().all(|name| list.has(name)));
            prop_assert!(!list.has("x") && !list.has("xy"));
            let last = format!("x{:0width$}y", first + more);
            prop_assert_eq!(list.names().pop(), Some(last));
        }
    }
}
