//! Swept keys of a workload, and the resulting points.

use std::collections::HashMap;

use toml::Spanned;
use toml::de::DeValue;

use super::fields::{Field, Fields, Span, Values, shown};
use super::kind::Key;
use super::range::{Range, is_range};
use super::value::{LIST_MAX, convert};
use crate::study::error::{StudyError, count};
use crate::{Setting, SettingValue};

/// A key with several values, not yet expanded.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::study) struct Sweep {
    pub(in crate::study) key: &'static Key,
    pub(in crate::study) key_span: Span,
    pub(in crate::study) span: Span,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    One(Field),
    Many(Range, Span),
}

impl Sweep {
    /// Whether `value` has several values of `key`.
    pub(in crate::study) fn is_meant(key: &Key, value: &DeValue<'_>) -> bool {
        match value {
            DeValue::Array(_) => true,
            DeValue::String(text) => key.kind.is_ordered() && is_range(text),
            _ => false,
        }
    }

    /// Reads a list of values and ranges, or one range.
    pub(in crate::study) fn read(
        key: &'static Key,
        key_span: Span,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Self, Box<StudyError>> {
        let wrong = |label: &str, message: String, help: String| {
            Box::new(StudyError::new(value.span(), label, message, help))
        };
        let parts = match value.get_ref() {
            DeValue::Array(items) if items.is_empty() => {
                let message = format!("`{}` is swept over nothing", key.name);
                return Err(wrong("nothing in here", message, "give at least one value".to_owned()));
            }
            DeValue::Array(items) if items.len() > LIST_MAX => {
                let message = format!("`{}` has {} items", key.name, items.len());
                return Err(wrong(
                    "too long",
                    message,
                    format!("a list has at most {LIST_MAX} items; write a range"),
                ));
            }
            DeValue::Array(items) => {
                items.iter().map(|item| part(key, &key_span, item)).collect::<Result<Vec<_>, _>>()?
            }
            _ => vec![part(key, &key_span, value)?],
        };
        Ok(Self { key, key_span, span: value.span(), parts })
    }

    /// How many values it has, without listing them.
    pub(in crate::study) fn count(&self) -> u64 {
        let counts = self.parts.iter().map(|part| match part {
            Part::One(_) => 1,
            Part::Many(range, _) => range.count(),
        });
        counts.fold(0, u64::saturating_add)
    }

    /// All values.
    fn values(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        for part in &self.parts {
            match part {
                Part::One(field) => fields.push(field.clone()),
                Part::Many(range, span) => fields.extend((0..range.count()).map(|index| Field {
                    key_span: self.key_span.clone(),
                    span: span.clone(),
                    value: range.at(index),
                })),
            }
        }
        fields
    }
}

fn part(key: &'static Key, key_span: &Span, item: &Spanned<DeValue<'_>>) -> Result<Part, Box<StudyError>> {
    match item.get_ref() {
        DeValue::String(text) if key.kind.is_ordered() && is_range(text) => match Range::parse(key, text) {
            Ok(range) => Ok(Part::Many(range, item.span())),
            Err((message, help)) => {
                let help = if help.is_empty() { key.kind.allowed() } else { help };
                Err(Box::new(StudyError::new(item.span(), "this range", message, help)))
            }
        },
        _ => {
            let value = convert(key, item)?;
            Ok(Part::One(Field { key_span: key_span.clone(), span: item.span(), value }))
        }
    }
}

/// The sweeps of a workload that advance together; a single sweep forms its own group.
type Group<'f> = Vec<&'f Sweep>;

/// Grouping of the swept keys of `fields`, the slowest group first.
fn groups<'f>(fields: &'f Fields, errors: &mut Vec<StudyError>) -> Vec<Group<'f>> {
    let together = together(fields, errors);
    let mut groups: Vec<Group<'f>> = Vec::new();
    let mut in_step: Option<usize> = None;
    for sweep in fields.sweeps() {
        if !together.contains(&sweep.key.name) {
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
            let (one, key) = (group[0], other.key.name);
            let message = format!(
                "`{}` has {} and `{key}` has {}: they cannot go in step",
                one.key.name,
                count(one.count(), "value"),
                count(other.count(), "value"),
            );
            let help = "give both as many values, or leave `together` out for every combination";
            let error = StudyError::new(other.span.clone(), "so many here", message, help);
            errors.push(error.and(one.span.clone(), "and here"));
        }
    }
    groups
}

