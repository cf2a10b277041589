//! The audit finds the errors in published studies that can be computed, and reports nothing where the numbers agree.

use analysis::audit::{AuditIssue, audit_published};

fn doubts() -> Vec<AuditIssue> {
    audit_published(record::published())
}

fn evidence(id: &str, check: &str) -> String {
    let found = doubts().into_iter().find(|doubt| doubt.concerns == id && doubt.check.name() == check);
    found.unwrap_or_else(|| panic!("{id} is not doubted: {check}")).evidence
}

#[test]
fn every_slip_is_found_and_nothing_else() {
    let found: Vec<(String, &str)> =
        doubts().into_iter().map(|doubt| (doubt.concerns, doubt.check.name())).collect();
    let found: Vec<(&str, &str)> = found.iter().map(|(id, check)| (id.as_str(), *check)).collect();
    assert_eq!(
        found,
        [
            ("a-t2-scal-read-33", "unbalanced"),
            ("a-t2-scal-write-33", "unbalanced"),
            ("b-tab2-ssd-512-mean", "implausible latency"),
            ("b-tab2-ssd-4k-mean", "implausible latency"),
            ("b-tab2-nvme-512-mean", "implausible latency"),
            ("b-tab2-nvme-4k-mean", "implausible latency"),
            ("b-iops-nvme-read", "unit mix-up"),
            ("b-iops-nvme-read", "above ceiling"),
            ("b-iops-nvme-write", "unit mix-up"),
            ("b-iops-nvme-write", "above ceiling"),
            ("b-iops-ssd-read", "unit mix-up"),
            ("b-iops-ssd-write", "unit mix-up"),
            ("b-iops-ssd-write", "above ceiling"),
            ("c-tab2-flash-sdev", "impossible statistic"),
            ("e-tsq-read-rate", "unit mix-up"),
            ("e-mdtest-stat-mean", "cached"),
            ("e-mdtest-stat-mean", "too short"),
            ("e-mdtest-read-mean", "too short"),
            ("a-sum-noraid-write", "contradiction"),
            ("a-sum-imsm-read", "unit mix-up"),
            ("a-sum-imsm-write", "unit mix-up"),
            ("a-t3-scal-write", "contradiction"),
            ("b-ws-nvme-write-max", "unit mix-up"),
            ("b-ws-nvme-read-max", "unit mix-up"),
            ("b-abs-ssd", "contradiction"),
            ("b-seq128-ssd-write-mean", "contradiction"),
            ("b-peak16m-nvme-read", "contradiction"),
            ("b-ts-gpfs-max-read", "contradiction"),
            ("b-abs-ssd", "contradiction"),
            ("b-fs-nvme-per-process", "contradiction"),
            ("c-tab1-delta-mem", "contradiction"),
            ("c-tab2-flash-mean", "ratio of sums"),
            ("c-tab2-spinning-mean", "ratio of sums"),
            ("c-wl-concurrent", "contradiction"),
            ("d-job-12501-iops", "contradiction"),
            ("d-score", "contradiction"),
            ("d-job-12504-iops", "contradiction"),
            ("d-job-12515-iops", "contradiction"),
            ("d-ef-rr-8k", "contradiction"),
            ("d-sas-link", "unit mix-up"),
            ("d-onenode-bs-peak", "above ceiling"),
            ("e-ioz-sum-write-bw", "unit mix-up"),
            ("e-ioz-sum-read-bw", "unit mix-up"),
            ("e-ioz-sum-write-bw", "best as typical"),
            ("e-ioz-workingset", "unit mix-up"),
            ("zih-lustre-1miops-2014", "best as typical"),
        ]
    );
}

#[test]
fn the_evidence_has_the_numbers() {
    assert_eq!(
        evidence("c-tab2-flash-sdev", "impossible statistic"),
        "a standard deviation of 0.035 is impossible for 101 values with a range of 2.15: \
         it is at least 0.152; 1888 values would be needed"
    );
    assert_eq!(evidence("b-iops-nvme-read", "unit mix-up"), "1149696 ops/s of 4 KiB are exactly 4491 MiB/s");
    assert!(evidence("a-t3-scal-write", "contradiction").contains("one device) is 76.42 %"));
    assert!(evidence("b-abs-ssd", "contradiction").contains("6.048 GB/s"));
    assert!(evidence("c-tab2-flash-mean", "ratio of sums").contains("is 1.325"));
    assert!(evidence("d-score", "contradiction").contains("1,098,947"));
    assert!(evidence("e-ioz-sum-write-bw", "unit mix-up").contains("24.27 GB/s"));
    assert!(evidence("e-ioz-sum-read-bw", "unit mix-up").contains("29.47 GB/s"));
    assert!(evidence("b-ws-nvme-write-max", "unit mix-up").contains("is 82.45 GB/s"));
    assert!(evidence("e-tsq-read-rate", "unit mix-up").contains("a Kbyte of 1000 bytes gives 55.11 MB/s"));
}

#[test]
fn every_doubt_says_what_to_do() {
    for doubt in doubts() {
        assert!(!doubt.evidence.is_empty() && !doubt.advice.is_empty(), "{}", doubt.concerns);
        assert!(doubt.figure.is_none(), "{}", doubt.concerns);
    }
}

/// An error in the misprint table that is visible in the numbers is found by a check on one of its figures.
#[test]
fn computable_misprints_are_found() {
    use record::MisprintSort::{Contradiction, Implausible, Misprint, Unit};
    let library = record::published();
    let doubted: Vec<String> = doubts().into_iter().map(|doubt| doubt.concerns).collect();
    let missed: Vec<&str> = library
        .misprints
        .iter()
        .filter(|one| matches!(one.sort, Contradiction | Implausible | Misprint | Unit))
        .filter(|one| one.concerns.iter().any(|id| library.figure(id).is_some()))
        .filter(|one| !one.concerns.iter().any(|id| doubted.contains(id)))
        .map(|one| one.printed.as_str())
        .collect();
    // Two verbal statements, without numbers to compare.
    assert_eq!(missed, ["\"I/O bound immediately\" and \"CPU bound\""]);
}
