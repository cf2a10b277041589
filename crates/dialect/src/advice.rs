//! The options that advice about a plan names, in the words of the tool whose command line it came from.

use plan::{Bytes, Case};

/// The options of a tool that change what a plan is warned about.
#[derive(Debug, Clone, Copy)]
pub struct Advice {
    tool: &'static str,
    /// The option that sets how much data is moved, and what its value is.
    volume: (&'static str, Volume),
    /// The option for direct I/O.
    pub direct: &'static str,
    /// The option for the distance between writing and reading tasks, if the tool has one.
    pub read_distance: Option<&'static str>,
}

/// What the value of an option of volume is.
#[derive(Debug, Clone, Copy)]
enum Volume {
    Segments,
    /// Bytes of the file of each task.
    OfTask,
    /// Bytes of all tasks.
    Total,
}

const ADVICE: [Advice; 4] = [
    Advice {
        tool: "ior",
        volume: ("-s", Volume::Segments),
        direct: "--posix.odirect",
        read_distance: Some("-Q"),
    },
    Advice { tool: "gpfsperf", volume: ("-n", Volume::Total), direct: "-dio", read_distance: None },
    Advice { tool: "iozone", volume: ("-s", Volume::OfTask), direct: "-I", read_distance: None },
    Advice { tool: "ioping", volume: ("-S", Volume::OfTask), direct: "-D", read_distance: None },
];

/// The options of `tool` that advice can name. Returns `None` for tools whose plans are about names instead of data.
#[must_use]
pub fn advice(tool: &str) -> Option<&'static Advice> {
    ADVICE.iter().find(|one| one.tool == tool)
}

impl Advice {
    /// The option with which `case` has `segments` segments, or as much data as in so many, with `between` before its
    /// value: `-n to 5g`.
    #[must_use]
    pub fn volume(&self, case: &Case, segments: u64, between: &str) -> String {
        let (option, volume) = self.volume;
        let of_task = case.workload.geometry.block.0.saturating_mul(segments);
        let value = match volume {
            Volume::Segments => segments.to_string(),
            Volume::OfTask => suffixed(Bytes(of_task)),
            Volume::Total => suffixed(Bytes(of_task.saturating_mul(case.workload.tasks.into()))),
        };
        format!("{option}{between} {value}")
    }
}

/// At least as many bytes with a suffix that is a power of 1024, as all of these tools read it: `4800m`.
fn suffixed(bytes: Bytes) -> String {
    match bytes.0 {
        all if all >= 10 << 30 => format!("{}g", all.div_ceil(1 << 30)),
        all if all >= 10 << 20 => format!("{}m", all.div_ceil(1 << 20)),
        all => format!("{}k", all.div_ceil(1 << 10)),
    }
}
