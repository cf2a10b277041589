//! Checks whether the record is intact.

use record::Run;

use super::issue::{AuditIssue, RawIssue};
use crate::audit::Check;
use crate::figures::Figure;

/// A doubt about each figure of a record that was damaged or changed after it was written: the missing part may
/// have contained some of its repetitions.
pub(crate) fn damaged(run: &Run, figures: &[Figure]) -> Vec<AuditIssue> {
    let late = run.late_damage();
    let mut damage = run.damage.iter().chain(&late);
    let Some(first) = damage.next() else { return Vec::new() };
    let evidence = match damage.count() {
        0 => first.to_string(),
        more => format!("{first}; {more} more"),
    };
    let advice = "use an intact copy of the record, or measure again";
    let doubt = |(index, figure): (usize, &Figure)| {
        RawIssue::new(Check::Damaged, evidence.clone(), advice).of(Some(index), figure.conditions.clone())
    };
    figures.iter().enumerate().map(doubt).collect()
}
