//! Settings that outlive a boot, and programs that set what no file does.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use super::fake_kernel::{FakeKernel, contents, host, open_soon, plan, put_back, state, text, tune};
use crate::fake::{Tree, hosts};
use crate::tuning::{
    self, HostSettings, PersistentForm, TuningContext, TuningPlan, persistent_files, write_persistent_files,
};

const UNIT: &str = "/etc/systemd/system/ioproof-tuning.service";

#[test]
fn a_unit_of_systemd_is_written_and_removed() {
    let tree = host().directories(&["/etc/systemd/system"]);
    let before = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    let plan = plan(&tree, &kernel, &["storage-benchmark", "c1e-off"]);
    let files = persistent_files(&plan, None, tree.root());
    assert_eq!(files.len(), 3);
    tune(&tree, &kernel, &["storage-benchmark", "c1e-off"]);
    let written = write_persistent_files(&files, &mut open_soon(&tree), tree.root()).unwrap();
    assert_eq!(written.iter().filter(|(_, written)| written.is_ok()).count(), 3, "{written:?}");
    assert!(text(&tree, UNIT).contains("ExecStart=/bin/sh /etc/ioproof-tuning.sh"));
    let wants = tree.root().path("/etc/systemd/system/multi-user.target.wants/ioproof-tuning.service");
    assert_eq!(fs::read_link(&wants).unwrap().to_str().unwrap(), UNIT);

    let script = text(&tree, "/etc/ioproof-tuning.sh");
    for expected in [
        "cat \"$irq/affinity_hint\" > \"$irq/smp_affinity\"",
        "& ~2))",
        "echo never > /sys/kernel/mm/transparent_hugepage/enabled",
        "directory=/sys/block/$(basename \"$(readlink -f -- /dev/sda)\") && echo 8192 > \"$directory\"/queue/read_ahead_kb",
    ] {
        assert!(script.contains(expected), "{expected} in {script}");
    }
    assert!(!script.contains("/proc/irq/24/"), "numbers of interrupts change from boot to boot");
    let valid =
        Command::new("sh").arg("-n").arg(tree.root().path("/etc/ioproof-tuning.sh")).status().unwrap();
    assert!(valid.success());

    assert!(!put_back(&tree, &kernel, false).is_partial());
    assert!(fs::symlink_metadata(&wants).is_err());
    assert_eq!(contents(&tree), before);
}

#[test]
fn the_paths_of_a_namespace_are_set_at_boot_whatever_their_names() {
    let tree = hosts::nvme_multipath("live");
    let settings = HostSettings::new(tree.root());
    let mut context = TuningContext::new(tree.root(), &settings, &["all".into()]).unwrap();
    let step = tuning::steps_of(&[tuning::profile("scheduler").unwrap()]);
    let plan = TuningPlan::new(&mut context, vec!["scheduler"], &step);
    let written: Vec<&str> = plan.writes.iter().filter_map(|write| write.setting.device()).collect();
    assert_eq!(written, ["nvme0c0n1", "nvme0c1n1"], "the namespace has no scheduler");
    let files = persistent_files(&plan, None, tree.root());
    let PersistentForm::Text(script) = &files[0].form else { panic!("{files:?}") };
    let line = "for path in $(devices wwid uuid.554bd55f-1de4-4600-a72a-e0e6da97b5be 1); do \
                echo none > \"$path\"/queue/scheduler || failed=1; done";
    assert_eq!(script.matches(line).count(), 1, "{script}");
    let ours = script.replace("/sys/block", tree.root().path("/sys/block").to_str().unwrap());
    assert!(Command::new("sh").args(["-c", &ours]).status().unwrap().success());
    let scheduler = |name: &str| text(&tree, &format!("/sys/block/{name}/queue/scheduler"));
    assert_eq!([scheduler("nvme0c0n1"), scheduler("nvme0c1n1")], ["none", "none"]);
}

