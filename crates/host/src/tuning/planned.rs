//! The writes that a profile would do on this host.

use serde::Serialize;

use super::context::TuningContext;
use super::settings::setting::Setting;
use super::step::{Compliance, Finding, Scope, Step};

/// One write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Write {
    /// The step that requires it.
    pub step: &'static str,
    /// Description of the subject, for example `read-ahead of nvme0n1`.
    pub what: String,
    /// The setting to write.
    pub setting: Setting,
    /// The present value.
    pub old: String,
    /// The value to write.
    pub new: String,
    /// The reason.
    pub reason: &'static str,
    /// The source of the advice.
    pub source: &'static str,
    /// Settings that the kernel changes along with it, which are restored as well.
    pub moves: Vec<Setting>,
    /// The path that the user gave for the device.
    pub device: Option<String>,
}

/// All writes of some profiles on a host, in order, and the other findings.
#[derive(Debug, Clone, Serialize)]
pub struct TuningPlan {
    /// The names of the profiles.
    pub profiles: Vec<&'static str>,
    /// The writes.
    pub writes: Vec<Write>,
    /// Findings about settings that already have the advised value, are not available, or must be changed
    /// by hand.
    pub others: Vec<Finding>,
    /// Whether the settings are to be set again at each boot.
    pub persist: bool,
}

impl TuningPlan {
    /// Determines what `steps`, of `profiles`, would write on the host.
    #[must_use]
    pub fn new(
        context: &mut TuningContext<'_>,
        profiles: Vec<&'static str>,
        steps: &[&'static Step],
    ) -> Self {
        let (mut writes, mut others): (Vec<Write>, Vec<Finding>) = (Vec::new(), Vec::new());
        for step in steps {
            for finding in step.findings(context) {
                // A setting that already has the advised value keeps it only if no earlier write changes
                // it as a side effect.
                let is_moved = |setting: &Setting| writes.iter().any(|write| write.moves.contains(setting));
                let moved = finding.state.setting.as_ref().is_some_and(is_moved);
                match Write::of(&finding, moved) {
                    Some(write) => {
                        context.plan(&write.setting, &write.new);
                        writes.push(write);
                    }
                    None => others.push(finding),
                }
            }
        }
        Self { profiles, writes, others, persist: false }
    }
}

impl Write {
    /// The write that follows the advice of a finding, or `None` if there is nothing to write.
    fn of(finding: &Finding, moved: bool) -> Option<Self> {
        if finding.state.compliance != Compliance::Differs
            && !(moved && finding.state.compliance == Compliance::AsAdvised)
        {
            return None;
        }
        Some(Self {
            step: finding.step,
            what: finding.state.what.clone(),
            setting: finding.state.setting.clone()?,
            old: finding.state.current.clone()?,
            new: finding.state.advised.clone()?,
            reason: finding.reason,
            source: finding.source,
            moves: finding.state.moves.clone(),
            device: finding.state.device.clone(),
        })
    }

    /// Description of how to revert it.
    #[must_use]
    pub fn reverted_by(&self) -> String {
        let command = self.setting.command(&self.setting.value(&self.old));
        let boot = if self.setting.outlives_boot() { "" } else { ", or a reboot" };
        format!("`ioproof host restore` ({command}){boot}")
    }
}

/// Whether one of the steps changes devices, so that the user has to name them.
#[must_use]
pub fn needs_devices(steps: &[&'static Step]) -> bool {
    steps.iter().any(|step| step.scope == Scope::Devices)
}
