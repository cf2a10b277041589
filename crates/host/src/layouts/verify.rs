//! Reads back what stands.

use record::LayoutFinding;

use super::Standing;
use crate::Root;

pub(super) fn findings(_root: &Root, _standing: &Standing) -> Vec<LayoutFinding> {
    Vec::new()
}
