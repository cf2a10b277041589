//! Mount options.

use super::super::context::TuningContext;
use super::super::settings::mount_flags::without_access_times;
use super::super::settings::setting::Setting;
use super::super::step::{Compliance, Scope, SettingState, Severity, Step};

pub(super) const MOUNT_OPTIONS: Step = Step {
    name: "mount-options",
    title: "mount file systems without access times (noatime, nodiratime)",
    scope: Scope::Devices,
    severity: Severity::Warning,
    reason: "otherwise reads cause writes: the access time of each file and directory",
    source: "Performance and Tuning Considerations for SAS using Intel SSD DC P3700 (study C)",
    published: Some("mounted with the options noatime and nodiratime"),
    note: Some("only the current mount is changed, until it is unmounted; /etc/fstab is left to you"),
    check: mount_options,
};

fn mount_options(context: &TuningContext<'_>) -> Vec<SettingState> {
    let mut found = Vec::new();
    for mount in context.mounts_on_devices() {
        let mount_point = mount.mount_point.to_string_lossy().into_owned();
        let what = format!("{mount_point} ({})", mount.kind);
        let setting = Setting::Mount { mount_point };
        let current = match context.read(&setting) {
            Ok(current) => current,
            Err(why) => {
                found.push(SettingState::not_here(what, why));
                continue;
            }
        };
        let has = |option: &str| current.split(',').any(|word| word == option);
        let mut seen = SettingState::of(context, what, setting, &without_access_times(&current));
        // If access times are not updated at all, they are not updated for directories either, so the
        // second option has no effect.
        if has("noatime") || has("ro") {
            seen.compliance = Compliance::AsAdvised;
        }
        seen.device = Some(mount.source.clone());
        found.push(seen);
    }
    if found.is_empty() {
        found.push(SettingState::not_here("mounts", "no file system on the devices is mounted"));
    }
    found
}
