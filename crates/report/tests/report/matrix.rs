//! Jobs as a whole, in every form of a report.

use crate::common::{self, redacted};

#[test]
fn a_matrix_on_two_systems_as_text() {
    insta::assert_snapshot!(redacted(&report::text(&common::matrix::matrix())));
}
