//! Published figures that follow from others of the same study: what they should be, computed.

use record::{Library, Published};

use super::doubt::Found;
use super::printed::{rounding, same, value};
use crate::{Check, Doubt, job_rate};

/// How a printed figure stands to what is computed.
#[derive(Clone, Copy)]
enum Is {
    /// It is that, as exactly as it is printed.
    Equal,
    /// It is that, or less, as printed.
    AtMost,
    /// It is that, or more, as printed.
    AtLeast,
}

/// A figure, what it follows from, and how.
struct Rule {
    check: Check,
    id: &'static str,
    from: &'static [&'static str],
    formula: &'static str,
    compute: fn(&[f64]) -> f64,
    is: Is,
    /// Share that is allowed beside rounding.
    slack: f64,
    advice: &'static str,
}

const fn equal(
    check: Check,
    id: &'static str,
    from: &'static [&'static str],
    formula: &'static str,
    compute: fn(&[f64]) -> f64,
) -> Rule {
    let advice = "use what is computed, and say what was printed";
    Rule { check, id, from, formula, compute, is: Is::Equal, slack: 0.002, advice }
}

/// Operations of a 4 KiB record in bytes.
const RECORD: f64 = 4096.0;
/// As [`RECORD`], where a million KiB was taken for a GB.
const RECORD_OF_KIBIBYTES: f64 = 4000.0;

/// (user + system) ÷ real of sums.
fn ratio_of_sums(v: &[f64]) -> f64 {
    (v[0] + v[1]) / v[2]
}

fn minus(v: &[f64]) -> f64 {
    v[0] - v[1]
}

fn times(v: &[f64]) -> f64 {
    v[0] * v[1]
}

fn itself(v: &[f64]) -> f64 {
    v[0]
}

/// All operations ÷ wall time.
fn by_wall(v: &[f64]) -> f64 {
    job_rate(v[0], v[1], v[2]).unwrap_or(f64::NAN)
}

const JOB: &str = "processes × operations of each ÷ time";
const FLASH: [&str; 3] = ["c-tab1-flash-user", "c-tab1-flash-system", "c-tab1-flash-real"];
const SPINNING: [&str; 3] = ["c-tab1-spinning-user", "c-tab1-spinning-system", "c-tab1-spinning-real"];

