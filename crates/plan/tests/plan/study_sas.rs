//! The ready study of the published mixed workload: 19 tests, 101 launches, 30 at a time.
#![expect(clippy::unwrap_used, reason = "a study that cannot be read fails the test")]

use std::path::Path;

use plan::study::{Options, Override, read_with};
use plan::{JobSpace, JobTest, Jobs, TestKind};

/// Minutes of one launch of each test, as the study has them: from 5 to 113, whose proportions the operations have.
const MINUTES: [(&str, u64); 19] = [
    ("linear-model", 113),
    ("mixed-model", 95),
    ("optimisation", 75),
    ("forecast", 36),
    ("monte-carlo", 54),
    ("scoring", 18),
    ("clustering", 27),
    ("survival", 36),
    ("spectrum", 22),
    ("response-model", 55),
    ("lookup-table", 5),
    ("in-memory", 14),
    ("extract", 37),
    ("sort", 56),
    ("merge", 37),
    ("summary", 28),
    ("index", 22),
    ("update", 18),
    ("warehouse", 110),
];

fn jobs(set: &[&str]) -> Jobs {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/sas-mixed-analytics.toml"));
    let overrides = set.iter().map(|one| Override::parse(one).unwrap()).collect();
    let text = std::fs::read_to_string(path).unwrap();
    let plan = read_with(path, &text, &Options { overrides, ..Options::default() })
        .unwrap_or_else(|errors| panic!("{:#?}", errors.errors()));
    plan.cases[0].workload.work.jobs().unwrap().clone()
}

fn of_kind(jobs: &Jobs, kind: TestKind) -> impl Iterator<Item = &JobTest> {
    jobs.tests.iter().filter(move |test| test.kind == kind)
}

/// Start and end of each launch in minutes, where each starts as soon as it may and a place is free.
fn schedule(jobs: &Jobs) -> Vec<(u64, u64)> {
    let minutes_of = |test: usize| {
        let name = &jobs.tests[test].name;
        MINUTES.iter().find(|(one, _)| one == name).unwrap_or_else(|| panic!("no minutes of {name}")).1
    };
    let launches = jobs.launches();
    let most = if jobs.concurrency == 0 { u32::MAX } else { jobs.concurrency } as usize;
    let mut times: Vec<Option<(u64, u64)>> = vec![None; launches.len()];
    let mut now = 0;
    while times.iter().any(Option::is_none) {
        for one in &launches {
            let over = |other: &u32| times[*other as usize].is_some_and(|(_, end)| end <= now);
            let running = times.iter().flatten().filter(|(start, end)| *start <= now && *end > now).count();
            if times[one.number as usize].is_none() && running < most && one.after.iter().all(over) {
                times[one.number as usize] = Some((now, now + minutes_of(one.test)));
            }
        }
        now += 1;
    }
    times.into_iter().flatten().collect()
}

#[test]
fn the_matrix_is_the_published_one() {
    let jobs = jobs(&["workload.mix.scale=1"]);
    let count = |kind| of_kind(&jobs, kind).count();
    assert_eq!((count(TestKind::Computation), count(TestKind::Memory), count(TestKind::Io)), (10, 2, 7));
    assert_eq!(jobs.launches().len(), 101);
    assert!(jobs.tests.iter().any(|test| test.streams > 1) && jobs.tests.iter().any(|test| test.rounds > 1));
    assert!(jobs.tests.iter().all(|test| test.steps.len() > 1), "each test is of several steps");
    assert_eq!(jobs.page_bytes.0, 256 << 10);
    let input = |kind| of_kind(&jobs, kind).map(|test| jobs.instance_bytes(test).0).sum::<u64>() as f64 / 1e9;
    let (io, computation) = (input(TestKind::Io), input(TestKind::Computation));
    assert!((300.0..301.0).contains(&io) && (120.0..121.0).contains(&computation), "{io} {computation}");
    let sorted = jobs.tests.iter().find(|test| test.name == "sort").unwrap();
    assert_eq!(sorted.steps[0].action.name(), "sort");
}

#[test]
fn at_full_scale_it_fits_the_published_file_systems() {
    let jobs = jobs(&["workload.mix.scale=1"]);
    let terabytes = JobSpace::ALL.map(|space| jobs.needs(space).0 as f64 / 1e12);
    assert!(terabytes[0] < 3.0 && terabytes[1] < 3.0 && terabytes[2] < 2.0, "{terabytes:?}");
    assert!(terabytes.iter().all(|need| *need > 0.1), "{terabytes:?}");
}

#[test]
fn a_new_user_can_start_it_as_it_stands() {
    let jobs = jobs(&[]);
    let bytes: u64 = JobSpace::ALL.iter().map(|space| jobs.needs(*space).0).sum();
    assert!(bytes < 1 << 30, "{bytes} bytes");
    let memory =
        |test: &JobTest| u64::from(test.streams) * test.steps.iter().map(|step| step.memory.0).max().unwrap();
    // Rows in memory are no more than those of the tables, but for those that a shuffle fills its memory with.
    let shuffles =
        jobs.tests.iter().filter(|test| test.steps.iter().any(|step| step.action.name() == "shuffle"));
    assert!(shuffles.map(memory).sum::<u64>() <= 2 << 30);
}

#[test]
fn thirty_jobs_are_under_way_on_average() {
    let jobs = jobs(&[]);
    let times = schedule(&jobs);
    let end = times.iter().map(|(_, end)| *end).max().unwrap();
    let all: u64 = times.iter().map(|(start, end)| end - start).sum();
    let mean = all as f64 / end as f64;
    assert!((29.0..31.5).contains(&mean), "{mean} launches at a time for {end} minutes, {all} in all");
    let lengths = || MINUTES.iter().map(|(_, minutes)| *minutes);
    assert_eq!((lengths().min(), lengths().max()), (Some(5), Some(113)));
    let most =
        (0..end).map(|now| times.iter().filter(|(start, end)| *start <= now && *end > now).count()).max();
    assert_eq!(most, Some(33), "the streams");
}