/// The keys that are to go in step.
fn together<'f>(fields: &'f Fields, errors: &mut Vec<StudyError>) -> Vec<&'f str> {
    let Some(names) = fields.texts("together") else { return Vec::new() };
    let swept = || fields.sweeps().iter().map(|sweep| sweep.key.name);
    let span = fields.span("together");
    if let Some(name) = names.iter().find(|name| !swept().any(|swept| swept == *name)) {
        let message = format!("`{}` is not swept here", shown(name));
        let help = match swept().collect::<Vec<_>>() {
            none if none.is_empty() => "give keys several values first, as tasks = [1, 4, 16]".to_owned(),
            names => format!("the swept keys are {}", names.join(", ")),
        };
        errors.push(StudyError::new(span, "named here", message, help));
    } else if let Some(name) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        let message = format!("`{}` comes twice", shown(&names[name]));
        errors.push(StudyError::new(span, "named here", message, "name each key once"));
    } else if names.len() < 2 {
        let message = "one key cannot go in step with nothing";
        errors.push(StudyError::new(
            span,
            "only one",
            message,
            "name two swept keys or more, or leave it out",
        ));
    }
    names.iter().map(String::as_str).collect()
}

/// Number of cases of `fields`, without building them.
pub(in crate::study) fn case_count(fields: &Fields, errors: &mut Vec<StudyError>) -> u64 {
    let counts = groups(fields, errors).iter().map(|group| group[0].count()).collect::<Vec<_>>();
    counts.into_iter().fold(1, u64::saturating_mul)
}

/// A swept key with all its values.
type Axis = (&'static Key, Vec<Field>);

/// A repeated step of `group`: it would be measured twice under one name.
fn repeated(axes: &[Axis], group: &[usize]) -> Option<StudyError> {
    let steps = group.iter().map(|&axis| axes[axis].1.len()).min()?;
    let mut seen: HashMap<Vec<String>, usize> = HashMap::with_capacity(steps);
    for step in 0..steps {
        let values = || group.iter().map(|&axis| (axes[axis].0, &axes[axis].1[step]));
        let exact = values().map(|(key, field)| key.setting(&field.value).exact()).collect();
        let Some(first) = seen.insert(exact, step) else { continue };
        let told: Vec<String> = values()
            .map(|(key, field)| format!("`{}` has the value {}", key.name, key.setting(&field.value)))
            .collect();
        let (_, fields) = &axes[group[0]];
        let message = format!("{} twice", told.join(" and "));
        let error =
            StudyError::new(fields[step].span.clone(), "again here", message, "leave one of them out");
        return Some(error.and(fields[first].span.clone(), "first here"));
    }
    None
}

/// The swept keys of a workload with all their values.
#[derive(Debug)]
pub(in crate::study) struct Axes {
    /// In the order of the file.
    axes: Vec<Axis>,
    /// Axes that go in step, the slowest group first.
    groups: Vec<Vec<usize>>,
}

impl Axes {
    /// Lists the values of all swept keys of `fields`.
    pub(in crate::study) fn of(fields: &Fields, errors: &mut Vec<StudyError>) -> Self {
        let axes: Vec<Axis> = fields.sweeps().iter().map(|sweep| (sweep.key, sweep.values())).collect();
        // Mistakes in the groups were reported when the cases were counted.
        let index = |sweep: &&Sweep| fields.sweeps().iter().position(|other| std::ptr::eq(other, *sweep));
        let groups = groups(fields, &mut Vec::new());
        let groups: Vec<Vec<usize>> =
            groups.iter().map(|group| group.iter().filter_map(index).collect()).collect();
        errors.extend(groups.iter().filter_map(|group| repeated(&axes, group)));
        Self { axes, groups }
    }

    /// All values of the swept key `name`; none where it is not swept.
    pub(in crate::study) fn values(&self, name: &str) -> Vec<SettingValue> {
        let axis = self.axes.iter().find(|(key, _)| key.name == name);
        axis.map_or_else(Vec::new, |(key, fields)| {
            fields.iter().map(|field| key.setting(&field.value)).collect()
        })
    }

    /// Every point of the sweep; one without choices where nothing is swept.
    pub(in crate::study) fn points<'f>(&'f self, fields: &'f Fields) -> impl Iterator<Item = Point<'f>> {
        let length = |group: &Vec<usize>| group.first().map_or(1, |&axis| self.axes[axis].1.len());
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
            let choices = self.axes.iter().zip(chosen).map(|((key, fields), index)| (*key, &fields[index]));
            Point { fields, choices: choices.collect() }
        })
    }
}

/// One point of the sweep of a workload.
#[derive(Debug, Clone)]
pub(in crate::study) struct Point<'f> {
    fields: &'f Fields,
    choices: Vec<(&'static Key, &'f Field)>,
}

impl Point<'_> {
    /// The swept keys with their values here, in the order of the file.
    pub(in crate::study) fn settings(&self) -> Vec<Setting> {
        let setting = |(key, field): &(&'static Key, &Field)| Setting {
            key: key.name.to_owned(),
            value: key.setting(&field.value),
        };
        self.choices.iter().map(setting).collect()
    }
}

impl Values for Point<'_> {
    fn fields(&self) -> &Fields {
        self.fields
    }

    fn field(&self, name: &str) -> Option<&Field> {
        let chosen = self.choices.iter().find(|(key, _)| key.name == name);
        chosen.map(|(_, field)| *field).or_else(|| self.fields.field(name))
    }
}
