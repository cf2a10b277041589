//! When the host holds the program back, the report names that as the cause, and the storage breaks no commitment.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use testbed::{ControlGroup, FileSystem, Limited, LoopDevice, Program, Testbed, skipped};

use crate::desk::{Desk, events, measured, measured_alone, run, wait_for};

/// Random reads by one task for a few seconds, with a commitment beyond the rate of any disk in these machines.
fn study(directory: &str, seconds: u32, direct: bool) -> String {
    format!(
        "[protocol]\nrepetitions = 5\nphase_min = \"1ms\"\n[[target]]\nname = \"t\"\ndirectory = \"{directory}\"\n\
         [[workload]]\nname = \"w\"\norder = \"random\"\nphases = [\"write\"]\ntransfer = \"4k\"\nsize = \"16m\"\n\
         duration = \"{seconds}s\"\ndirect = {direct}\n\
         [[commitment]]\nname = \"c\"\nworkload = \"w\"\nphase = \"write\"\nstatistic = \"median\"\niops_at_least = 1e9\n"
    )
}

/// The report's doubts about a starved node, and the verdict on the commitment.
fn told(desk: &Desk) -> (Vec<String>, String) {
    let report = desk.report().0;
    let audit = report["audit"].as_array().expect("an audit").iter();
    let starved = audit.filter(|doubt| doubt["check"] == "starved");
    let evidence = starved.map(|doubt| doubt["evidence"].as_str().expect("a text").to_owned()).collect();
    let verdict = report["statements"]["commitment"][0]["judgement"].as_str().expect("a verdict").to_owned();
    (evidence, verdict)
}

/// The reported share of the time for which the program was stopped.
fn stopped_share(evidence: &[String]) -> f64 {
    let told = evidence.iter().find_map(|text| text.split_once("did not run for ")?.1.split_once(" s of "));
    told.map_or(0.0, |(stopped, of)| {
        let of = of.split_once(" s").expect("a unit").0;
        let [stopped, of] = [stopped, of].map(|text| text.parse::<f64>().expect("a number"));
        stopped / of
    })
}

/// The number of write calls of a process.
fn writes(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("syscw: ")?.parse().ok()).unwrap_or(0)
}

#[test]
fn measured_a_program_that_is_stopped_for_a_while_is_told_and_breaks_no_promise() {
    measured(|_| {
        let desk = Desk::new();
        // The commitment is missed, but by less than the stop of the process accounts for.
        let text = study(".", 1, true).replace("order =", "rate = 200\norder =").replace("1e9", "250");
        let mut running = desk.study(&text).spawn().expect("it starts");
        wait_for(&mut running, "a repetition", || events(&desk, "phase-finished") > 0);
        // In the middle of the next phase, which has 200 writes.
        let (process, before) = (running.id(), writes(running.id()));
        wait_for(&mut running, "writes of the next repetition", || writes(process) > before + 80);
        running.signal(Signal::STOP).expect("stopped");
        sleep(Duration::from_secs(2));
        running.signal(Signal::CONT).expect("goes on");
        let _ = running.wait().expect("it ends").expect_code(0);
        let (evidence, verdict) = told(&desk);
        assert!(evidence.iter().any(|text| text.contains("the program did not run for")), "{evidence:?}");
        assert_eq!(verdict, "DOUBTFUL");
    });
}

/// Imitates a program that limits the processor time of another.
#[test]
fn measured_stops_that_are_shorter_than_a_second_are_told_as_long_as_they_were() {
    measured(|_| {
        let desk = Desk::new();
        let text = study(".", 2, true).replace("repetitions = 5", "repetitions = 1");
        let mut running = desk.study(&text).spawn().expect("it starts");
        wait_for(&mut running, "the start of the case", || events(&desk, "case-started") > 0);
        while !running.has_ended().expect("its state") {
            running.signal(Signal::STOP).expect("stopped");
            sleep(Duration::from_millis(120));
            running.signal(Signal::CONT).expect("goes on");
            sleep(Duration::from_millis(60));
        }
        let _ = running.wait().expect("it ends").expect_code(0);
        let (evidence, _) = told(&desk);
        // Time taken by a hypervisor or a quota is not a stop.
        let others = evidence.iter().any(|text| text.contains("steal") || text.contains("quota"));
        let undisturbed = if others {
            Err("needs processors that no hypervisor or quota takes away".to_owned())
        } else {
            Ok(())
        };
        if skipped(undisturbed) {
            return;
        }
        // Two thirds of the time.
        assert!((0.4..=0.9).contains(&stopped_share(&evidence)), "{evidence:?}");
    });
}

