//! Curves with a known shape: their best point, the point from which more gains nothing, and the limiting factor.

use std::time::Duration;

use serde_json::Value;
use testbed::{FileSystem, LONGEST, Limits, LoopDevice, Programme, ProgrammedFs, Testbed, skipped};

use crate::desk::{Desk, assert_says, measured, measured_alone, run};

fn shape<'a>(report: &'a Value, axis: &str) -> &'a Value {
    let shapes = report["statements"]["curve"].as_array().expect("a list");
    let shape = shapes.iter().find(|shape| shape["axis"] == axis);
    shape.unwrap_or_else(|| panic!("no shape over {axis}: {shapes:?}"))
}

/// D20: a device that can do 400 reads and 400 writes per second has its highest rate with a mix of both.
#[test]
fn measured_the_best_mix_is_named_with_its_share_of_writes_and_tasks() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(best_mix_of_a_device_with_two_limits);
}

fn best_mix_of_a_device_with_two_limits(times: u32) {
    let limits = Limits { reads: Some(400), writes: Some(400), ..Limits::default() };
    let device = LoopDevice::builder().bytes(64 << 20).file_system(FileSystem::Ext4).limits(limits).build();
    let device = device.expect("a device");
    let desk = Desk::new();
    let study = format!(
        "[protocol]\nphase_min = \"1ms\"\nrepetitions = 3\n[[target]]\nname = \"disk\"\ndirectory = \"{}\"\n[[workload]]\nname = \"mix\"\n\
         phases = [\"mixed\"]\ntransfer = \"4KiB\"\norder = \"random\"\nread_percent = [10, 30, 50, 70, 90]\n\
         tasks = [24]\nblock = \"64KiB\"\ndirect = true\nduration = \"{}ms\"\nfill = true\n",
        device.mount_point().expect("mounted").display(),
        900 * times
    );
    let _ = run(&desk.study(&study)).expect_code(0);
    let report = desk.report();
    assert_eq!(shape(&report.0, "read_percent")["sweet_spot"], "50 % writes");
    let text = desk.tables();
    assert_says(&text, &["sweet spot", "50 % writes", "24 tasks"]);
}

/// D22: with 4 ms for each 64 KiB read and 60 MB/s in total, four tasks saturate the device.
#[test]
fn measured_from_how_many_tasks_on_the_rate_is_reached_and_how_stable_it_stays_is_told() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(curve_of_a_slow_storage);
}

fn curve_of_a_slow_storage(times: u32) {
    let slow = Programme {
        read_latency: Duration::from_millis(8) * times,
        read_bandwidth: Some(30_000_000 / u64::from(times)),
        ..Programme::default()
    };
    let fs = ProgrammedFs::builder().programme(slow).mount().expect("a file system");
    let desk = Desk::new();
    let study = format!(
        "[protocol]\nphase_min = \"1ms\"\nrepetitions = 3\n[[target]]\nname = \"fs\"\ndirectory = \"{}\"\n[[workload]]\nname = \"r\"\n\
         phases = [\"read\"]\ntransfer = \"64KiB\"\nsize = \"4MiB\"\ntasks = [1, 2, 4, 8, 16]\ndirect = true\n\
         duration = \"{}ms\"\nfill = true\n",
        fs.path().display(),
        700 * times
    );
    let _ = run(&desk.study(&study)).expect_code(0);
    let report = desk.report();
    let shape = shape(&report.0, "tasks");
    let reached = shape["reaches_90"].as_f64().expect("a number of tasks");
    assert!((4.0..=8.0).contains(&reached), "{shape}");
    assert!(shape["plateau_to"].as_f64() > Some(reached), "{shape}");
    let text = desk.tables();
    assert_says(&text, &["highest at", "95 % at", "then lower by up to"]);
}

/// D26: a process that reads from memory keeps the processor busy; one that waits 5 ms for each read does not.
#[test]
fn measured_what_limits_one_process_is_told_with_the_shares_of_its_time() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured_alone(limits_of_one_process);
}

