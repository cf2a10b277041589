//! How a study was scaled to a budget, as the record keeps it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Bytes, Nanos};

/// What a study may take. Each part that is not given is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Predicted time of the whole study, as the preflight shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Nanos>,
    /// Space that files take at the same time, on all targets together; on storage that each node has for itself,
    /// that of the node with the most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<Bytes>,
    /// Tasks of a case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// Nodes of a case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
}

impl Budget {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

/// `10 min, 10 GiB and 4 nodes`.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: u32, what: &str| match count {
            1 => format!("1 {what}"),
            several => format!("{several} {what}s"),
        };
        let parts = [
            self.time.map(in_words),
            self.space.map(|space| space.to_string()),
            self.tasks.map(|tasks| counted(tasks, "task")),
            self.nodes.map(|nodes| counted(nodes, "node")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.split_last() {
            Some((last, others)) if !others.is_empty() => write!(f, "{} and {last}", others.join(", ")),
            _ => f.write_str(&parts.concat()),
        }
    }
}

/// A time with the unit in which a person would write it: `90 s`, `10 min`, `2 h`.
fn in_words(time: Nanos) -> String {
    const MINUTE: u64 = 60_000_000_000;
    const HOUR: u64 = 60 * MINUTE;
    match time.0 {
        0 => time.to_string(),
        nanos if nanos.is_multiple_of(HOUR) => format!("{} h", nanos / HOUR),
        nanos if nanos.is_multiple_of(MINUTE) => format!("{} min", nanos / MINUTE),
        _ => time.to_string(),
    }
}

/// The smallest and the largest of several values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range<T> {
    /// The smallest.
    pub least: T,
    /// The largest.
    pub most: T,
}

impl<T: PartialOrd + Copy> Range<T> {
    /// The range of `values`. `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = T>) -> Option<Self> {
        values.into_iter().fold(None, |range, value| {
            let Self { least, most } = range.unwrap_or(Self { least: value, most: value });
            let least = if value < least { value } else { least };
            let most = if value > most { value } else { most };
            Some(Self { least, most })
        })
    }
}

impl<T: PartialEq + fmt::Display> fmt::Display for Range<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.least == self.most {
            true => self.most.fmt(f),
            false => write!(f, "{} to {}", self.least, self.most),
        }
    }
}

/// What kind of statement can no longer be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UntoldKind {
    /// A claim, by its id.
    Claim,
    /// A commitment, by its name.
    Commitment,
    /// A published figure, by its id.
    Published,
    /// An expectation, by its name.
    Expectation,
}

impl UntoldKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Commitment => "commitment",
            Self::Published => "published figure",
            Self::Expectation => "expectation",
        }
    }
}

/// A statement of the study that can no longer be told, because it depends on what was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untold {
    /// What kind of statement.
    pub kind: UntoldKind,
    /// Its id or name.
    pub name: String,
    /// Why, as a fragment of a sentence.
    pub why: String,
}

/// What was given up so that a study fits a [`Budget`]; see [`crate::fit()`]. What is not named is as the study says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// The budget.
    pub budget: Budget,
    /// The number of points of the study.
    pub points_of: usize,
    /// The number of points that are left.
    pub points: usize,
    /// Files, trees and tables are smaller by these powers of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Range<u64>>,
    /// Durations, deadlines and numbers of operations are smaller by these factors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Range<f64>>,
    /// Repetitions that the study asks for, and those that are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<(Range<u32>, Range<u32>)>,
    /// Pauses, warm-ups, preconditionings and early rounds that were given up, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preparation: Vec<String>,
    /// Workloads that bypass the page cache, which would hold their smaller files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub direct: Vec<String>,
    /// Workloads whose sizes stay because a cache would hold smaller files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_sizes: Vec<String>,
    /// Whether the model gives no rate for some phases, so that the budget counts them with an assumed device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
    /// Workloads none of whose points is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// Statements that can no longer be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<Untold>,
    /// The values that were changed, as `--set` takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

impl Scaling {
    /// Why the statement called `name` cannot be told, if so.
    #[must_use]
    pub fn untold(&self, kind: UntoldKind, name: &str) -> Option<String> {
        let found = self.untold.iter().find(|one| one.kind == kind && one.name == name)?;
        Some(format!("the study was scaled to {}: {}", self.budget, found.why))
    }

    /// The limits whose points are left out without a changed value: `--tasks 4 --nodes 1`; empty if there are none.
    #[must_use]
    pub fn caps(&self) -> String {
        let limits = [("--tasks", self.budget.tasks), ("--nodes", self.budget.nodes)];
        let limits = limits.into_iter().filter_map(|(option, most)| Some(format!("{option} {}", most?)));
        limits.collect::<Vec<_>>().join(" ")
    }

