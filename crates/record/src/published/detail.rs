//! Free-form statements of a study about its machines and method.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A value without a column of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Detail {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Several values.
    List(Vec<Detail>),
    /// Named values.
    Table(Details),
}

/// Named values, ordered by name.
pub type Details = BTreeMap<String, Detail>;

impl Detail {
    /// The text, or `None` if it is something else.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, or `None` if it is something else.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(whole) => Some(*whole as f64),
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, parts: Vec<String>| f.write_str(&parts.join(", "));
        match self {
            Self::Flag(flag) => f.write_str(if *flag { "yes" } else { "no" }),
            Self::Whole(whole) => whole.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::List(list) => join(f, list.iter().map(ToString::to_string).collect()),
            Self::Table(table) => {
                join(f, table.iter().map(|(key, value)| format!("{key}: {value}")).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Detail;

    #[test]
    fn a_detail_reads_in_one_line() {
        let list = Detail::List(vec![Detail::Whole(160), Detail::Whole(64)]);
        assert_eq!(list.to_string(), "160, 64");
        let table = Detail::Table([("direct".to_owned(), Detail::Flag(true))].into());
        assert_eq!(table.to_string(), "direct: yes");
        assert_eq!((Detail::Whole(3).number(), list.number()), (Some(3.0), None));
    }
}
