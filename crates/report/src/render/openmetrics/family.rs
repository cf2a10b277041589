//! One family of metrics, and how its samples are written down.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::format::escape::label;

/// Names and values in the braces of a sample.
pub(super) type Labels = Vec<(String, String)>;

/// A family: a name, a help text, and its samples as text. Storing the labels of ten thousand cases separately would take
/// a gigabyte.
pub(super) struct Family {
    name: Cow<'static, str>,
    kind: &'static str,
    help: &'static str,
    lines: String,
}

/// Units, which are suffixes of names.
const UNITS: [&str; 6] =
    ["bytes_per_second", "transfers_per_second", "nanoseconds", "seconds", "ratio", "bytes"];

impl Family {
    /// A gauge; its name ends with the unit.
    pub(super) fn gauge(name: impl Into<Cow<'static, str>>, help: &'static str) -> Self {
        Self::new(name, "gauge", help)
    }

    /// A family of the OpenMetrics type `kind`.
    pub(super) fn new(name: impl Into<Cow<'static, str>>, kind: &'static str, help: &'static str) -> Self {
        Self { name: name.into(), kind, help, lines: String::new() }
    }

    /// The name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A sample with the family's own name.
    pub(super) fn put(&mut self, labels: Labels, value: f64) {
        self.put_as("", labels, value);
    }

    /// A sample whose name has an additional suffix, such as `_count`. Values that are not finite are left
    /// out: a gap shows that nothing was measured.
    pub(super) fn put_as(&mut self, ending: &'static str, labels: Labels, value: f64) {
        if !value.is_finite() {
            return;
        }
        let pairs = pairs(&labels);
        let braces = if pairs.is_empty() { String::new() } else { format!("{{{pairs}}}") };
        // Writing to a String cannot fail.
        let _ = writeln!(self.lines, "{}{ending}{braces} {value}", self.name);
    }

    /// Adds a sample for each of `states`, 1 for the state `holds` and 0 for the others.
    pub(super) fn put_state(&mut self, of: &Labels, states: &[&str], holds: &str) {
        for state in states {
            let labels = with(of, &[(&self.name, state)]);
            self.put(labels, f64::from(u8::from(*state == holds)));
        }
    }

    /// Writes the lines of the family, each with the labels `mark` added; nothing if there are no samples.
    pub(super) fn write(&self, out: &mut String, mark: &Labels) {
        if self.lines.is_empty() {
            return;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(out, "# TYPE {} {}", self.name, self.kind);
        let is_end = |unit: &&&str| self.name.strip_suffix(**unit).is_some_and(|rest| rest.ends_with('_'));
        if let Some(unit) = UNITS.iter().find(is_end) {
            let _ = writeln!(out, "# UNIT {} {unit}", self.name);
        }
        let _ = writeln!(out, "# HELP {} {}", self.name, label(self.help));
        if mark.is_empty() {
            out.push_str(&self.lines);
            return;
        }
        let mark = pairs(mark);
        for line in self.lines.lines() {
            // Sample names contain no brace or space.
            let (name, rest) = line.split_at(line.find(['{', ' ']).unwrap_or(line.len()));
            let _ = match rest.strip_prefix('{') {
                Some(rest) => writeln!(out, "{name}{{{mark},{rest}"),
                None => writeln!(out, "{name}{{{mark}}}{rest}"),
            };
        }
    }
}

/// Formats the labels as they appear within braces.
fn pairs(labels: &Labels) -> String {
    labels.iter().map(|(name, value)| format!("{name}=\"{}\"", label(value))).collect::<Vec<_>>().join(",")
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
        let mut family = Family::gauge("a_ratio", "help");
        family.put(labels(&[("b", "c")]), f64::NAN);
        let mut out = String::new();
        family.write(&mut out, &labels(&[]));
        assert_eq!(out, "");
        family.put(labels(&[("b", "c")]), 0.5);
        family.write(&mut out, &labels(&[]));
        assert_eq!(
            out,
            "# TYPE a_ratio gauge\n# UNIT a_ratio ratio\n# HELP a_ratio help\na_ratio{b=\"c\"} 0.5\n"
        );
    }

    #[test]
    fn a_mark_is_on_every_sample() {
        let mut family = Family::gauge("a_ratio", "help");
        family.put(labels(&[("b", "{ c")]), 0.5);
        family.put(labels(&[]), 1.0);
        let mut out = String::new();
        family.write(&mut out, &labels(&[("simulated_by", "m")]));
        let wanted = "a_ratio{simulated_by=\"m\",b=\"{ c\"} 0.5\na_ratio{simulated_by=\"m\"} 1\n";
        assert!(out.ends_with(wanted), "{out}");
    }

    #[test]
    fn one_of_several_states_holds() {
        let mut family = Family::new("a", "stateset", "help");
        family.put_state(&labels(&[("b", "c")]), &["yes", "no"], "no");
        let mut out = String::new();
        family.write(&mut out, &labels(&[]));
        assert!(out.ends_with("a{b=\"c\",a=\"yes\"} 0\na{b=\"c\",a=\"no\"} 1\n"), "{out}");
    }
}