const RULES: &[Rule] = &[
    Rule {
        is: Is::AtLeast,
        ..equal(
            Check::Contradiction,
            "a-sum-noraid-write",
            &["a-t5b-write-best"],
            "the best write of test 5b",
            itself,
        )
    },
    equal(
        Check::Contradiction,
        "a-sum-tax-read",
        &["a-t2-read-best", "a-t5b-read-best"],
        "(reference − layout) ÷ reference",
        |v| (v[0] - v[1]) / v[0],
    ),
    equal(
        Check::Contradiction,
        "b-abs-ssd",
        &["b-tab3-ssd-write-mean"],
        "16 nodes × the mean of Table 3",
        |v| 16.0 * v[0],
    ),
    equal(Check::Contradiction, "b-lim-ess-total", &["b-lim-ess-each"], "4 servers × each", |v| 4.0 * v[0]),
    equal(
        Check::Contradiction,
        "b-fs-nvme-per-process",
        &["b-fs-nvme-stable-to"],
        "file ÷ 64 processes",
        |v| v[0] / 64.0,
    ),
    equal(
        Check::Contradiction,
        "c-tab1-delta-real",
        &["c-tab1-flash-real", "c-tab1-spinning-real"],
        "flash − spinning",
        minus,
    ),
    equal(
        Check::Contradiction,
        "c-tab1-delta-mem",
        &["c-tab1-flash-mem", "c-tab1-spinning-mem"],
        "flash − spinning",
        minus,
    ),
    equal(
        Check::Contradiction,
        "c-tab1-delta-user",
        &["c-tab1-flash-user", "c-tab1-spinning-user"],
        "flash − spinning",
        minus,
    ),
    equal(
        Check::Contradiction,
        "c-tab1-delta-system",
        &["c-tab1-flash-system", "c-tab1-spinning-system"],
        "flash − spinning",
        minus,
    ),
    equal(
        Check::RatioOfSums,
        "c-tab2-flash-mean",
        &FLASH,
        "(user + system) ÷ real of the sums",
        ratio_of_sums,
    ),
    equal(
        Check::RatioOfSums,
        "c-tab2-spinning-mean",
        &SPINNING,
        "(user + system) ÷ real of the sums",
        ratio_of_sums,
    ),
    Rule {
        is: Is::AtMost,
        ..equal(
            Check::Contradiction,
            "c-wl-concurrent",
            &["c-tab1-flash-real", "c-wl-max-duration"],
            "real time of all tests ÷ the longest, which the whole run takes at least",
            |v| v[0] / v[1],
        )
    },
    equal(
        Check::Contradiction,
        "d-score-processes",
        &["d-score-nodes", "d-score-ppn"],
        "nodes × processes of each",
        times,
    ),
    equal(
        Check::Contradiction,
        "d-job-12501-iops",
        &["d-score"],
        "the score on the slide of the same run",
        itself,
    ),
    equal(
        Check::Contradiction,
        "d-score",
        &["d-score-processes", "d-job-12501-ops", "d-score-runtime"],
        JOB,
        by_wall,
    ),
    equal(
        Check::Contradiction,
        "d-job-12504-iops",
        &["d-score-processes", "d-job-12504-ops", "d-job-12504-time"],
        JOB,
        by_wall,
    ),
    equal(
        Check::Contradiction,
        "d-job-12515-iops",
        &["d-score-processes", "d-job-12515-ops", "d-job-12515-time"],
        JOB,
        by_wall,
    ),
    equal(
        Check::Contradiction,
        "d-ef-rr-8k",
        &["d-ef-mix-100-first"],
        "100 % reads of the same size in the table",
        itself,
    ),
    equal(Check::UnitMixUp, "d-sas-link", &[], "4 lanes × 12 Gb/s × 8 ÷ 10 bits, of SAS3", |_| {
        4.0 * 12e9 * 0.8 / 8.0
    }),
    Rule {
        is: Is::AtMost,
        advice: "look for a second link, or for the page cache of the client",
        ..equal(Check::AboveCeiling, "d-onenode-bs-peak", &["d-ib-link"], "one port of the network", itself)
    },
    equal(
        Check::UnitMixUp,
        "e-ioz-sum-write-bw",
        &["e-iozone-rewrite-total"],
        "operations × 4096 bytes",
        |v| v[0] * RECORD,
    ),
    equal(Check::UnitMixUp, "e-ioz-sum-read-bw", &["e-iozone-read-total"], "operations × 4096 bytes", |v| {
        v[0] * RECORD
    }),
    equal(
        Check::BestAsTypical,
        "e-ioz-sum-write-bw",
        &["e-iozone-write-total", "e-iozone-rewrite-total"],
        "the average of write and rewrite in the same unit",
        |v| f64::midpoint(v[0], v[1]) * RECORD_OF_KIBIBYTES,
    ),
    equal(Check::UnitMixUp, "e-ioz-workingset", &[], "76 processes × 32 GiB", |_| 76.0 * 34_359_738_368.0),
    equal(Check::UnitMixUp, "e-tsq-read-rate", &["e-tsq-read-ops"], "operations × 4096 bytes", |v| {
        v[0] * RECORD
    }),
    equal(Check::Contradiction, "e-mdtest-files", &["e-mdtest-tasks"], "tasks × 35,000 files", |v| {
        v[0] * 35_000.0
    }),
    equal(
        Check::Contradiction,
        "e-iozone-write-total",
        &["e-iozone-write-mean"],
        "76 processes × mean",
        |v| 76.0 * v[0],
    ),
    equal(
        Check::Contradiction,
        "e-iozone-rewrite-total",
        &["e-iozone-rewrite-mean"],
        "76 processes × mean",
        |v| 76.0 * v[0],
    ),
    equal(
        Check::Contradiction,
        "e-iozone-read-total",
        &["e-iozone-read-mean"],
        "76 processes × mean",
        |v| 76.0 * v[0],
    ),
    equal(
        Check::Contradiction,
        "e-iozone-reread-total",
        &["e-iozone-reread-mean"],
        "76 processes × mean",
        |v| 76.0 * v[0],
    ),
];

/// What does not follow as it should. A rule whose figures `library` does not have is left out.
pub(super) fn doubts(library: &Library) -> Vec<Doubt> {
    RULES.iter().filter_map(|rule| doubt(rule, library)).collect()
}

fn doubt(rule: &Rule, library: &Library) -> Option<Doubt> {
    let figure = library.figure(rule.id)?;
    let from: Vec<&Published> = rule.from.iter().map(|id| library.figure(id)).collect::<Option<_>>()?;
    let values: Vec<f64> = from.iter().map(|one| one.value).collect();
    let expected = (rule.compute)(&values);
    let exact = from.iter().map(|one| rounding(one)).fold(rule.slack, f64::max);
    let agrees = same((value(figure), rounding(figure)), (expected, exact));
    let kept = match rule.is {
        Is::Equal => agrees,
        Is::AtMost => value(figure) <= expected,
        Is::AtLeast => value(figure) >= expected,
    };
    let evidence = || {
        let parts: Vec<String> =
            from.iter().map(|one| format!("{} {}", one.id, one.as_published())).collect();
        let parts = if parts.is_empty() { String::new() } else { format!(", from {}", parts.join(", ")) };
        format!(
            "printed {}; {} is {}{parts}",
            figure.as_published(),
            rule.formula,
            figure.unit.text(expected)
        )
    };
    (!kept).then(|| Found::new(rule.check, evidence(), rule.advice).of(None, rule.id))
}

#[cfg(test)]
mod tests {
    use super::RULES;

    #[test]
    fn every_rule_is_about_figures_of_the_library() {
        for rule in RULES {
            for id in rule.from.iter().chain([&rule.id]) {
                assert!(record::published().figure(id).is_some(), "{id}");
            }
        }
    }
}
