//! Sweeps: which cases a study makes of its lists and ranges.

use crate::common::{RIGHT, shown, study};
use plan::study::{Options, Override, read_with};
use plan::{Bytes, Plan, SettingValue, Sharing};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

/// The right study with `keys` in the place of its tasks.
fn swept(keys: &str) -> Plan {
    study(&RIGHT.replace("tasks = 4", keys)).unwrap_or_else(|errors| panic!("{}", shown(&errors)))
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.cases.iter().map(|case| case.id.as_str()).collect()
}

#[test]
fn a_list_and_a_range_make_the_same_cases() {
    let list = swept("tasks = [33, 66, 99, 132]");
    assert_eq!(list.cases, swept("tasks = \"33..132 step 33\"").cases);
    assert_eq!(list.cases, swept("tasks = [\"33..99 step 33\", 132]").cases);
    assert_eq!(list.cases[1].id, "stream:tasks=66");
    assert_eq!((list.cases[1].group.as_str(), list.cases[1].target.as_str()), ("stream", "scratch"));
    assert_eq!(list.cases[1].settings[0].value, SettingValue::Count(66));
    assert_eq!(list.cases[1].workload.tasks, 66);
}

#[test]
fn several_swept_keys_make_every_combination_in_the_order_of_the_file() {
    let plan = swept("tasks = [1, 2]\ndirect = [false, true]\norder = [\"sequential\", \"random\"]");
    assert_eq!(plan.cases.len(), 8);
    assert_eq!(
        ids(&plan)[..3],
        [
            "stream:tasks=1:direct=false:order=sequential",
            "stream:tasks=1:direct=false:order=random",
            "stream:tasks=1:direct=true:order=sequential"
        ]
    );
}

/// Each pair of the steps differs, though a value comes twice; a pair that comes twice is refused,
/// and so is a key that is to go in step with itself.
#[test]
fn steps_differ_though_a_value_comes_twice() {
    let with = |keys: &str| study(&RIGHT.replacen("tasks = 4", keys, 1));
    let plan = with("tasks = [1, 2, 4]\nsegments = [4, 2, 2]\ntogether = [\"tasks\", \"segments\"]").unwrap();
    assert_eq!(plan.cases.len(), 3);
    let twice = "tasks = [1, 2, 2]\nsegments = [4, 2, 2]\ntogether = [\"tasks\", \"segments\"]";
    let message = with(twice).unwrap_err().errors()[0].message().to_owned();
    assert_eq!(message, "`tasks` has the value 2 and `segments` has the value 2 twice");
    let itself = with("tasks = [1, 2]\ntogether = [\"tasks\", \"tasks\"]").unwrap_err();
    assert_eq!(itself.errors()[0].message(), "`tasks` is named twice");
}

#[test]
fn keys_that_go_together_go_in_step() {
    let plan = swept(
        "tasks = [1, 2, 4]\ndirect = [true, false]\nsegments = [4, 2, 1]\ntogether = [\"tasks\", \"segments\"]",
    );
    assert_eq!(plan.cases.len(), 6);
    assert!(plan.cases.iter().all(|case| case.workload.bytes() == Bytes::mib(256)));
    assert_eq!(ids(&plan)[1], "stream:tasks=1:direct=false:segments=4");
}

#[test]
fn targets_can_be_swept() {
    let text = RIGHT.replace("target = \"scratch\"", "target = [\"scratch\", \"flash\"]")
        + "\n[[target]]\nname = \"flash\"\ndirectory = \"/mnt/flash\"\n";
    let plan = study(&text).unwrap();
    assert_eq!(ids(&plan), ["stream:target=scratch", "stream:target=flash"]);
    assert_eq!(plan.cases[1].target, "flash");
    assert_eq!(plan.cases[1].workload.files.targets[0].to_str(), Some("/mnt/flash/ioproof-flash.data"));
}

#[test]
fn a_size_stays_while_the_transfer_size_grows() {
    let text = RIGHT
        .replace("transfer = \"1MiB\"", "transfer = \"4KiB..16MiB times 2\"")
        .replace("block = \"64MiB\"", "size = \"1GiB\"");
    let plan = study(&text).unwrap();
    assert_eq!(plan.cases.len(), 13);
    assert!(plan.cases.iter().all(|case| case.workload.bytes() == Bytes::gib(1)));
}