#[test]
fn rc_local_gets_one_line_before_its_end_and_comes_back_byte_by_byte() {
    for original in ["#!/bin/sh\n/usr/bin/mine\nexit 0\n", "#!/bin/sh\nmine", ""] {
        let tree =
            host().files(&[("/etc/rc.d/rc.local", original)]).link("/etc/rc.local", "/etc/rc.d/rc.local");
        let before = contents(&tree);
        let kernel = FakeKernel::of(&tree);
        let files = persistent_files(&plan(&tree, &kernel, &["thp-never"]), None, tree.root());
        assert!(matches!(&files[1].form, PersistentForm::Line(_)), "there is no systemd: {files:?}");
        tune(&tree, &kernel, &["thp-never"]);
        write_persistent_files(&files, &mut open_soon(&tree), tree.root()).unwrap();
        let now = fs::read_to_string(tree.root().path("/etc/rc.local")).unwrap();
        let lines: Vec<&str> = now.lines().collect();
        let at = lines.iter().position(|line| line.starts_with("/bin/sh /etc/ioproof-tuning.sh")).unwrap();
        assert!(lines.get(at + 1).is_none_or(|next| *next == "exit 0"), "{now}");
        assert!(!put_back(&tree, &kernel, false).is_partial());
        assert_eq!(contents(&tree), before, "{original:?}");
        assert!(tree.root().path("/etc/rc.local").is_symlink(), "the link stays a link");
    }
}

#[test]
fn a_file_of_the_user_is_not_overwritten_and_a_changed_one_not_removed() {
    let tree = host().directories(&["/etc/systemd/system"]).files(&[(UNIT, "mine\n")]);
    let kernel = FakeKernel::of(&tree);
    let files = persistent_files(&plan(&tree, &kernel, &["thp-never"]), None, tree.root());
    tune(&tree, &kernel, &["thp-never"]);
    let written = write_persistent_files(&files, &mut open_soon(&tree), tree.root()).unwrap();
    assert!(written[1].1.as_ref().unwrap_err().contains("not written by ioproof"), "{written:?}");
    assert_eq!(text(&tree, UNIT), "mine");
    fs::write(tree.root().path("/etc/ioproof-tuning.sh"), "changed\n").unwrap();
    let restored = put_back(&tree, &kernel, false);
    assert!(restored.is_partial());
    assert_eq!(text(&tree, "/etc/ioproof-tuning.sh"), "changed");
    assert!(!put_back(&tree, &kernel, true).is_partial());
    assert!(!tree.root().path("/etc/ioproof-tuning.sh").exists() && !state(&tree).exists());
    assert_eq!(text(&tree, UNIT), "mine");
}

/// A stand-in for TuneD that changes more than its profile, as the real one does. It is written by another
/// process: a file that this one has open for writing cannot be started by any of its threads.
fn with_tuned(tree: Tree) -> Tree {
    const SCRIPT: &str = "#!/bin/sh\nset -e\ncase \"$1\" in\n\
        off) : > \"$IOPROOF_ROOT/etc/tuned/active_profile\"; exit 0;;\n\
        profile) shift; echo \"$*\" > \"$IOPROOF_ROOT/etc/tuned/active_profile\"; \
        echo manual > \"$IOPROOF_ROOT/etc/tuned/profile_mode\";;\n\
        *) echo 'what?' >&2; exit 1;;\nesac\n\
        case \"$1\" in\n\
        enterprise-storage) echo 40 > \"$IOPROOF_ROOT/proc/sys/vm/dirty_ratio\"; \
        echo 'always madvise never' | sed s/always/[always]/ > \"$IOPROOF_ROOT/sys/kernel/mm/transparent_hugepage/enabled\";;\n\
        esac\n";
    let path = tree.root().path("/usr/sbin/tuned-adm");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut shell = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod +x \"$0\""])
        .arg(&path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all(SCRIPT.as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success());
    tree
}

