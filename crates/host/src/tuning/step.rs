//! A step of tuning: the settings it examines, the advice, its reason and source.

use plan::shell_word;
use serde::Serialize;

use super::context::TuningContext;
use super::settings::setting::{Setting, Settings};

/// The importance of a finding for measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// No action is needed. If the setting differs, this is a matter of choice.
    Fine,
    /// It may matter, depending on the workload.
    Advice,
    /// Figures measured with this setting are easily mistaken for those of the storage.
    Warning,
}

/// What a step acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The host as a whole.
    Host,
    /// Devices. The user must name them before any of their settings is changed.
    Devices,
    /// Nothing: the step only examines.
    Look,
}

/// A step of tuning.
#[derive(Debug)]
pub struct Step {
    /// Its name, which is also the name of the profile that consists of only this step.
    pub name: &'static str,
    /// A short description of what it sets.
    pub title: &'static str,
    /// What it acts on.
    pub scope: Scope,
    /// The severity if the advice is not followed.
    pub severity: Severity,
    /// Why it is advised.
    pub reason: &'static str,
    /// The publication or documentation on which the advice is based.
    pub source: &'static str,
    /// The command in a publication, as printed there.
    pub published: Option<&'static str>,
    /// How this program differs from the publication, or what to keep in mind.
    pub note: Option<&'static str>,
    pub(super) check: fn(&TuningContext<'_>) -> Vec<SettingState>,
}

/// The current state of one setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingState {
    /// Description of the subject, for example `read-ahead of nvme0n1`.
    pub what: String,
    /// Its location.
    pub setting: Option<Setting>,
    /// The present value.
    pub current: Option<String>,
    /// The advised value.
    pub advised: Option<String>,
    /// How the two compare.
    #[serde(flatten)]
    pub compliance: Compliance,
    /// Settings that the kernel changes along with this one.
    #[serde(skip)]
    pub(super) moves: Vec<Setting>,
    /// The path that the user gave for the device.
    #[serde(skip)]
    pub(super) device: Option<String>,
}

/// How a setting compares with the advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "why", rename_all = "kebab-case")]
pub enum Compliance {
    /// It has the advised value.
    AsAdvised,
    /// It differs, and `host tune` can set it.
    Differs,
    /// It differs, and this program does not set it. Contains what the user has to do.
    ByHand(String),
    /// It is not available on this host. Contains the reason.
    NotHere(String),
    /// A fact that the user should know, without any advice.
    Shown,
}

/// The finding for one setting, with the advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The step that examined it, which is also the name of the profile that sets it.
    pub step: &'static str,
    /// The setting.
    #[serde(flatten)]
    pub state: SettingState,
    /// The severity on this host.
    pub severity: Severity,
    /// Why it is advised.
    pub reason: &'static str,
    /// The source of the advice.
    pub source: &'static str,
    /// The command of this program that sets it.
    pub apply: Option<String>,
}

impl Step {
    /// A step of the host that only advises. Provides the fields that most steps leave unchanged.
    pub(super) const PLAIN: Self = Self {
        name: "",
        title: "",
        scope: Scope::Host,
        severity: Severity::Advice,
        reason: "",
        source: "",
        published: None,
        note: None,
        check: |_| Vec::new(),
    };

    /// The findings of this step on the host.
    #[must_use]
    pub fn findings(&self, context: &TuningContext<'_>) -> Vec<Finding> {
        (self.check)(context).into_iter().map(|state| self.finding(state)).collect()
    }

    fn finding(&self, state: SettingState) -> Finding {
        let severity = match &state.compliance {
            Compliance::AsAdvised | Compliance::NotHere(_) | Compliance::Shown => Severity::Fine,
            Compliance::Differs | Compliance::ByHand(_) => self.severity,
        };
        let apply = (state.compliance == Compliance::Differs).then(|| match (&state.device, self.scope) {
            (Some(device), Scope::Devices) => {
                format!("ioproof host tune {} --device {}", self.name, shell_word(device))
            }
            _ => format!("ioproof host tune {}", self.name),
        });
        Finding { step: self.name, state, severity, reason: self.reason, source: self.source, apply }
    }
}

impl SettingState {
    /// Creates a state of a setting that should have the value `advised`.
    pub(super) fn of(
        context: &TuningContext<'_>,
        what: impl Into<String>,
        setting: Setting,
        advised: &str,
    ) -> Self {
        let what = what.into();
        let text = match context.read(&setting) {
            Ok(text) => text,
            Err(why) => return Self::not_here(what, why),
        };
        let value = context.planned(&setting).map_or_else(|| setting.value(&text), str::to_owned);
        let same = setting.same(&value, advised);
        let compliance = if same { Compliance::AsAdvised } else { Compliance::Differs };
        Self {
            what,
            setting: Some(setting),
            current: Some(text),
            advised: Some(advised.to_owned()),
            compliance,
            moves: Vec::new(),
            device: None,
        }
    }

    /// Creates a state for something that is not available on this host.
    pub(super) fn not_here(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::said(what, None, Compliance::NotHere(why.into()))
    }

    /// Creates a state for a fact that is only shown.
    pub(super) fn shown(what: impl Into<String>, current: impl Into<String>) -> Self {
        Self::said(what, Some(current.into()), Compliance::Shown)
    }

    /// Creates a state for something that only the user can change.
    pub(super) fn by_hand(what: impl Into<String>, current: Option<String>, todo: impl Into<String>) -> Self {
        Self::said(what, current, Compliance::ByHand(todo.into()))
    }

    pub(super) fn said(what: impl Into<String>, current: Option<String>, compliance: Compliance) -> Self {
        Self {
            what: what.into(),
            setting: None,
            current,
            advised: None,
            compliance,
            moves: Vec::new(),
            device: None,
        }
    }

    /// Returns the same state, with settings that the kernel changes along with it.
    pub(super) fn moving(self, moves: Vec<Setting>) -> Self {
        Self { moves, ..self }
    }

    /// Returns the same state, for a device that the user has named with this path.
    pub(super) fn of_device(self, path: &str) -> Self {
        Self { device: Some(path.to_owned()), ..self }
    }

    /// Returns the same state, but a difference is only shown and the value is not changed.
    pub(super) fn staying(self) -> Self {
        match self.compliance {
            Compliance::Differs => Self { compliance: Compliance::Shown, advised: None, ..self },
            _ => self,
        }
    }
}

/// The settings in `all` that exist on this host, in the given order.
pub(super) fn existing(settings: &dyn Settings, all: Vec<Setting>) -> Vec<Setting> {
    all.into_iter().filter(|setting| settings.read(setting).is_ok()).collect()
}

/// Findings as JSON: the node, and each finding with its setting, values, state, severity, reason and
/// source.
#[must_use]
pub fn as_json(node: &str, findings: &[&Finding]) -> serde_json::Value {
    serde_json::json!({ "node": node, "findings": findings })
}
