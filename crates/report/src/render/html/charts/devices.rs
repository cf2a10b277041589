//! Rates of single devices, the fit of a seek time, file systems against the sum of their devices, and the
//! cost of each layer between device and application.

use analysis::{
    gate::Stated,
    scaling::Layer,
    targets::{Member, MemberSet, SeekFit, StripPoint},
};
use serde_json::{Value, json};

use super::axis::{Axis, geometric_steps};
use super::look::{Look, TEXT_COLOUR};
use super::plotly::{Chart, Trace, axis, names};
use super::series::{fixed, target};
use crate::format::BYTES_PER_SECOND;
use crate::format::escape::chart as escaped;
use crate::format::{column_unit, divisor, latency, percent, rate, whole};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::section::{headline, point, signed, title};

const PLACE: &str = "devices";
/// Maximum number of devices in one chart.
const BARS_MAX: usize = 192;
/// Maximum number of fitted lines in one chart.
const LINES_MAX: usize = 6;

/// The charts of devices and layers.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let found = &report.found;
    // Reads and writes of the same devices share a chart.
    let sets = analysis::figures::grouped(found.members.iter().filter_map(Stated::says), |set| {
        (&set.group, &set.target, set.together, fixed(&set.fixed))
    });
    let fits = analysis::figures::grouped(found.seeks.iter().filter_map(Stated::says), |fit| &fit.group);
    let strips =
        analysis::figures::grouped(found.strips.iter().filter_map(Stated::says), |point| point.phase);
    let members = sets.iter().map(|sets| members(report, sets));
    let sizes = fits.iter().map(|fits| sizes(report, fits));
    let strips = strips.iter().map(|points| by_block(report, points));
    members.chain(sizes).chain(strips).chain(layers(report)).collect()
}

