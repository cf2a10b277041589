//! Options of mounts.

use super::super::settings::mount_flags::without_access_times;
use super::super::settings::setting::Setting;
use super::super::site::Site;
use super::super::step::{Scope, Seen, Severity, State, Step};

pub(super) const MOUNT_OPTIONS: Step = Step {
    name: "mount-options",
    title: "file systems without times of access (noatime, nodiratime)",
    scope: Scope::Devices,
    severity: Severity::Warning,
    reason: "reading writes otherwise: the time of access of each file and directory",
    source: "Performance and Tuning Considerations for SAS using Intel SSD DC P3700 (study C)",
    published: Some("mounted with the options noatime and nodiratime"),
    note: Some("the mount alone is changed, until it is unmounted; /etc/fstab is yours"),
    look: mount_options,
};

fn mount_options(site: &Site<'_>) -> Vec<Seen> {
    let mut found = Vec::new();
    for mount in site.mounts_on_devices() {
        let mount_point = mount.mount_point.to_string_lossy().into_owned();
        let what = format!("{mount_point} ({})", mount.kind);
        let setting = Setting::Mount { mount_point };
        let current = match site.read(&setting) {
            Ok(current) => current,
            Err(why) => {
                found.push(Seen::not_here(what, why));
                continue;
            }
        };
        let has = |option: &str| current.split(',').any(|word| word == option);
        let mut seen = Seen::of(site, what, setting, &without_access_times(&current));
        // Without times of access there are none of directories: the second option changes nothing.
        if has("noatime") || has("ro") {
            seen.state = State::AsAdvised;
        }
        seen.device = Some(mount.source.clone());
        found.push(seen);
    }
    if found.is_empty() {
        found.push(Seen::not_here("mounts", "no file system of the devices is mounted"));
    }
    found
}