fn limits_of_one_process(times: u32) {
    let slow = Programme { read_latency: Duration::from_millis(5) * times, ..Programme::default() };
    let fs = ProgrammedFs::builder().programme(slow).mount().expect("a file system");
    let desk = Desk::new();
    let study = format!(
        "[protocol]\nphase_min = \"1ms\"\n[[target]]\nname = \"fs\"\ndirectory = \"{0}\"\n\
         [[workload]]\nname = \"waits\"\ntarget = \"fs\"\nphases = [\"read\"]\ntransfer = \"4KiB\"\nsize = \"1MiB\"\n\
         order = \"random\"\ndirect = true\nduration = \"{1}ms\"\nfill = true\n\
         [[target]]\nname = \"memory\"\ndirectory = \".\"\n\
         [[workload]]\nname = \"computes\"\ntarget = \"memory\"\nphases = [\"read\"]\ntransfer = \"4KiB\"\n\
         size = \"1MiB\"\nduration = \"{1}ms\"\nfill = true\n",
        fs.path().display(),
        500 * times
    );
    let _ = run(&desk.study(&study)).expect_code(0);
    let report = desk.report();
    let limited = report.0["statements"]["limited_by"].as_array().expect("a list").iter();
    let limited: Vec<&Value> = limited.filter(|one| one["outcome"] != "withheld").collect();
    let verdict = |figure: u64| limited.iter().find(|one| one["figure"] == figure);
    if times == LONGEST && verdict(1).is_none() {
        assert!(report.warnings("read").contains(&"not quiet".to_owned()), "no verdict, for no reason");
        assert!(skipped(Err("needs a host that others do not keep busy".to_owned())));
        return;
    }
    let of = |figure| verdict(figure).expect("a verdict");
    assert_eq!(of(1)["limit"], "storage", "{}", of(1));
    for one in &limited {
        let share = |key: &str| one[key].as_f64().unwrap_or_else(|| panic!("no {key}"));
        let all = share("user") + share("system") + share("wait");
        assert!((all - 1.0).abs() < 0.02, "{one}");
        assert!(share("cpu_per_operation") > 0.0);
    }
    assert!(of(1)["wait"].as_f64() > Some(0.7), "{}", of(1));
    assert!(of(2)["wait"].as_f64() < of(1)["wait"].as_f64(), "{}", of(2));
    let text = desk.tables();
    assert_says(&text, &["limited by", "user", "system", "waiting", "CPU per operation"]);
}

/// D23: every ceiling, the lowest one, and the share of it that was reached. E6: what the rate of a disk means.
#[test]
fn measured_every_ceiling_is_shown_with_the_lowest_and_each_grade_with_its_meaning() {
    measured(|_| {
        let desk = Desk::new();
        let ceiling = |name: &str, rest: &str| {
            format!(
                "[[expectation]]\nname = \"{name}\"\nceiling = true\norder = \"random\"\nphase = \"read\"\n{rest}\n"
            )
        };
        let grade = |rate: u32, meaning: &str| {
            format!(
                "[[expectation]]\nname = \"grade {rate}\"\nbandwidth = \"{rate}B/s\"\norder = \"sequential\"\n\
             phase = \"read\"\nreached = \"{meaning}\"\nsource = \"News from Research\"\n"
            )
        };
        let study = format!(
            "[protocol]\nphase_min = \"1ms\"\n[[target]]\nname = \"flash\"\ndirectory = \".\"\ndevices = 60\n[[workload]]\nname = \"r\"\n\
         phases = [\"read\"]\ntransfer = \"4KiB\"\nsize = \"1MiB\"\norder = \"random\"\ndirect = true\nfill = true\n\
         duration = \"100ms\"\n[[workload]]\nname = \"s\"\nphases = [\"read\"]\ntransfer = \"64KiB\"\nsize = \"1MiB\"\n\
         direct = true\nduration = \"100ms\"\n{}{}{}{}{}{}",
            ceiling("drives", "iops = 120_000\nper = \"device\""),
            ceiling("controllers", "iops = 825_000\ncount = 3"),
            ceiling("SAS", "bandwidth = \"2.4GB/s\"\ncount = 24"),
            ceiling("InfiniBand", "bandwidth = \"6GB/s\"\ncount = 12"),
            grade(1, "look for a different vendor"),
            grade(2, "the seller's word"),
        );
        let _ = run(&desk.study(&study)).expect_code(0);
        let report = desk.report();
        let links = report.0["statements"]["weakest_link"].as_array().expect("links");
        let link = links.iter().find(|link| link["limits"].as_array().is_some_and(|all| all.len() >= 4));
        let link = link.unwrap_or_else(|| panic!("no link with four limits: {links:?}"));
        assert_eq!(link["weakest"], "controllers", "{link}");
        assert_eq!((&link["expected"], &link["unit"]), (&2_475_000.0.into(), &"ops/s".into()), "{link}");
        let rate = report.transfers("read");
        let efficiency = link["efficiency"].as_f64().expect("measured");
        assert!((efficiency * 2_475_000.0 / rate - 1.0).abs() < 1e-6, "{link}");
        let text = desk.tables();
        assert_says(&text, &["controllers", "2,475,000", "7,200,000", "the seller's word"]);
    });
}
