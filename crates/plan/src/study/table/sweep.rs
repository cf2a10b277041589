//! Swept keys of a workload, and the resulting points.

use std::collections::HashMap;

use super::definition::Table;
use super::values::{Choice, Field, Fields, Point, Sweep, Values};
use crate::SettingValue;
use crate::study::error::{StudyError, count};
use crate::text::visible::shown;

/// The sweeps of a workload that advance together; a single sweep forms its own group.
type Group<'f> = Vec<&'f Sweep>;

/// Grouping of the swept keys of `fields`, the slowest group first.
fn groups<'f>(fields: &'f Fields, errors: &mut Vec<StudyError>) -> Vec<Group<'f>> {
    let together = together(fields, errors);
    let mut groups: Vec<Group<'f>> = Vec::new();
    let mut in_step: Option<usize> = None;
    for sweep in fields.sweeps() {
        if !together.contains(&sweep.key) {
            groups.push(vec![sweep]);
        } else if let Some(index) = in_step {
            groups[index].push(sweep);
        } else {
            in_step = Some(groups.len());
            groups.push(vec![sweep]);
        }
    }
    for group in &groups {
        let different = group.iter().find(|sweep| sweep.count() != group[0].count());
        if let Some(other) = different {
            let (one, key) = (group[0], other.key);
            let message = format!(
                "`{}` has {} and `{key}` has {}: they cannot be swept together",
                one.key,
                count(one.count(), "value"),
                count(other.count(), "value"),
            );
            let help = "give both the same number of values, or leave `together` out for every combination";
            let error = StudyError::new(other.span.clone(), "this many here", message, help);
            errors.push(error.and(one.span.clone(), "and here"));
        }
    }
    groups
}

/// The keys that are to change together.
fn together<'f>(fields: &'f Fields, errors: &mut Vec<StudyError>) -> Vec<&'f str> {
    let Some(names) = fields.texts("together") else { return Vec::new() };
    let swept = || fields.sweeps().iter().map(|sweep| sweep.key);
    let span = fields.span("together");
    if let Some(name) = names.iter().find(|name| !swept().any(|swept| swept == *name)) {
        let message = format!("`{}` is not swept here", shown(name));
        let help = match swept().collect::<Vec<_>>() {
            none if none.is_empty() => {
                "give keys several values first, for example tasks = [1, 4, 16]".to_owned()
            }
            names => format!("the swept keys are {}", names.join(", ")),
        };
        errors.push(StudyError::new(span, "named here", message, help));
    } else if let Some(name) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        let message = format!("`{}` is named twice", shown(&names[name]));
        errors.push(StudyError::new(span, "named here", message, "name each key once"));
    } else if names.len() < 2 {
        let message = "`together` needs at least two keys";
        errors.push(StudyError::new(
            span,
            "only one",
            message,
            "name at least two swept keys, or leave it out",
        ));
    }
    names.iter().map(String::as_str).collect()
}

/// Number of cases of `fields`, without building them.
pub(crate) fn case_count(fields: &Fields, errors: &mut Vec<StudyError>) -> u64 {
    let counts = groups(fields, errors).iter().map(|group| group[0].count()).collect::<Vec<_>>();
    counts.into_iter().fold(1, u64::saturating_mul)
}

/// A swept key with all its values.
#[derive(Debug)]
struct Axis {
    key: &'static str,
    values: Vec<(Field, SettingValue)>,
}

/// The error for a repeated step of `group`, which would be measured twice under one name.
fn repeated(axes: &[Axis], group: &[usize]) -> Option<StudyError> {
    let steps = group.iter().map(|&axis| axes[axis].values.len()).min()?;
    let mut seen: HashMap<Vec<String>, usize> = HashMap::with_capacity(steps);
    for step in 0..steps {
        let values = || group.iter().map(|&axis| (axes[axis].key, &axes[axis].values[step].1));
        let exact = values().map(|(_, setting)| setting.exact()).collect();
        let Some(first) = seen.insert(exact, step) else { continue };
        let told: Vec<String> =
            values().map(|(key, setting)| format!("`{key}` has the value {setting}")).collect();
        let span = |step: usize| axes[group[0]].values[step].0.span.clone();
        let message = format!("{} twice", told.join(" and "));
        let error = StudyError::new(span(step), "again here", message, "leave one of them out");
        return Some(error.and(span(first), "first here"));
    }
    None
}

/// The swept keys of a workload with all their values.
#[derive(Debug)]
pub(crate) struct Axes {
    /// The axes, in the order of the file.
    axes: Vec<Axis>,
    /// Axes that change together, slowest group first.
    groups: Vec<Vec<usize>>,
}

impl Axes {
    /// Lists the values of all swept keys of `fields`, a `table`.
    pub(crate) fn of(fields: &Fields, table: &Table, errors: &mut Vec<StudyError>) -> Self {
        let axis = |sweep: &Sweep| {
            let key = table.find(sweep.key)?;
            let setting = |field: Field| (key.setting(&field.value), field);
            let values = sweep.values().into_iter().map(setting).map(|(setting, field)| (field, setting));
            Some(Axis { key: sweep.key, values: values.collect() })
        };
        let axes: Vec<Axis> = fields.sweeps().iter().filter_map(axis).collect();
        // Mistakes in the groups were reported when the cases were counted.
        let index = |sweep: &&Sweep| fields.sweeps().iter().position(|other| std::ptr::eq(other, *sweep));
        let groups = groups(fields, &mut Vec::new());
        let groups: Vec<Vec<usize>> =
            groups.iter().map(|group| group.iter().filter_map(index).collect()).collect();
        errors.extend(groups.iter().filter_map(|group| repeated(&axes, group)));
        Self { axes, groups }
    }

    /// The swept keys, each with all its values.
    pub(crate) fn swept(&self) -> impl Iterator<Item = (&'static str, Vec<SettingValue>)> {
        let values = |axis: &Axis| axis.values.iter().map(|(_, setting)| setting.clone()).collect();
        self.axes.iter().map(move |axis| (axis.key, values(axis)))
    }

    /// The swept keys with their values, those that change together in one group.
    pub(crate) fn grouped(&self) -> Vec<Vec<(&'static str, Vec<SettingValue>)>> {
        let all: Vec<_> = self.swept().collect();
        self.groups.iter().map(|group| group.iter().map(|&axis| all[axis].clone()).collect()).collect()
    }

    /// Every point of the sweep; a single point without choices if nothing is swept.
    pub(crate) fn points<'f>(&'f self, fields: &'f Fields) -> impl Iterator<Item = Point<'f>> {
        let length = |group: &Vec<usize>| group.first().map_or(1, |&axis| self.axes[axis].values.len());
        let total: usize = self.groups.iter().map(length).product();
        (0..total).map(move |number| {
            let mut chosen = vec![0; self.axes.len()];
            let mut rest = number;
            for group in self.groups.iter().rev() {
                for &axis in group {
                    chosen[axis] = rest % length(group);
                }
                rest /= length(group);
            }
            let choices = self.axes.iter().zip(chosen).map(|(Axis { key, values }, index)| {
                let (field, setting) = &values[index];
                Choice { key, field, setting }
            });
            Point { fields, choices: choices.collect() }
        })
    }
}
