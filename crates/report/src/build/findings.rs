//! Puts the findings of the analysis into the words and units of a report.

use plan::{Client, Layer, SettingValue};

use crate::view::findings as view;

pub(crate) fn findings(found: &analysis::Findings) -> view::Findings {
    view::Findings { audit: found.audit.iter().map(doubt).collect() }
}

/// The number of a figure in a report: from 1.
pub(super) const fn number(index: usize) -> usize {
    index + 1
}

/// Where the measuring program ran, in words; empty where the study does not say.
pub(crate) const fn client(client: Client) -> &'static str {
    match client {
        Client::Unstated => "",
        Client::LocalToServer => "local to server",
        Client::Remote => "remote",
    }
}

/// Which nodes reach a target, in words; empty where the study does not say.
pub(crate) const fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Unstated => "",
        Layer::NodeLocal => "node-local",
        Layer::Shared => "shared",
    }
}

/// A swept key with its value.
pub(crate) fn setting(one: &plan::Setting) -> view::Setting {
    setting_of(&one.key, &one.value)
}

fn setting_of(key: &str, value: &SettingValue) -> view::Setting {
    let raw = match value {
        SettingValue::Bytes(bytes) => bytes.0.into(),
        SettingValue::Time(nanos) => nanos.0.into(),
        SettingValue::Count(count) => (*count).into(),
        SettingValue::Number(number) => (*number).into(),
        SettingValue::Flag(flag) => (*flag).into(),
        SettingValue::Word(word) => word.clone().into(),
    };
    let unit = match value {
        SettingValue::Bytes(_) => "bytes",
        SettingValue::Time(_) => "ns",
        _ => "",
    };
    view::Setting { key: key.to_owned(), value: raw, unit, text: value.to_string() }
}

fn doubt(one: &analysis::Doubt) -> view::Doubt {
    view::Doubt {
        check: one.check.name(),
        figure: one.figure.map(number),
        concerns: one.concerns.clone(),
        evidence: one.evidence.clone(),
        advice: one.advice.clone(),
        disqualifies: one.disqualifies(),
    }
}