#[test]
fn measured_an_undisturbed_run_is_not_starved_and_breaks_its_promise() {
    measured(|_| {
        let desk = Desk::new();
        let _ = run(&desk.study(&study(".", 1, true))).expect_code(0);
        let (evidence, verdict) = told(&desk);
        // Others may be using this machine as well; the report then names them instead.
        let held = ["quota", "a frozen file system"];
        assert!(!evidence.iter().any(|text| held.iter().any(|word| text.contains(word))), "{evidence:?}");
        assert!(stopped_share(&evidence) < 0.2, "{evidence:?}");
        assert!(verdict == "FAIL" || !evidence.is_empty(), "{verdict}");
    });
}

#[test]
fn measured_a_frozen_file_system_is_told_as_the_cause_of_a_hole() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(|_| {
        let device = LoopDevice::builder().file_system(FileSystem::Ext4).build().expect("a device");
        let desk = Desk::new();
        let target = device.mount_point().expect("mounted").display().to_string();
        let text = study(&target, 5, true).replace("repetitions = 5", "repetitions = 1");
        let mut running = desk.study(&text).spawn().expect("it starts");
        wait_for(&mut running, "the first phase", || events(&desk, "case-started") > 0);
        sleep(Duration::from_millis(1200));
        let frozen = device.freeze().expect("frozen");
        sleep(Duration::from_secs(3));
        frozen.thaw().expect("thawed");
        let _ = running.wait().expect("it ends").expect_code(0);
        let (evidence, _) = told(&desk);
        assert!(
            evidence.iter().any(|text| text.contains("nothing completed and no device had a request")),
            "{evidence:?}"
        );
        assert!(evidence.iter().any(|text| text.contains("frozen file system")), "{evidence:?}");
    });
}

#[test]
fn measured_a_processor_quota_that_is_used_up_is_told_with_its_periods() {
    let limited = ControlGroup::new(Limited::Processor, "starved").and_then(|group| {
        group.set(10)?;
        Ok(group)
    });
    let quota = match limited {
        Ok(quota) => quota,
        Err(reason) => {
            skipped(Err(reason));
            return;
        }
    };
    measured(|_| {
        let desk = Desk::new();
        let text = study("/dev/shm", 1, false)
            .replace("directory = \"/dev/shm\"", &format!("directory = \"{}\"", desk.path("data").display()));
        fs::create_dir(desk.path("data")).expect("a directory");
        let _ = run(&quota.inside(&desk.study(&text))).expect_code(0);
        let (evidence, verdict) = told(&desk);
        assert!(evidence.iter().any(|text| text.contains("used up its processor quota in")), "{evidence:?}");
        assert_eq!(verdict, "DOUBTFUL");
    });
}

#[test]
fn measured_tasks_that_wait_for_a_processor_do_not_wait_for_storage() {
    measured_alone(|_| {
        let desk = Desk::new();
        let hog = Program::new("taskset").args(["-c", "0", "sh", "-c", "while :; do :; done"]);
        let hogs: Vec<_> = (0..3).map(|_| hog.spawn().expect("it starts")).collect();
        let text = study(".", 2, false).replace("repetitions = 5", "repetitions = 1");
        fs::write(desk.path("study.toml"), text).expect("a study");
        let pinned = Program::new("taskset").args(["-c", "0", env!("CARGO_BIN_EXE_ioproof")]);
        let pinned =
            pinned.args(["run", "study.toml", "--yes", "--out", "record"]).current_dir(desk.path(""));
        let finished = run(&pinned);
        drop(hogs);
        let _ = finished.expect_code(0);
        let (evidence, _) = told(&desk);
        assert!(evidence.iter().any(|text| text.contains("waited for a processor")), "{evidence:?}");
        let report = desk.report().0;
        let limited = &report["statements"]["limited_by"];
        assert_eq!(limited[0]["limit"], "processor", "{limited}");
        assert!(limited[0]["ready"].as_f64().expect("a share") > 0.3, "{limited}");
    });
}