#[test]
fn the_profile_of_tuned_is_set_and_comes_back_with_what_it_had_changed() {
    let tree = with_tuned(host());
    let before = contents(&tree);
    let kernel = FakeKernel::of(&tree);
    let applied = tune(&tree, &kernel, &["sas-p3700"]);
    assert_eq!(applied[0].write.setting.to_string(), "profile of TuneD");
    assert_eq!(text(&tree, "/etc/tuned/active_profile"), "enterprise-storage");
    assert_eq!(
        text(&tree, "/sys/kernel/mm/transparent_hugepage/enabled"),
        "always madvise [never]",
        "after TuneD"
    );
    assert_eq!(text(&tree, "/proc/sys/vm/dirty_ratio"), "40");
    let restored = put_back(&tree, &kernel, false);
    assert!(!restored.is_partial(), "{restored:?}");
    assert_eq!(contents(&tree), before);
}

#[test]
fn a_profile_of_tuned_outlives_a_boot_and_is_put_back_after_it() {
    let tree = with_tuned(host());
    let kernel = FakeKernel::of(&tree);
    tune(&tree, &kernel, &["tuned-enterprise-storage"]);
    tree.root().write_setting("/proc/sys/kernel/random/boot_id", "b00t-2").unwrap();
    assert!(!put_back(&tree, &kernel, false).is_partial());
    assert_eq!(text(&tree, "/etc/tuned/active_profile"), "balanced");
}

fn stop_tuned(tree: &Tree) {
    fs::remove_file(tree.root().path("/proc/812/comm")).unwrap();
}

#[test]
fn without_its_daemon_the_profile_is_refused_and_an_earlier_one_comes_back() {
    for earlier in ["balanced\n", ""] {
        let tree = with_tuned(host()).files(&[("/etc/tuned/active_profile", earlier)]);
        let before = contents(&tree);
        let kernel = FakeKernel::of(&tree);
        tune(&tree, &kernel, &["tuned-enterprise-storage"]);
        assert_eq!(text(&tree, "/etc/tuned/profile_mode"), "manual");
        stop_tuned(&tree);
        assert!(tune(&tree, &kernel, &["tuned-enterprise-storage"]).is_empty());
        let restored = put_back(&tree, &kernel, false);
        assert!(!restored.is_partial(), "{restored:?}");
        let mut after = contents(&tree);
        after.insert(tree.root().path("/proc/812/comm"), b"tuned\n".to_vec());
        assert_eq!(after, before, "{earlier:?}");
    }
}

#[test]
fn a_profile_that_the_kernel_does_not_show_is_not_set() {
    let tree = with_tuned(host());
    let before = contents(&tree);
    // The kernel keeps its value although TuneD was given another.
    let conf = "[main]\n[sysctl]\nvm.dirty_ratio = 55\n";
    let profile = tree.root().path("/usr/lib/tuned/enterprise-storage/tuned.conf");
    let original = fs::read(&profile).unwrap();
    fs::write(&profile, conf).unwrap();
    let kernel = FakeKernel::of(&tree);
    let applied = tune(&tree, &kernel, &["tuned-enterprise-storage"]);
    let crate::tuning::Outcome::Changed(why) = &applied[0].outcome else { panic!("{applied:?}") };
    assert!(why.contains("/proc/sys/vm/dirty_ratio is 40, not 55"), "{why}");
    let restored = put_back(&tree, &kernel, false);
    assert!(!restored.is_partial(), "{restored:?}");
    fs::write(&profile, original).unwrap();
    assert_eq!(contents(&tree), before);
}

#[test]
fn what_tuned_says_when_it_fails_is_told() {
    let tree = host();
    let path = tree.root().path("/usr/sbin/tuned-adm");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/bin/false", &path).unwrap();
    let applied = tune(&tree, &FakeKernel::of(&tree), &["tuned-enterprise-storage"]);
    let crate::tuning::Outcome::Refused(why) = &applied[0].outcome else { panic!("{applied:?}") };
    assert!(why.contains("tuned-adm profile enterprise-storage") && why.contains("exit status: 1"), "{why}");
}
