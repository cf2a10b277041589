//! What a profile would write on this host.

use serde::Serialize;

use super::context::TuningContext;
use super::settings::setting::Setting;
use super::step::{Compliance, Finding, Scope, Step};

/// One write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Write {
    /// The step that wants it.
    pub step: &'static str,
    /// What it is about, as in `read-ahead of nvme0n1`.
    pub what: String,
    /// Where.
    pub setting: Setting,
    /// What it reads as now.
    pub old: String,
    /// What will be written.
    pub new: String,
    /// Why.
    pub reason: &'static str,
    /// Who says so.
    pub source: &'static str,
    /// Settings that the kernel changes along with it, which are restored too.
    pub moves: Vec<Setting>,
    /// The path by which the user named the device.
    pub device: Option<String>,
}

/// All writes of some profiles on a host, in order, and what else was found.
#[derive(Debug, Clone, Serialize)]
pub struct TuningPlan {
    /// The profiles.
    pub profiles: Vec<&'static str>,
    /// What is to be written.
    pub writes: Vec<Write>,
    /// What is as advised, is not here, or is to be done by hand.
    pub others: Vec<Finding>,
    /// Whether each boot is to set it again.
    pub persist: bool,
}

impl TuningPlan {
    /// What `steps`, of `profiles`, would write on the host.
    #[must_use]
    pub fn new(
        context: &mut TuningContext<'_>,
        profiles: Vec<&'static str>,
        steps: &[&'static Step],
    ) -> Self {
        let (mut writes, mut others): (Vec<Write>, Vec<Finding>) = (Vec::new(), Vec::new());
        for step in steps {
            for finding in step.findings(context) {
                // What is as advised stays so only if nothing before it changes it along.
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
    /// The write that follows the advice of a finding; none where nothing is to be written.
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

    /// What reverts it.
    #[must_use]
    pub fn reverted_by(&self) -> String {
        let command = self.setting.command(&self.setting.value(&self.old));
        let boot = if self.setting.outlives_boot() { "" } else { ", or a boot" };
        format!("`ioproof host restore` ({command}){boot}")
    }
}

/// Whether one of the steps changes devices, which then have to be named.
#[must_use]
pub fn needs_devices(steps: &[&'static Step]) -> bool {
    steps.iter().any(|step| step.scope == Scope::Devices)
}
