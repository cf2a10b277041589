//! The engine's words as those of the record.

use record::{Measure, Operation};

/// A direction.
pub(crate) fn operation(operation: engine::Operation) -> Operation {
    match operation {
        engine::Operation::Read => Operation::Read,
        engine::Operation::Write => Operation::Write,
    }
}

/// What a latency is counted from.
pub(crate) fn measure(measure: engine::Measure) -> Measure {
    match measure {
        engine::Measure::Response => Measure::Response,
        engine::Measure::Service => Measure::Service,
    }
}
