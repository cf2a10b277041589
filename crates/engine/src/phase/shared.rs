//! State shared by the workers of a phase of transfers.

use std::ops::{Deref, DerefMut};

use crate::phase::common::Common;
use crate::phase::rules::{Rules, TaskPlan};
use crate::{Controls, Point, Rendezvous};

/// State shared by the workers of a phase of transfers, and their plan.
pub(crate) struct Shared<'a> {
    pub(crate) rules: Rules<'a>,
    pub(crate) tasks: Vec<TaskPlan>,
    common: Common<'a>,
}

impl<'a> Deref for Shared<'a> {
    type Target = Common<'a>;

    fn deref(&self) -> &Common<'a> {
        &self.common
    }
}

impl<'a> DerefMut for Shared<'a> {
    fn deref_mut(&mut self) -> &mut Common<'a> {
        &mut self.common
    }
}

impl<'a> Shared<'a> {
    /// Creates the state for `workers` workers, which count their transfers in `counters` sets of counters.
    pub(crate) fn new(
        rules: Rules<'a>,
        tasks: Vec<TaskPlan>,
        (workers, counters): (usize, usize),
        rendezvous: &'a dyn Rendezvous,
        controls: &'a Controls,
    ) -> Self {
        let mut points = vec![Point::Ready, Point::Start];
        if rules.meets_after_open() {
            points.push(Point::Opened);
        }
        points.extend(rules.ending.point());
        if rules.barriers {
            points.push(Point::Transferred);
        }
        points.push(Point::Closed);
        let common = Common::new(points, (workers, counters), rules.transfer as u64, rendezvous, controls);
        Self { rules, tasks, common }
    }
}