/// A bar for each device, ordered by model.
fn members(report: &Report, sets: &[&MemberSet]) -> Chart {
    let first = sets[0];
    let all = || sets.iter().flat_map(|set| &set.members);
    let rank =
        |one: &Member| first.models.iter().position(|known| known.model == one.model).unwrap_or(usize::MAX);
    let mut order = analysis::figures::grouped(all(), |one| (&one.model, one.place, &one.name));
    order.sort_by_key(|same| (rank(same[0]), same[0].place));
    order.truncate(BARS_MAX);
    let unit = report.figures.get(first.members[0].figure).map_or(BYTES_PER_SECOND, Figure::shown_unit);
    let height = |one: &Member| match unit {
        BYTES_PER_SECOND => one.bytes_per_second.median / divisor(unit),
        _ => one.transfers_per_second.median,
    };
    let several = first.models.len() > 1;
    let labels = short_names(&order.iter().map(|same| same[0].name.as_str()).collect::<Vec<_>>());
    let label = |one: &Member| {
        let place = order.iter().position(|same| same[0].place == one.place && same[0].name == one.name);
        escaped(place.map_or(one.name.as_str(), |place| labels[place]))
    };
    let places = |of: &[&Member]| -> Value {
        let names = of.iter().map(|one| label(one)).collect::<Vec<_>>();
        let models = of.iter().map(|one| escaped(&one.model)).collect::<Vec<_>>();
        if several { json!([models, names]) } else { json!(names) }
    };
    let bars = sets.iter().map(|set| {
        let of_set = |one: &&&Member| set.members.iter().any(|own| std::ptr::eq(own, **one));
        let these: Vec<&Member> = order.iter().filter_map(|same| same.iter().find(of_set).copied()).collect();
        let points = these.iter().map(|one| {
            let rate = one.rate();
            // All transfers have one size, so the relative deviation is the same in bytes and in transfers.
            let deviation = Some(rate.deviation_sample * height(one) / rate.median.max(1.0));
            ((one.place, height(one), words(one, set)), (deviation, deviation))
        });
        let slow = these.iter().map(|one| if one.slow == Some(true) { "slow" } else { "" });
        let outlines = these.iter().map(|one| if one.slow == Some(true) { 1.6 } else { 0.0 });
        Trace::bars(set.phase.name(), Look::of_work(set.phase, 0))
            .points_with_errors("y", points)
            .with("x", places(&these))
            .with("text", slow.collect::<Vec<_>>())
            .with("textposition", "outside")
            .outlined(outlines.collect::<Vec<_>>())
    });
    // Grades of device models are in bytes per second.
    let grades = sets.iter().flat_map(|set| &set.grades).filter(|_| unit == BYTES_PER_SECOND);
    let grades = analysis::figures::grouped(grades, |(height, _)| whole(*height));
    let ends = [order[0][0], order[order.len() - 1][0]];
    let levels = grades.iter().map(|same| {
        let (height, grade) = same[0];
        let name = format!("{} {}", rate(*height), grade.name);
        let height = height / divisor(unit);
        Trace::level(&name, "dash", [(0.0, height), (1.0, height)]).with("x", places(&ends))
    });
    let variations = sets.iter().map(|set| {
        let mark = if set.uneven == Some(true) { " (more than 40 %)" } else { "" };
        format!("{} {}{mark}", set.phase, percent(set.variation))
    });
    let variations = variations.collect::<Vec<_>>().join(", ");
    let whose = if first.target.is_empty() { &first.group } else { title(report, &first.target) };
    let how = if first.together { "all together" } else { "one by one" };
    let by = if several { ", by model" } else { "" };
    let heading = format!("{whose}, {how}{}: rate of each device{by}", fixed(&first.fixed));
    let note = format!(
        "Variation, (fastest − slowest) ÷ fastest: {variations}. Framed: slow among those of its model. Whiskers: \
         standard deviation of the repetitions."
    );
    // Names that are numbers stand beside each other like all others.
    let names_axis = match several {
        true => json!({ "showgrid": false }),
        false => json!({ "showgrid": false, "type": "category" }),
    };
    let kind = if first.together || first.target.is_empty() { "devices" } else { "each-device" };
    Chart::new(kind, PLACE, heading, note)
        .of_workload(&first.group)
        .axes(names_axis, axis(column_unit(unit)))
        .traces(bars.chain(levels))
}