#[test]
fn the_published_sweeps_have_their_published_numbers_of_points() {
    // Study D: 4 KiB to 1 MiB in steps and in powers of two, 0 to 100 % in steps of 5 %.
    let points = |keys: &str, of: &str| study(&RIGHT.replace(of, keys)).unwrap().cases.len();
    let (transfer, tasks) = ("transfer = \"1MiB\"\nblock = \"64MiB\"", "tasks = 4");
    let steps = "transfer = \"4KiB..1MiB step 4KiB\"\nblock = \"4KiB..1MiB step 4KiB\"\ntogether = [\"transfer\", \"block\"]";
    assert_eq!(points(steps, transfer), 256);
    assert_eq!(points("transfer = \"4KiB..1MiB times 2\"\nblock = \"64MiB\"", transfer), 9);
    let mix = "phases = [\"write\", \"mixed\"]\nread_percent = \"0..100 step 5\"\ntasks = [1, 24]";
    assert_eq!(points(mix, tasks), 42);
    assert_eq!(points("rate = \"100..1600 times 2\"\ndelay = [\"0s\", \"500ms\"]", tasks), 10);
}

#[test]
fn millions_of_cases_are_counted_and_not_built() {
    let text = RIGHT.replace("tasks = 4", "tasks = \"1..1000 step 1\"\nsegments = \"1..500 step 1\"");
    let errors = study(&text).unwrap_err();
    assert_eq!(errors.too_many_cases(), Some(500_000));
    let many = text.replace("500 step", "9223372036854775806 step");
    let errors = study(&many).unwrap_err();
    assert_eq!(errors.too_many_cases(), None, "nobody can allow that");
    assert!(errors.errors()[0].message().contains("cases"), "{errors}");
    let few = RIGHT.replace("tasks = 4", "tasks = [1, 2, 3]");
    let options = |cases_max| Options { cases_max, ..Options::default() };
    let read = |cases_max| read_with("study.toml".as_ref(), &few, &options(cases_max));
    assert_eq!(read(2).unwrap_err().too_many_cases(), Some(3));
    assert_eq!(read(3).unwrap().cases.len(), 3);
}

#[test]
fn cases_can_be_shuffled_and_stay_the_same_cases() {
    let keys = "tasks = \"1..50 step 1\"";
    let shuffle = |seed| {
        let text = RIGHT.replace("tasks = 4", keys).replace("repetitions", "shuffle = true\nrepetitions");
        study(&text.replace("seed = 7", &format!("seed = {seed}"))).unwrap()
    };
    let (plain, one, same, other) = (swept(keys), shuffle(7), shuffle(7), shuffle(8));
    assert_eq!(one.cases, same.cases);
    assert_ne!(ids(&one), ids(&plain));
    assert_ne!(ids(&one), ids(&other));
    let mut sorted = one.cases;
    sorted.sort_by_key(|case| case.workload.tasks);
    assert_eq!(sorted, plain.cases);
}

#[test]
fn cases_can_take_turns() {
    let text = RIGHT.replace("tasks = 4", "tasks = [1, 2, 3]");
    let plan = study(&text.replace("repetitions", "interleaved = true\nrepetitions")).unwrap();
    assert_eq!((plan.blocks().count(), plan.blocks().next()), (1, Some(0..3)));
    assert_eq!(study(&text).unwrap().blocks().count(), 3);
}

#[test]
fn long_ids_are_cut_and_stay_unique() {
    let mut keys = String::from("read_percent = [10, 20]\nphases = [\"write\", \"mixed\"]\ntasks = [1, 2]\n");
    for (key, value) in [
        ("segments", "[1000000001, 1000000002]"),
        ("stonewall", "[\"1000000000001ns\", \"1000000000002ns\"]"),
        ("delay", "[\"1000000000001ns\", \"1000000000002ns\"]"),
        ("outlier", "[\"1000000000001ns\", \"1000000000002ns\"]"),
        ("memory_hog", "[1000000000001, 1000000000003]"),
        ("signature", "[1000000000001, 1000000000003]"),
        ("fsync", "[\"close\", \"each\"]"),
        ("advice", "[\"as-published\", \"as-meant\"]"),
    ] {
        keys.push_str(&format!("{key} = {value}\n"));
    }
    let plan = swept(&keys);
    let mut all = ids(&plan);
    assert!(all.iter().all(|id| id.len() <= 200 && id.starts_with("stream:")));
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 1024);
}

