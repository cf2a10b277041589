//! The engine's words as those of the record.

use record::{Measure, Operation};

/// The word of the record for an operation of the engine.
#[must_use]
pub const fn operation(operation: engine::Operation) -> Operation {
    match operation {
        engine::Operation::Read => Operation::Read,
        engine::Operation::Write => Operation::Write,
        engine::Operation::Create => Operation::Create,
        engine::Operation::Stat => Operation::Stat,
        engine::Operation::List => Operation::List,
        engine::Operation::Rename => Operation::Rename,
        engine::Operation::Remove => Operation::Remove,
        engine::Operation::Exchange => Operation::Exchange,
    }
}

/// What a latency is counted from.
pub(crate) fn measure(measure: engine::Measure) -> Measure {
    match measure {
        engine::Measure::Response => Measure::Response,
        engine::Measure::Service => Measure::Service,
    }
}
