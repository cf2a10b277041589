//! Values and rounding of published figures as printed, and checks that recompute figures from others of the same
//! study.

use record::{Detail, Library, Published, Qualifier};

use super::issue::RawIssue;
use crate::audit::{AuditIssue, Check};
use crate::jobs::job_rate;

/// How a printed figure relates to the computed one. Equality is checked to the printed precision.
#[derive(Clone, Copy)]
enum Relation {
    Equal,
    AtMost,
    AtLeast,
}

/// A formula in words, and as a function of its input values.
type Formula = (&'static str, fn(&[f64]) -> f64);

/// A figure, the figures it is computed from, and how.
struct Rule {
    check: Check,
    id: &'static str,
    from: &'static [&'static str],
    formula: Formula,
    is: Relation,
    advice: &'static str,
}

const COMPUTED: &str = "use the computed value, and state the printed one";
const WHOSE: &str = "one of the two is wrong: use neither without saying so";
const NOT_BEST: &str = "call it the value for its conditions, not the best";

const fn rule(id: &'static str, from: &'static [&'static str], formula: Formula) -> Rule {
    Rule { check: Check::Contradiction, id, from, formula, is: Relation::Equal, advice: COMPUTED }
}

impl Rule {
    const fn is(self, is: Relation) -> Self {
        Self { is, ..self }
    }

    const fn doubt(self, check: Check) -> Self {
        Self { check, ..self }
    }

    const fn advise(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }
}

/// The share by which values may differ in addition to rounding.
const SLACK: f64 = 0.002;
/// Bytes per operation with a 4 KiB record.
const RECORD: f64 = 4096.0;
/// The same as [`RECORD`] in a study that took a million KiB for a GB.
const RECORD_OF_KIBIBYTES: f64 = 4000.0;

const THIS: fn(&[f64]) -> f64 = |v| v[0];
const NODES: Formula = ("16 nodes × the gain per node", |v| 16.0 * v[0]);
const DELTA: Formula = ("flash − spinning", |v| v[0] - v[1]);
const SUMS: Formula = ("(user + system) ÷ real of the sums", |v| (v[0] + v[1]) / v[2]);
const JOB: Formula =
    ("processes × operations of each ÷ time", |v| job_rate(v[0], v[1], v[2]).unwrap_or(f64::NAN));
const MEANS: Formula = ("76 processes × mean", |v| 76.0 * v[0]);
const RECORDS: Formula = ("operations × 4096 bytes", |v| v[0] * RECORD);
const FLASH: [&str; 3] = ["c-tab1-flash-user", "c-tab1-flash-system", "c-tab1-flash-real"];
const SPINNING: [&str; 3] = ["c-tab1-spinning-user", "c-tab1-spinning-system", "c-tab1-spinning-real"];

const RULES: &[Rule] = &[
    rule("a-sum-noraid-write", &["a-t5b-write-best"], ("the best write of test 5b", THIS))
        .is(Relation::AtLeast),
    rule("a-sum-imsm-read", &["a-t5b-read-best"], ("the best read of test 5b", THIS)).doubt(Check::UnitMixUp),
    rule("a-sum-imsm-write", &["a-t5b-write-best"], ("the best write of test 5b", THIS))
        .doubt(Check::UnitMixUp),
    rule(
        "a-t3-scal-write",
        &["a-t3-write-best", "a-t1-write-best"],
        ("the best of the test ÷ (12 × that of one device)", |v| v[0] / (12.0 * v[1])),
    )
    .advise("it belongs to another point than the best one"),
    rule("b-ws-nvme-write-max", &["b-ws-nvme-write-slope"], NODES).doubt(Check::UnitMixUp),
    rule("b-ws-nvme-read-max", &["b-ws-nvme-read-slope"], NODES).doubt(Check::UnitMixUp),
    rule("b-abs-ssd", &["b-ws-ssd-write-slope"], NODES).advise(WHOSE),
    rule("b-seq128-ssd-write-mean", &["b-con-seq128-ssd-write"], ("the value in the conclusion", THIS))
        .advise(WHOSE),
    rule("b-peak16m-nvme-read", &["b-seq128-nvme-read-mean"], ("a mean of the same device", THIS))
        .is(Relation::AtLeast)
        .advise(NOT_BEST),
    rule("b-ts-gpfs-max-read", &["b-tab4-gpfs-read-1mb"], ("a figure of the same storage", THIS))
        .is(Relation::AtLeast)
        .advise(NOT_BEST),
    rule("b-abs-ssd", &["b-tab3-ssd-write-mean"], ("16 nodes × the mean of Table 3", |v| 16.0 * v[0])),
    rule("b-fs-nvme-per-process", &["b-fs-nvme-stable-to"], ("file ÷ 64 processes", |v| v[0] / 64.0)),
    rule("c-tab1-delta-mem", &["c-tab1-flash-mem", "c-tab1-spinning-mem"], DELTA),
    rule("c-tab2-flash-mean", &FLASH, SUMS).doubt(Check::RatioOfSums),
    rule("c-tab2-spinning-mean", &SPINNING, SUMS).doubt(Check::RatioOfSums),
    rule(
        "c-wl-concurrent",
        &["c-tab1-flash-real", "c-wl-max-duration"],
        ("real time of all tests ÷ that of the longest, a lower bound of the whole run", |v| v[0] / v[1]),
    )
    .is(Relation::AtMost),
    rule("d-job-12501-iops", &["d-score"], ("the score on the slide of the same run", THIS)),
    rule("d-score", &["d-score-processes", "d-job-12501-ops", "d-score-runtime"], JOB),
    rule("d-job-12504-iops", &["d-score-processes", "d-job-12504-ops", "d-job-12504-time"], JOB),
    rule("d-job-12515-iops", &["d-score-processes", "d-job-12515-ops", "d-job-12515-time"], JOB),
    rule("d-ef-rr-8k", &["d-ef-mix-100-first"], ("100 % reads of the same size in the table", THIS)),
    rule("d-sas-link", &[], ("4 lanes × 12 Gb/s × 8 ÷ 10 bits, of SAS3", |_| 4.0 * 12e9 * 0.8 / 8.0))
        .doubt(Check::UnitMixUp),
    rule("d-onenode-bs-peak", &["d-ib-link"], ("one port of the network", THIS))
        .is(Relation::AtMost)
        .doubt(Check::AboveCeiling)
        .advise("look for a second link, or for the page cache of the client"),
    rule("e-ioz-sum-write-bw", &["e-iozone-rewrite-total"], RECORDS).doubt(Check::UnitMixUp),
    rule("e-ioz-sum-read-bw", &["e-iozone-read-total"], RECORDS).doubt(Check::UnitMixUp),
    rule(
        "e-ioz-sum-write-bw",
        &["e-iozone-write-total", "e-iozone-rewrite-total"],
        ("the average of write and rewrite in the same unit", |v| {
            f64::midpoint(v[0], v[1]) * RECORD_OF_KIBIBYTES
        }),
    )
    .doubt(Check::BestAsTypical),
    rule("e-ioz-workingset", &[], ("76 processes × 32 GiB", |_| 76.0 * 34_359_738_368.0))
        .doubt(Check::UnitMixUp),
    // The following rules hold in the printed data.
    rule(
        "a-sum-tax-read",
        &["a-t2-read-best", "a-t5b-read-best"],
        ("(reference − layout) ÷ reference", |v| (v[0] - v[1]) / v[0]),
    ),
    rule("b-lim-ess-total", &["b-lim-ess-each"], ("4 servers × each", |v| 4.0 * v[0])),
    rule("c-tab1-delta-real", &["c-tab1-flash-real", "c-tab1-spinning-real"], DELTA),
    rule("c-tab1-delta-user", &["c-tab1-flash-user", "c-tab1-spinning-user"], DELTA),
    rule("c-tab1-delta-system", &["c-tab1-flash-system", "c-tab1-spinning-system"], DELTA),
    rule(
        "d-score-processes",
        &["d-score-nodes", "d-score-ppn"],
        ("nodes × processes of each", |v| v[0] * v[1]),
    ),
    rule("e-mdtest-files", &["e-mdtest-tasks"], ("tasks × 35,000 files", |v| v[0] * 35_000.0)),
    rule("e-iozone-write-total", &["e-iozone-write-mean"], MEANS),
    rule("e-iozone-rewrite-total", &["e-iozone-rewrite-mean"], MEANS),
    rule("e-iozone-read-total", &["e-iozone-read-mean"], MEANS),
    rule("e-iozone-reread-total", &["e-iozone-reread-mean"], MEANS),
];

/// Doubts about figures that do not match their recomputed value. Rules whose figures are missing from `library`
/// are skipped.
pub(super) fn doubts(library: &Library) -> Vec<AuditIssue> {
    RULES.iter().filter_map(|rule| doubt(rule, library)).collect()
}

fn doubt(rule: &Rule, library: &Library) -> Option<AuditIssue> {
    let figure = library.figure(rule.id)?;
    let from: Vec<&Published> = rule.from.iter().map(|id| library.figure(id)).collect::<Option<_>>()?;
    let expected = rule.formula.1(&from.iter().map(|one| one.value).collect::<Vec<_>>());
    let exact = from.iter().map(|one| rounding(one)).fold(SLACK, f64::max);
    let kept = match rule.is {
        Relation::Equal => same((value(figure), rounding(figure)), (expected, exact)),
        Relation::AtMost => value(figure) <= expected,
        Relation::AtLeast => value(figure) >= expected,
    };
    let parts: Vec<String> = from.iter().map(|one| format!("{} {}", one.id, one.as_published())).collect();
    let from = if parts.is_empty() { "" } else { ", from " };
    let evidence = format!(
        "printed {}; {} is {}{from}{}",
        figure.as_published(),
        rule.formula.0,
        figure.unit.text(expected),
        parts.join(", ")
    );
    (!kept).then(|| RawIssue::new(rule.check, evidence, rule.advice).of(None, rule.id))
}

/// The relative tolerance for relations that are meant as approximate.
const APPROXIMATELY: f64 = 0.10;

/// The value as printed, including misprints.
pub(super) fn value(figure: &Published) -> f64 {
    figure.misprint.and_then(|slip| slip.printed_value).unwrap_or(figure.value)
}

/// The relative rounding error of the printed value: half a unit of its last digit.
pub(super) fn rounding(figure: &Published) -> f64 {
    if figure.qualifier == Some(Qualifier::Approximately) {
        return APPROXIMATELY;
    }
    let from_number = figure.printed.trim_start_matches(|c: char| !c.is_ascii_digit());
    let number =
        from_number.split(|c: char| !(c.is_ascii_digit() || c == ',' || c == '.')).next().unwrap_or("");
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let whole: f64 = digits.parse().unwrap_or(0.0);
    if whole > 0.0 { 0.5 / whole } else { APPROXIMATELY }
}

/// A number from the conditions that have no column of their own.
pub(super) fn more(figure: &Published, key: &str) -> Option<f64> {
    figure.parameters.more.get(key).and_then(Detail::number)
}

/// Whether `a` and `b` are the same number within the precision to which both are printed.
pub(super) fn same(a: (f64, f64), b: (f64, f64)) -> bool {
    let ((a, a_rounding), (b, b_rounding)) = (a, b);
    (a - b).abs() <= a.abs() * a_rounding + b.abs() * b_rounding
}

#[cfg(test)]
mod tests {
    use super::{RULES, rounding, same};

    #[test]
    fn every_rule_is_about_figures_of_the_library() {
        for rule in RULES {
            for id in rule.from.iter().chain([&rule.id]) {
                assert!(record::published().figure(id).is_some(), "{id}");
            }
        }
    }

    #[test]
    fn a_value_is_as_exact_as_its_last_digit() {
        let of = |id: &str| rounding(record::published().figure(id).expect("an id"));
        assert!((of("b-abs-ssd") - 0.5 / 56.0).abs() < 1e-12);
        assert!((of("b-ws-nvme-write-max") - 0.5 / 82_607.0).abs() < 1e-12);
        assert!((of("c-tab2-flash-sdev") - 0.5 / 35.0).abs() < 1e-12);
        assert!((of("a-t1-util") - 0.10).abs() < 1e-12);
        assert!(same((449.0, 0.5 / 449.0), (449.4, 0.0)));
        assert!(!same((449.0, 0.5 / 449.0), (447.0, 0.5 / 447.0)));
    }
}
