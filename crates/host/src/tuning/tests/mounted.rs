//! Mount options on a real mount.

use testbed::{FileSystem, LoopDevice, Testbed};

use crate::Root;
use crate::tuning::{
    HostSettings, Outcome, Setting, Settings, TuningContext, TuningPlan, apply, profile, restore, steps_of,
};

#[test]
fn a_mount_is_set_by_itself_and_comes_back_with_its_other_options() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let bytes = FileSystem::Ext4.smallest_bytes();
    let device = LoopDevice::builder().bytes(bytes).file_system(FileSystem::Ext4).build().unwrap();
    let mount_point = device.mount_point().unwrap().to_str().unwrap().to_owned();
    for options in ["nosuid,relatime", "nosuid,noexec,strictatime"] {
        let state = tempfile::tempdir().unwrap();
        let root = Root::default();
        let settings = HostSettings::new(&root);
        let setting = Setting::Mount { mount_point: mount_point.clone() };
        settings.write(&setting, &format!("rw,{options}")).unwrap();
        let before = settings.read(&setting).unwrap();
        assert!(before.contains("nosuid") && !before.contains("noatime"), "{before}");

        let mut context = TuningContext::new(&root, &settings, &[device.device().to_owned()]).unwrap();
        let profile = profile("mount-options").unwrap();
        let plan = TuningPlan::new(&mut context, vec![profile.name], &steps_of(&[profile]));
        let mut ledger = super::fake_kernel::opened(state.path(), &root);
        let applied = apply(&plan, &root, &settings, &mut ledger, 0, &mut |_| {}).unwrap();
        let [applied] = applied.as_slice() else { panic!("one mount: {applied:?}") };
        let Outcome::Set(now) = &applied.outcome else { panic!("{applied:?}") };
        assert!(now.contains("nosuid") && now.contains("noatime,nodiratime"), "{now}");

        assert!(!restore(ledger, &root, &settings, false).unwrap().is_partial());
        assert_eq!(settings.read(&setting).unwrap(), before);
    }
}