    /// What was given up, each in a few words: `3 of 5 repetitions`.
    fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if let Some((of, left)) = &self.repetitions {
            parts.push(format!("{left} of {of} repetitions"));
        }
        if self.points < self.points_of {
            parts.push(format!("{} of {} points", self.points, self.points_of));
        }
        parts.extend(self.sizes.map(|sizes| format!("sizes ÷ {sizes}")));
        let rounded = |value: f64| (value * 10.0).round() / 10.0;
        let times =
            self.times.map(|Range { least, most }| Range { least: rounded(least), most: rounded(most) });
        parts.extend(times.map(|times| format!("times ÷ {times}")));
        parts.extend(self.preparation.iter().cloned());
        match self.direct.len() {
            0 => {}
            1 => parts.push("direct I/O in one workload".to_owned()),
            several => parts.push(format!("direct I/O in {several} workloads")),
        }
        parts
    }

    /// The details below the line of [`Scaling`]'s display: what cannot be told, what a cache has to do with it, and
    /// the values that were changed.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let list = |names: &[String]| names.join(", ");
        if self.assumed {
            let what =
                "the model gives no rate for some phases: the budget counts them as on an assumed device";
            lines.push(what.to_owned());
        }
        if !self.gone.is_empty() {
            lines.push(format!("nothing is left of {}", list(&self.gone)));
        }
        if !self.direct.is_empty() {
            lines.push(format!(
                "the page cache would hold the smaller files of {}: direct I/O instead of buffered",
                list(&self.direct)
            ));
        }
        if !self.kept_sizes.is_empty() {
            lines.push(format!(
                "a cache would hold smaller files of {}: they do not become smaller than that",
                list(&self.kept_sizes)
            ));
        }
        let is_alike = |one: &Untold, other: &Untold| (one.kind, &one.why) == (other.kind, &other.why);
        let mut groups: Vec<Vec<&Untold>> = Vec::new();
        for one in &self.untold {
            match groups.iter_mut().find(|group| is_alike(group[0], one)) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
        lines.extend(groups.iter().map(|group| told(group)));
        lines
    }
}

/// The statements of `group`, which cannot be told for the same reason.
fn told(group: &[&Untold]) -> String {
    let names: Vec<String> = group.iter().map(|one| format!("`{}`", one.name)).collect();
    let (names, kind) = (names.join(", "), group[0].kind);
    let (many, verb) = if group.len() > 1 { ("s", "are") } else { ("", "is") };
    let why = if group.len() > 1 { of_several(&group[0].why) } else { group[0].why.clone() };
    match kind {
        UntoldKind::Published => format!("{}{many} {names} {verb} not measured alike: {why}", kind.name()),
        _ => format!("{}{many} {names} cannot be told: {why}", kind.name()),
    }
}

/// A reason for several statements.
fn of_several(why: &str) -> String {
    const WORDS: [(&str, &str); 5] = [
        ("it was measured", "they were measured"),
        ("its files are", "their files are"),
        ("what it works on", "what they work on"),
        ("its only figure", "their only figure"),
        ("of its ", "of their "),
    ];
    WORDS.iter().fold(why.to_owned(), |why, (one, several)| why.replace(one, several))
}

/// One line: `scaled to 10 min and 10 GiB: 3 of 5 repetitions, 12 of 96 points, sizes ÷ 64`.
impl fmt::Display for Scaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scaled to {}: {}", self.budget, self.parts().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Range, Scaling};
    use crate::{Bytes, Nanos};

    #[test]
    fn the_line_says_what_was_given_up() {
        let budget =
            Budget { time: Some(Nanos::secs(600)), space: Some(Bytes::gib(10)), ..Budget::default() };
        let scaling = Scaling {
            budget,
            points_of: 96,
            points: 12,
            sizes: Some(Range { least: 64, most: 64 }),
            times: Some(Range { least: 1.5, most: 15.38 }),
            repetitions: Some((Range { least: 5, most: 5 }, Range { least: 3, most: 3 })),
            preparation: Vec::new(),
            direct: Vec::new(),
            kept_sizes: Vec::new(),
            assumed: false,
            gone: Vec::new(),
            untold: Vec::new(),
            settings: Vec::new(),
        };
        let line = "scaled to 10 min and 10 GiB: 3 of 5 repetitions, 12 of 96 points, sizes ÷ 64, times ÷ 1.5 to 15.4";
        assert_eq!(scaling.to_string(), line);
    }

    #[test]
    fn a_budget_is_said_as_it_would_be_written() {
        let of = |time: u64| Budget { time: Some(Nanos::millis(time)), ..Budget::default() }.to_string();
        assert_eq!([of(90_000), of(1_300), of(60_000), of(7_200_000)], ["90 s", "1.30 s", "1 min", "2 h"]);
        let all = Budget { time: None, space: Some(Bytes::mib(256)), tasks: Some(8), nodes: Some(1) };
        assert_eq!(all.to_string(), "256 MiB, 8 tasks and 1 node");
    }
}
