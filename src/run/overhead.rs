//! `ioproof overhead`: measures the overhead of the measuring instrument on this host.

use std::path::PathBuf;
use std::sync::Arc;

use analysis::statistics::Overhead;
use clap::Args;
use engine::Controls;
use report::Steps;
use runner::Instrument;

use crate::console::exit::{Exit, Failure};
use crate::console::{print, signals};
use crate::run::arguments::Quiet;

/// `ioproof overhead`.
#[derive(Debug, Args)]
pub(crate) struct OverheadArguments {
    /// Directory on the storage with which the overhead is compared.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    shown: Quiet,
}

/// Measures and prints the overhead.
pub(crate) fn run(arguments: &OverheadArguments) -> Result<Exit, Failure> {
    let controls = Arc::new(Controls::new());
    let _listening = signals::stop_on_signal(&controls.stop_flags())
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    host::files::check_directory(&arguments.directory)
        .map_err(|error| Failure::new(Exit::HostLacks, error))?;
    let mut progress = Steps::new("pairs of runs", arguments.shown.shown());
    let measured = runner::instrument(&arguments.directory, &controls, &mut |stage, done, all, each| {
        progress.show(stage, done, all, each);
    })?;
    drop(progress);
    if controls.is_stopped() {
        return Ok(Exit::Interrupted);
    }
    print(&text(&measured)).map(|()| Exit::Success)
}

fn text(measured: &Instrument) -> String {
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let paired = |overhead: Option<Overhead>| match overhead {
        None => "unknown".to_owned(),
        Some(paired) => {
            let interval = paired.interval.map_or(String::new(), |interval| {
                format!(
                    ", {:.0} % interval {} to {}",
                    interval.confidence * 100.0,
                    percent(interval.low),
                    percent(interval.high)
                )
            });
            format!("{} (median of {} pairs{interval})", percent(paired.median), paired.pairs)
        }
    };
    let history = &measured.history;
    format!(
        "clock                {}, {:.1} ns a reading\n\
         ceiling              {:.1} million transfers/s of one task (null backend, recorded)\n\
         recording            {:.1} ns a transfer (latency histogram, series, counters)\n\
         real transfers       {}\n\
         \x20                    one every {:.0} ns\n\
         overhead, computed   {} (recording ÷ time of a real transfer)\n\
         overhead, paired     {}\n\
         history              {:.1} ns a transfer (the last {} operations kept)\n\
         history, computed    {} of a read of 4 KiB from the page cache, one every {:.0} ns\n\
         history, paired      {}\n",
        measured.clock,
        measured.clock_ns,
        measured.ceiling / 1e6,
        measured.recording_ns,
        measured.conditions,
        measured.transfer_ns,
        percent(measured.share()),
        paired(measured.paired),
        history.each_ns,
        history.kept,
        percent(history.each_ns / history.cached_ns),
        history.cached_ns,
        paired(history.cached),
    )
}
