//! One family of metrics, and how its samples are written down.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::escape::label;

/// Names and values in the braces of a sample.
pub(super) type Labels = Vec<(String, String)>;

/// A family: a name, what it says, and its samples as they are written: of ten thousand cases there are so many that
/// their labels one by one would take a gigabyte.
pub(super) struct Family {
    name: Cow<'static, str>,
    kind: &'static str,
    /// The end of the name that is a unit; may be empty.
    unit: &'static str,
    help: &'static str,
    lines: String,
}

impl Family {
    /// Numbers without a unit, such as counts.
    pub(super) const fn gauge(name: &'static str, help: &'static str) -> Self {
        Self::new(name, "gauge", "", help)
    }

    /// Numbers with a unit, which is the end of the name.
    pub(super) const fn measured(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self::new(name, "gauge", unit, help)
    }

    /// Numbers of a name that is put together.
    pub(super) fn named(name: String, unit: &'static str, help: &'static str) -> Self {
        Self { name: Cow::Owned(name), ..Self::new("", "gauge", unit, help) }
    }

    /// The name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Words, all of them in labels.
    pub(super) const fn info(name: &'static str, help: &'static str) -> Self {
        Self::new(name, "info", "", help)
    }

    /// A distribution by its quantiles.
    pub(super) const fn summary(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self::new(name, "summary", unit, help)
    }

    /// Which one of several states holds.
    pub(super) const fn states(name: &'static str, help: &'static str) -> Self {
        Self::new(name, "stateset", "", help)
    }

    /// States of a name that is put together.
    pub(super) fn states_named(name: String, help: &'static str) -> Self {
        Self { name: Cow::Owned(name), ..Self::states("", help) }
    }

    const fn new(name: &'static str, kind: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind, unit, help, lines: String::new() }
    }

    /// A sample with the family's own name.
    pub(super) fn put(&mut self, labels: Labels, value: f64) {
        self.put_as("", labels, value);
    }

    /// A sample whose name has an ending more, as `_count`. What is no number is left out: a gap
    /// says that nothing was measured, which a made-up number would not.
    pub(super) fn put_as(&mut self, ending: &'static str, labels: Labels, value: f64) {
        if !value.is_finite() {
            return;
        }
        let pairs: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", label(value))).collect();
        let braces = if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) };
        // Writing to a String cannot fail.
        let _ = writeln!(self.lines, "{}{ending}{braces} {value}", self.name);
    }

    /// A sample for each of `states`, 1 for the one that is `true` and 0 for the others.
    pub(super) fn put_state(&mut self, of: &Labels, states: &[&str], holds: &str) {
        for state in states {
            let labels = with(of, &[(&self.name, state)]);
            self.put(labels, f64::from(u8::from(*state == holds)));
        }
    }

    /// The lines of the family; none without samples.
    pub(super) fn write(&self, out: &mut String) {
        if self.lines.is_empty() {
            return;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(out, "# TYPE {} {}", self.name, self.kind);
        if !self.unit.is_empty() {
            let _ = writeln!(out, "# UNIT {} {}", self.name, self.unit);
        }
        let _ = writeln!(out, "# HELP {} {}", self.name, label(self.help));
        out.push_str(&self.lines);
    }
}

/// Labels of these names and values.
pub(super) fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// `labels`, and more of them.
pub(super) fn with(labels: &Labels, more: &[(&str, &str)]) -> Labels {
    let mut all = labels.clone();
    all.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    all
}

#[cfg(test)]
mod tests {
    use super::{Family, labels};

    #[test]
    fn a_value_that_is_no_number_leaves_a_gap_and_an_empty_family_says_nothing() {
        let mut family = Family::measured("a_ratio", "ratio", "help");
        family.put(labels(&[("b", "c")]), f64::NAN);
        let mut out = String::new();
        family.write(&mut out);
        assert_eq!(out, "");
        family.put(labels(&[("b", "c")]), 0.5);
        family.write(&mut out);
        assert_eq!(
            out,
            "# TYPE a_ratio gauge\n# UNIT a_ratio ratio\n# HELP a_ratio help\na_ratio{b=\"c\"} 0.5\n"
        );
    }

    #[test]
    fn one_of_several_states_holds() {
        let mut family = Family::states("a", "help");
        family.put_state(&labels(&[("b", "c")]), &["yes", "no"], "no");
        let mut out = String::new();
        family.write(&mut out);
        assert!(out.ends_with("a{b=\"c\",a=\"yes\"} 0\na{b=\"c\",a=\"no\"} 1\n"), "{out}");
    }
}
