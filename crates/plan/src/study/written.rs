//! What the workloads of a study file give and sweep, for whoever changes them by overrides.

use super::keys::WORKLOAD;
use super::overrides::Override;
use super::table::document::Document;
use super::table::sweep::Axes;
use super::table::values::{Fields, Value, Values};
use crate::SettingValue;

/// The keys of one workload, before its sweep makes cases of it.
#[derive(Debug)]
pub(crate) struct WrittenWorkload {
    /// Its name, the group of its cases.
    pub(crate) name: String,
    /// Swept keys with all their values. The keys of one group change together.
    pub(crate) sweeps: Vec<Vec<(&'static str, Vec<SettingValue>)>>,
    own: Fields,
    protocol: Fields,
}

impl WrittenWorkload {
    /// Whether the key has several values.
    pub(crate) fn is_swept(&self, key: &str) -> bool {
        self.sweeps.iter().flatten().any(|(swept, _)| *swept == key)
    }

    /// The size, time or count of a key that is given with one value, by the workload or by the protocol.
    pub(crate) fn integer(&self, key: &str) -> Option<u64> {
        match self.value(key)? {
            Value::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// The number of a key that is given with one value, or its default.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        let default = || self.own.value(key).filter(|_| !self.is_swept(key));
        match self.value(key).or_else(default)? {
            Value::Number(value) => Some(*value),
            _ => None,
        }
    }

    fn value(&self, key: &str) -> Option<&Value> {
        if self.is_swept(key) {
            return None;
        }
        self.own.given(key).or_else(|| self.protocol.given(key))
    }
}

/// The workloads of the study in `text` with `overrides`, in the order of the file; none of a text that is no study.
pub(crate) fn workloads(text: &str, overrides: &[Override]) -> Vec<WrittenWorkload> {
    let mut errors = Vec::new();
    let Some(document) = Document::parse(text, overrides, &mut errors) else { return Vec::new() };
    let workload = |fields: &Fields| {
        let axes = Axes::of(fields, &WORKLOAD, &mut Vec::new());
        Some(WrittenWorkload {
            name: fields.text("name")?.to_owned(),
            sweeps: axes.grouped(),
            own: fields.clone(),
            protocol: document.protocol.clone(),
        })
    };
    document.many("workload").iter().filter_map(workload).collect()
}
