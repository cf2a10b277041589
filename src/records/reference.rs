//! `ioproof reference`: shows what studies have published.

use clap::{Args, Subcommand};
use record::{Metric, PublishedOperation};
use report::reference::{self, Filter};

use crate::console::exit::{Exit, Failure};
use crate::console::{print, screen};

/// `ioproof reference`.
#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// What to show.
    #[command(subcommand)]
    what: ReferenceWhat,
    /// Print as JSON.
    #[arg(long, global = true)]
    json: bool,
}

/// What of the library is shown.
#[derive(Debug, Subcommand)]
pub(crate) enum ReferenceWhat {
    /// List the figures, in one unit and as printed.
    List(ReferenceFilter),
    /// Show everything known about a figure, statement, command line or study.
    Show {
        /// Its id, for example a-t2-read-best.
        #[arg(value_name = "ID")]
        id: String,
    },
    /// List the studies.
    Studies(ReferenceFilter),
    /// List statements that your own data can confirm or refute.
    Claims(ReferenceFilter),
    /// List printed figures that are wrong or contradict themselves, with the interpretation that is used.
    Misprints(ReferenceFilter),
}

/// Which part is shown.
#[derive(Debug, Args)]
pub(crate) struct ReferenceFilter {
    /// Show only entries of the study with this letter or id.
    #[arg(long, value_name = "A|ID")]
    study: Option<String>,
    /// Show only figures of this metric, for example bandwidth.
    #[arg(long)]
    metric: Option<String>,
    /// Show only entries of this operation, for example read.
    #[arg(long)]
    operation: Option<String>,
    /// Text that an entry must contain.
    #[arg(value_name = "TEXT")]
    text: Option<String>,
}

/// Prints the selected part.
pub(crate) fn run(arguments: &ReferenceArguments) -> Result<Exit, Failure> {
    let library = record::published();
    let text = match &arguments.what {
        ReferenceWhat::Show { id } => {
            let shown = match arguments.json {
                true => reference::show_json(library, id).map(|value| report::json_text(&value)),
                false => reference::show(library, id, screen()),
            };
            shown.ok_or_else(|| unknown(id))?
        }
        ReferenceWhat::List(chosen)
        | ReferenceWhat::Studies(chosen)
        | ReferenceWhat::Claims(chosen)
        | ReferenceWhat::Misprints(chosen)
            if arguments.json =>
        {
            report::json_text(&reference::json(library, &filter(chosen)?))
        }
        ReferenceWhat::List(chosen) => reference::list(library, &filter(chosen)?, screen()),
        ReferenceWhat::Studies(chosen) => reference::studies(library, &filter(chosen)?, screen()),
        ReferenceWhat::Claims(chosen) => reference::claims(library, &filter(chosen)?, screen()),
        ReferenceWhat::Misprints(chosen) => reference::misprints(library, &filter(chosen)?, screen()),
    };
    if text.is_empty() {
        return Err(Failure::usage(
            "no entry of the library matches; `ioproof reference list` shows all entries",
        ));
    }
    print(&text)?;
    Ok(Exit::Success)
}

fn unknown(id: &str) -> Failure {
    let library = record::published();
    let meant = record::Library::nearest(id, library.ids());
    let meant = meant.map_or_else(String::new, |meant| format!("did you mean {meant}? "));
    Failure::usage(format!("the library has no entry `{id}`: {meant}`ioproof reference list` shows all ids"))
}

fn filter(chosen: &ReferenceFilter) -> Result<Filter, Failure> {
    let library = record::published();
    if let Some(study) = chosen.study.as_ref().filter(|study| library.study(study).is_none()) {
        let known: Vec<String> =
            library.studies.iter().map(|study| format!("{} ({})", study.letter, study.id)).collect();
        return Err(Failure::usage(format!(
            "there is no study `{study}`; the studies are {}",
            known.join(", ")
        )));
    }
    let metric =
        chosen.metric.as_deref().map(|word| named(word, "metric", Metric::named(word))).transpose()?;
    let operation = chosen.operation.as_deref();
    let operation =
        operation.map(|word| named(word, "operation", PublishedOperation::named(word))).transpose()?;
    Ok(Filter { study: chosen.study.clone(), metric, operation, text: chosen.text.clone() })
}

fn named<T>(word: &str, what: &str, found: Option<T>) -> Result<T, Failure> {
    found.ok_or_else(|| {
        Failure::usage(format!(
            "no figure has the {what} `{word}`; `ioproof reference list` shows all figures"
        ))
    })
}
