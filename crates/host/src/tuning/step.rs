//! A step of tuning: the settings examined, the advice, its reason and source.

use plan::shell_word;
use serde::Serialize;

use super::context::TuningContext;
use super::settings::setting::{Setting, Settings};

/// Importance of a finding for measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// No action needed; for a setting that differs, it is a choice.
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
    /// Devices, which must be named before anything of theirs is changed.
    Devices,
    /// Nothing: it only examines.
    Look,
}

/// A step of tuning.
#[derive(Debug)]
pub struct Step {
    /// Its name, which is that of the profile with this step alone.
    pub name: &'static str,
    /// What it sets, in a few words.
    pub title: &'static str,
    /// What it acts on.
    pub scope: Scope,
    /// Its importance if the advice is not followed.
    pub severity: Severity,
    /// Why it is advised.
    pub reason: &'static str,
    /// The publication or documentation that says so.
    pub source: &'static str,
    /// The command of a publication, as printed.
    pub published: Option<&'static str>,
    /// What is different about what this program does, or to be kept in mind.
    pub note: Option<&'static str>,
    pub(super) check: fn(&TuningContext<'_>) -> Vec<SettingState>,
}

/// The current state of one setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingState {
    /// What it is about, as in `read-ahead of nvme0n1`.
    pub what: String,
    /// Its location.
    pub setting: Option<Setting>,
    /// What it reads as.
    pub current: Option<String>,
    /// What it should be.
    pub advised: Option<String>,
    /// How the two compare.
    #[serde(flatten)]
    pub compliance: Compliance,
    /// Settings that the kernel changes along with this one.
    #[serde(skip)]
    pub(super) moves: Vec<Setting>,
    /// The path by which the user named the device.
    #[serde(skip)]
    pub(super) device: Option<String>,
}

/// How a setting compares with the advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "why", rename_all = "kebab-case")]
pub enum Compliance {
    /// As advised.
    AsAdvised,
    /// Differs; `host tune` can set it.
    Differs,
    /// Differs, and this program does not set it: the action for the user.
    ByHand(String),
    /// Not available on this host: the reason.
    NotHere(String),
    /// A fact to be known; nothing is advised.
    Shown,
}

/// The finding for one setting, with the advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The step that looked, and the profile that sets it.
    pub step: &'static str,
    /// The setting.
    #[serde(flatten)]
    pub state: SettingState,
    /// How much that matters here.
    pub severity: Severity,
    /// Why it is advised.
    pub reason: &'static str,
    /// Who says so.
    pub source: &'static str,
    /// The command of this program that sets it.
    pub apply: Option<String>,
}

impl Step {
    /// A step of the host that is no more than advice, for the fields that most steps leave as they are.
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
    /// A setting that should read as `advised`.
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

    /// Something that this host does not have.
    pub(super) fn not_here(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::said(what, None, Compliance::NotHere(why.into()))
    }

    /// A fact that is shown.
    pub(super) fn shown(what: impl Into<String>, current: impl Into<String>) -> Self {
        Self::said(what, Some(current.into()), Compliance::Shown)
    }

    /// Something that only the user can change.
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

    /// The same, with settings that the kernel changes along with it.
    pub(super) fn moving(self, moves: Vec<Setting>) -> Self {
        Self { moves, ..self }
    }

    /// The same, of a device that the user has named so.
    pub(super) fn of_device(self, path: &str) -> Self {
        Self { device: Some(path.to_owned()), ..self }
    }

    /// The same, but a difference is only shown: the value is left as it is.
    pub(super) fn staying(self) -> Self {
        match self.compliance {
            Compliance::Differs => Self { compliance: Compliance::Shown, advised: None, ..self },
            _ => self,
        }
    }
}

/// Those of the settings that this host has, in the order given.
pub(super) fn existing(settings: &dyn Settings, all: Vec<Setting>) -> Vec<Setting> {
    all.into_iter().filter(|setting| settings.read(setting).is_ok()).collect()
}

/// Findings for JSON: the node, and each with its setting, values, state, severity, reason and source.
#[must_use]
pub fn as_json(node: &str, findings: &[&Finding]) -> serde_json::Value {
    serde_json::json!({ "node": node, "findings": findings })
}