#[test]
fn overrides_stand_in_the_place_of_what_the_file_says() {
    let with = |overrides: &[&str]| {
        let overrides = overrides.iter().map(|text| Override::parse(text).unwrap()).collect();
        read_with("study.toml".as_ref(), RIGHT, &Options { overrides, ..Options::default() }).unwrap()
    };
    let plan = with(&[
        "workload.stream.size=64MiB",
        "workload.*.sharing=per-task",
        "workload.stream.tasks=[1, 2]",
        "protocol.repetitions=2",
        "study.title=A small one",
        "target.scratch.directory=/mnt/x",
    ]);
    assert_eq!((plan.title.as_str(), plan.cases.len(), plan.cases[0].repetitions), ("A small one", 2, 2));
    let files = &plan.cases[0].workload.files;
    assert_eq!(files.targets[0].to_str(), Some("/mnt/x/ioproof-scratch.data"));
    assert_eq!(files.sharing, Sharing::PerTask);
    assert_eq!(plan.cases[0].workload.geometry.block, Bytes::mib(64), "size has replaced the block");
    let plan::PlanSource::Study { overrides, text, .. } = &plan.source else { panic!("{:?}", plan.source) };
    assert_eq!((overrides.len(), overrides[1].as_str()), (6, "workload.*.sharing=per-task"));
    assert_eq!(text, RIGHT);
    assert_eq!(with(&["workload.stream.tasks=1..8 times 2"]).cases.len(), 4);
    assert_eq!(with(&["protocol.repetitions=2", "protocol.repetitions=4"]).cases[0].repetitions, 4);
    assert_eq!(with(&["protocol.delay=2s"]).cases[0].delay, plan::Nanos::secs(2));
}

proptest! {
    #[test]
    fn a_range_holds_its_ends_and_as_many_values_as_were_counted(
        from in 1_u64..1000, step in 1_u64..100, steps in 1_u64..20,
    ) {
        let to = from + step * steps;
        let plan = swept(&format!("tasks = \"{from}..{to} step {step}\""));
        let tasks: Vec<u64> = plan.cases.iter().map(|case| u64::from(case.workload.tasks)).collect();
        prop_assert_eq!(tasks.len() as u64, steps + 1);
        prop_assert_eq!((tasks[0], tasks[tasks.len() - 1]), (from, to));
        prop_assert!(tasks.windows(2).all(|pair| pair[1] - pair[0] == step));
    }

    #[test]
    fn a_range_by_a_factor_multiplies(power in 9_u32..20, factor in 2_u64..5, times in 1_u32..6) {
        let from = 1_u64 << power;
        let to = from * factor.pow(times);
        let text = RIGHT.replace("block = \"64MiB\"", &format!("block = \"{from}..{to} times {factor}\""));
        let plan = study(&text.replace("\"1MiB\"", "512")).unwrap();
        let blocks: Vec<u64> = plan.cases.iter().map(|case| case.workload.geometry.block.0).collect();
        prop_assert_eq!(blocks.len(), times as usize + 1);
        prop_assert_eq!((blocks[0], blocks[blocks.len() - 1]), (from, to));
        prop_assert!(blocks.windows(2).all(|pair| pair[1] == pair[0] * factor));
    }

    #[test]
    fn what_is_counted_is_what_would_be_built(
        tasks in 1_u64..12, segments in 1_u64..12, listed in 1_usize..4, together: bool,
    ) {
        let segments = if together { tasks } else { segments };
        let depths: Vec<String> = (1..=listed).map(|depth| depth.to_string()).collect();
        let mut keys = format!(
            "tasks = \"1..{} step 1\"\nsegments = \"1..{} step 1\"\ndepth = [{}]\n",
            tasks + 1, segments + 1, depths.join(", "),
        );
        if together {
            keys.push_str("together = [\"tasks\", \"segments\"]\n");
        }
        let text = RIGHT.replace("tasks = 4", &keys);
        let built = study(&text).map(|plan| plan.cases.len() as u64);
        let none = Options { cases_max: 0, ..Options::default() };
        let counted = read_with("study.toml".as_ref(), &text, &none).unwrap_err().too_many_cases();
        match built {
            Ok(built) => prop_assert_eq!(counted, Some(built)),
            Err(errors) => prop_assert_eq!(counted, errors.too_many_cases()),
        }
    }

    #[test]
    fn any_range_is_read_or_refused(text in "[0-9]{0,20}(\\.\\.|KiB|)[0-9.]{0,6}(GiB|ms|) ?(step|times|) ?[0-9a-z.]{0,8}") {
        for key in ["tasks", "transfer", "duration", "rate"] {
            let _ = study(&RIGHT.replace("tasks = 4", &format!("{key} = \"{text}\"")));
        }
    }
}
