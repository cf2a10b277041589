//! Workloads on some of the members of a target.

use std::path::PathBuf;

use crate::common::{RIGHT, shown, study};
use plan::{Plan, SettingValue};

/// A study of a target of three paths, with these lines in its workload.
fn with(lines: &str) -> String {
    format!(
        "[[target]]\nname = \"cards\"\npaths = [\"/mnt/0/d\", \"/mnt/1/d\", \"/mnt/2/d\"]\ndevices = 3\n\n\
         [[workload]]\nname = \"each\"\ntransfer = \"1MiB\"\nsize = \"8MiB\"\n{lines}\n"
    )
}

/// The names of the cases and the paths that they are on.
fn places(plan: &Plan) -> Vec<(String, Vec<PathBuf>)> {
    plan.cases.iter().map(|case| (case.id.clone(), case.workload.files.targets.clone())).collect()
}

#[test]
fn each_member_alone_is_a_case_of_its_own() {
    let plan = study(&with("member = \"0..2\"")).unwrap();
    let expected: Vec<(String, Vec<PathBuf>)> = (0..3)
        .map(|member| (format!("each:member={member}"), vec![PathBuf::from(format!("/mnt/{member}/d"))]))
        .collect();
    assert_eq!(places(&plan), expected);
    assert_eq!(plan.cases[2].target, "cards");
    assert_eq!(plan.cases[2].settings[0].value, SettingValue::Count(2));
}

#[test]
fn a_case_on_one_member_says_so_though_it_is_swept_over_none() {
    let plan = study(&with("member = 1")).unwrap();
    let case = &plan.cases[0];
    assert_eq!((case.id.as_str(), case.settings[0].to_string().as_str()), ("each", "member 1"));
}

#[test]
fn the_first_members_are_a_target_of_fewer_paths() {
    let plan = study(&with("sharing = \"per-task\"\ntasks = 6\nmembers = [1, 3]")).unwrap();
    let counts: Vec<usize> = plan.cases.iter().map(|case| case.workload.files.targets.len()).collect();
    assert_eq!(counts, [1, 3]);
    assert_eq!(plan.cases[0].workload.files.targets, [PathBuf::from("/mnt/0/d")]);
}

#[test]
fn members_that_are_not_there_are_refused_at_their_place() {
    let refused = |lines: &str| {
        let text = with(lines);
        let errors = study(&text).unwrap_err();
        let one = &errors.errors()[0];
        (
            one.message().to_owned(),
            one.help_text().to_owned(),
            text[one.place()..].lines().next().unwrap().to_owned(),
        )
    };
    let (message, help, place) = refused("member = 3");
    assert_eq!(message, "target `cards` has 3 members, but none with the number 3");
    assert_eq!(help, "members are numbered from 0 to 2, in the order of the target");
    assert_eq!(place, "3");
    let (message, ..) = refused("sharing = \"per-task\"\nmembers = [1, 2, 4]");
    assert_eq!(message, "target `cards` has 3 members, not 4 (at members 4)");
    let (message, ..) = refused("member = 0\nmembers = 1");
    assert_eq!(message, "both `member` and `members` say which members are used");
    let (message, ..) = refused("members = 2");
    assert_eq!(message, "one shared file cannot be in 2 places");
}

#[test]
fn a_member_has_files_of_its_own() {
    let text = with(
        "phases = [\"write\"]\nmember = 1\n\n[[workload]]\nname = \"again\"\ntransfer = \"1MiB\"\nsize = \"8MiB\"\nphases = [\"read\"]\nmember = 2",
    );
    let errors = study(&text).unwrap_err();
    assert_eq!(errors.errors()[0].message(), "this reads data that nothing in the study has written");
    assert!(shown(&errors).contains("study.toml"));
    study(&text.replace("member = 2", "member = 1")).unwrap();
}

#[test]
fn a_target_of_one_path_has_one_member() {
    let plan = study(&RIGHT.replace("tasks = 4", "member = 0")).unwrap();
    assert_eq!(plan.cases[0].workload.files.targets, [PathBuf::from("/mnt/scratch/data")]);
    let errors = study(&RIGHT.replace("tasks = 4", "members = 2")).unwrap_err();
    assert_eq!(errors.errors()[0].message(), "target `scratch` has 1 member, not 2");
}