/// The parts of several paths in which they differ: `lun0` and `lun1` of `/lustre/lun0/data` and `/lustre/lun1/data`.
fn short_names<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let [first, ..] = names else { return Vec::new() };
    let parts = |name: &&'n str| name.split('/').collect::<Vec<_>>();
    let all: Vec<Vec<&str>> = names.iter().map(parts).collect();
    let alike = |place: &dyn Fn(&[&'n str]) -> Option<&'n str>| {
        all.windows(2).all(|pair| place(&pair[0]).is_some() && place(&pair[0]) == place(&pair[1]))
    };
    let most = all.iter().map(Vec::len).min().unwrap_or(0).saturating_sub(1);
    if names.len() < 2 || most == 0 || !first.starts_with('/') {
        return names.to_vec();
    }
    let before = (0..most).take_while(|&place| alike(&|parts| parts.get(place).copied())).count();
    let after = (0..most - before)
        .take_while(|&place| alike(&|parts| parts.len().checked_sub(place + 1).map(|at| parts[at])))
        .count();
    let cut = |(name, parts): (&&'n str, &Vec<&str>)| {
        let skipped: usize = parts[..before].iter().map(|part| part.len() + 1).sum();
        let left: usize = parts[parts.len() - after..].iter().map(|part| part.len() + 1).sum();
        &name[skipped..name.len() - left]
    };
    names.iter().zip(&all).map(cut).collect()
}

fn words(one: &Member, set: &MemberSet) -> String {
    format!(
        "<b>{}</b> ({}), {}: {}<br>{} of the median of its model, n = {}{}",
        escaped(&one.name),
        escaped(&one.model),
        set.phase,
        rate(one.bytes_per_second.median),
        percent(one.share),
        one.rate().n,
        if one.slow == Some(true) { "<br>slow" } else { "" }
    )
}

/// Measured rates against transfer sizes, with the curve predicted by the fitted seek time.
fn sizes(report: &Report, fits: &[&SeekFit]) -> Chart {
    let fits = &fits[..fits.len().min(LINES_MAX)];
    let sizes = |fit: &SeekFit| fit.points.iter().map(|point| point.bytes).collect::<Vec<f64>>();
    let swept = Axis::new("transfer", "bytes", fits.iter().flat_map(|fit| sizes(fit)).collect());
    let mut data = Vec::new();
    for (place, fit) in fits.iter().enumerate() {
        let before = fits[..place].iter().filter(|other| other.phase == fit.phase).count();
        let look = Look::of_work(fit.phase, before);
        let name = format!("{}{}{}", fit.phase, target(report, "of", &fit.target), fixed(&fit.fixed));
        let points = fit.points.iter().map(|point| {
            let (rate, each) = (rate(point.bytes_per_second), latency(whole(point.time_ns)));
            let words = format!("<b>{}</b><br>{rate} of one device, {each} each", escaped(&name));
            (point.bytes, point.bytes_per_second / 1e6, words)
        });
        data.push(Trace::marks(&format!("{name}: measured"), look).points(points));
        let Some(line) = fit.line() else { continue };
        let at = |bytes: f64| bytes / (line.positioning_ns / 1e9 + bytes / line.bytes_per_second) / 1e6;
        let [seek, half] = [line.positioning_ns, line.positioning_half_ns].map(|nanos| latency(whole(nanos)));
        let name = format!("{name}: seek {seek} ± {half}, then {}", rate(line.bytes_per_second));
        let steps =
            geometric_steps(fit.points[0].bytes, fit.points[fit.points.len() - 1].bytes, fit.points.len());
        data.push(Trace::lines(&name, look).points(steps.map(|bytes| (bytes, at(bytes)))));
    }
    let heading = format!("{}: rate of one device against transfer size", fits[0].group);
    let note = "Points: medians of the repetitions that count. Lines: bytes ÷ (seek time + bytes ÷ rate), fitted to them.";
    Chart::new("seek", PLACE, heading, note).axes(swept.layout(), axis("MB/s")).traces(data)
}

/// Predicted and measured rates of one phase against block sizes.
fn by_block(report: &Report, points: &[&StripPoint]) -> Chart {
    let place =
        |one: &StripPoint| format!("{}<br>{}", plan::Bytes(one.block), escaped(title(report, &one.target)));
    let series = |word: &str, of: fn(&StripPoint) -> Option<f64>| {
        let told = |bytes: f64| format!("{word} {}", rate(bytes));
        let point = |one: &&StripPoint| {
            (place(one), of(one).map(|bytes| bytes / 1e6), of(one).map(told).unwrap_or_default())
        };
        points.iter().map(point).collect::<Vec<_>>()
    };
    let phase = points[0].phase;
    let bars = Trace::bars("measured", Look::of_work(phase, 0));
    let measured = bars.points(series("measured", |one| one.measured));
    let look = Look { symbol: "diamond-open", ..TEXT_COLOUR.into() };
    let predicted = Trace::marks("predicted", look).with("marker.size", 10);
    let predicted = predicted.points(series("predicted", |one| Some(one.predicted)));
    let heading = format!("{phase}: file systems by block size, predicted from one device and measured");
    let note = "Predicted: devices × the rate of one at strips of block ÷ devices.";
    Chart::new("strips", PLACE, heading, note)
        .half(true)
        .axes(names(), axis("MB/s"))
        .traces([measured, predicted])
}

/// A layer and its figure.
type Step<'a> = (&'a Figure, &'a Layer);

/// One chart for each workload, phase and stack of layers, at the settings where the lowest layer is fastest; none
/// where a layer is withheld.
fn layers(report: &Report) -> Vec<Chart> {
    let steps = report.found.layers.iter().filter_map(|stack| {
        let steps = stack.iter().map(|one| Some((report.figures.get(one.figure())?, one.says()?)));
        steps.collect::<Option<Vec<Step<'_>>>>()
    });
    steps.filter(|stack| stack[0].1.best).map(|stack| waterfall(report, &stack)).collect()
}

fn waterfall(report: &Report, stack: &[Step<'_>]) -> Chart {
    let (first, (last, highest)) = (stack[0].0, stack[stack.len() - 1]);
    let unit = first.shown_unit();
    let rate = |(figure, _): &Step<'_>| figure.spread_in(unit).median / divisor(unit);
    // The bar of a layer starts at the rate of the layer below and extends to its own.
    let below = |place: usize| place.checked_sub(1).map_or(0.0, |below| rate(&stack[below]));
    let points = stack.iter().enumerate().map(|(place, step)| {
        // A difference that was not shown is drawn as none.
        let is_step = place == 0 || step.1.loss.is_some();
        (
            escaped(title(report, &step.1.target)),
            if is_step { rate(step) - below(place) } else { 0.0 },
            step_words(report, step),
            step.0.number,
        )
    });
    let shown = stack.iter().map(|(figure, layer)| match layer.loss {
        Some(loss) => format!("{} ({})", headline(figure), signed(-loss)),
        None => headline(figure),
    });
    let steps = Trace::bars("rate", Look::of_work(first.phase, 0))
        .with("base", (0..stack.len()).map(below).collect::<Vec<_>>())
        .with("text", shown.collect::<Vec<_>>())
        .with("textposition", "outside")
        .with("cliponaxis", false)
        .outlined(0.6);
    let at = point(&first.settings);
    let at = if at.is_empty() { first.phase.name().to_owned() } else { format!("{}, {at}", first.phase) };
    let heading = format!("{}, {at}: from the device to the application", first.group);
    let left = highest
        .share
        .map(|left| format!(" {} of the lowest layer's rate is left at the highest.", percent(left)));
    let note = format!("{}.{}", last.conditions, left.unwrap_or_default());
    Chart::new("layers", "layers", heading, note)
        .half(stack.len() <= 4)
        .axes(names(), axis(column_unit(unit)))
        .traces([steps.points(points)])
}

fn step_words(report: &Report, (figure, layer): &Step<'_>) -> String {
    let target = escaped(title(report, &layer.target));
    let mut text = format!("<b>{target}</b>: {}", headline(figure));
    if let Some(loss) = layer.loss {
        text.push_str(&format!("<br>loss {}", signed(loss)));
    }
    if let Some(seconds) = layer.cpu_seconds_per_gb {
        text.push_str(&format!("<br>{seconds:.3} s of processor time for each GB"));
    }
    if let Some(share) = layer.cache_share {
        text.push_str(&format!("<br>caches {}", percent(share)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::short_names;

    #[test]
    fn paths_are_named_by_what_differs() {
        let of = |names: &[&'static str]| short_names(names);
        assert_eq!(of(&["/lustre/lun0/data", "/lustre/lun1/data"]), ["lun0", "lun1"]);
        assert_eq!(of(&["/mnt/a", "/mnt/b/c"]), ["a", "b/c"]);
        assert_eq!(of(&["/a/x/1", "/b/x/1"]), ["a", "b"]);
        assert_eq!(of(&["/mnt/a", "/mnt/a/b"]), ["a", "a/b"]);
        assert_eq!(of(&["nvme0n1", "nvme1n1"]), ["nvme0n1", "nvme1n1"]);
        assert_eq!(of(&["/dev/sda"]), ["/dev/sda"]);
        assert_eq!(of(&[]), Vec::<&str>::new());
    }
}
