//! What there is to say of the made-up study: findings that the tests put together by hand, so that
//! every form is tested with every kind of finding.

use analysis::{
    Check, Curve, CurvePoint, CurveRegression, Dips, Dispersion, DispersionPoint, Doubt, Figure, Findings,
    Shape, Stated,
};
use plan::{Case, Client, Phase, RateName, Setting};
use record::Run;

/// What there is to say of `figures` of [`study`].
pub(crate) fn findings(run: &Run, figures: &[Figure]) -> Findings {
    let curves = curves(run, figures);
    let plain = analysis::findings_of(run, figures);
    let find = |group: &str, target: &str, phase: Phase| {
        let best = plain.best.iter().map(Stated::figure);
        let is = |own: &Figure| own.group == group && own.target == target && own.phase == phase;
        best.into_iter().find(|&place| is(&figures[place])).expect("a best")
    };
    let gpfs = find("layouts", "gpfs-1m", Phase::Read);
    let ladder = find("ladder", "xfs", Phase::Read);
    let regressions = curves.iter().position(|curve| curve.axis == "tasks").into_iter();
    Findings {
        nodes: plain.nodes,
        node_grids: plain.node_grids,
        weak_scaling: plain.weak_scaling,
        layer_crossovers: plain.layer_crossovers,
        covered_jobs: plain.covered_jobs,
        covered_nodes: plain.covered_nodes,
        regressions: regressions
            .map(|curve| CurveRegression {
                curve,
                slope: 61e6,
                slope_half_width: 22e6,
                intercept: 14e9,
                r_squared: 0.93,
            })
            .collect(),
        best: plain.best,
        scaling: plain.scaling,
        taxes: plain.taxes,
        consistency: plain.consistency,
        costs: plain.costs,
        placements: plain.placements,
        overlays: Vec::new(),
        coincident: Vec::new(),
        peaks: vec![analysis::Peaks {
            first: 0,
            second: 1,
            first_transfers_per_second: 26_900.0,
            second_transfers_per_second: 27_400.0,
            apart: Some(0.5 / 27.4),
        }],
        jobs: plain.jobs,
        job_costs: plain.job_costs,
        iops: plain.iops,
        expected: plain.expected,
        bounds: plain.bounds,
        verdicts: plain.verdicts,
        claims: plain.claims,
        published: plain.published,
        dispersion: vec![dispersion(run, figures)],
        limits: plain.limits,
        audit: vec![
            Doubt {
                check: Check::Unbalanced,
                figure: Some(gpfs),
                concerns: figures[gpfs].conditions.clone(),
                evidence: "33 tasks over 12 targets: at most 91.7 % of the sum".to_owned(),
                advice: "use a multiple of 12".to_owned(),
            },
            Doubt {
                check: Check::TooShort,
                figure: Some(ladder),
                concerns: figures[ladder].conditions.clone(),
                evidence: "10 s of the 60 s that the study asks for".to_owned(),
                advice: "set a longer duration".to_owned(),
            },
        ],
        curves,
        ..Findings::default()
    }
}

fn case_of<'a>(run: &'a Run, figure: &Figure) -> &'a Case {
    run.manifest.plan.cases.iter().find(|case| *case.id == *figure.case).expect("a case")
}

fn curves(run: &Run, figures: &[Figure]) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for (index, figure) in figures.iter().enumerate() {
        let case = case_of(run, figure);
        for axis in case.settings.iter().filter(|one| one.value.on_axis().is_some()) {
            let fixed: Vec<Setting> = case
                .settings
                .iter()
                .filter(|one| one.key != axis.key && one.key != "target")
                .cloned()
                .collect();
            let same = |one: &Curve| {
                one.group == case.group
                    && one.target == case.target
                    && one.phase == figure.phase
                    && one.axis == axis.key
                    && one.fixed == fixed
            };
            let at = curves.iter().position(same).unwrap_or_else(|| {
                curves.push(Curve {
                    group: case.group.clone(),
                    target: case.target.clone(),
                    client: Client::LocalToServer,
                    phase: figure.phase,
                    axis: axis.key.clone(),
                    fixed: fixed.clone(),
                    points: Vec::new(),
                    shape: Shape::default(),
                });
                curves.len() - 1
            });
            let tasks = case.workload.tasks;
            let latency = figure.latency.first().map(|one| one.latency.mean_ns());
            let rate = figure.transfers_per_second.median;
            curves[at].points.push(CurvePoint {
                figure: index,
                usable: true,
                at: axis.value.clone(),
                x: axis.value.on_axis().expect("a number"),
                rate: figure.bytes_per_second.median,
                bytes_per_second: figure.bytes_per_second.median,
                transfers_per_second: rate,
                repetitions: figure.bytes_per_second.n,
                mean: figure.bytes_per_second.mean,
                deviation: figure.bytes_per_second.deviation_sample,
                latency_mean_ns: latency,
                little: latency.map(|mean| rate * mean / 1e9 / f64::from(tasks)),
                balance_bound: if tasks.is_multiple_of(12) || case.group != "layouts" { 1.0 } else { 0.917 },
            });
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let top = (0..curve.points.len())
            .max_by(|&a, &b| curve.points[a].bytes_per_second.total_cmp(&curve.points[b].bytes_per_second));
        curve.shape.peak = top;
        if curve.axis == "tasks" {
            curve.shape.knee = Some(curve.points[2].x);
            curve.shape.plateau = Some((curve.points[2].x, curve.points[4].x));
            curve.shape.reaches_90 = Some(curve.points[2].x);
            curve.shape.reaches_95 = Some(curve.points[3].x);
            curve.shape.spread_beyond = Some(0.021);
        }
        if curve.axis == "read_percent" {
            curve.shape.sweet_spot = Some(70.0);
            curve.shape.dips = Some(Dips { period: 20.0, depth: 0.12 });
        }
    }
    curves
}

fn dispersion(run: &Run, figures: &[Figure]) -> Dispersion {
    let points = figures.iter().enumerate().filter(|(_, figure)| case_of(run, figure).group == "sizes");
    let point = |(index, figure): (usize, &Figure)| {
        let case = case_of(run, figure);
        DispersionPoint {
            figure: index,
            x: case.settings[0].value.on_axis().expect("a size"),
            repetitions: figure
                .repetitions
                .iter()
                .map(|one| one.rates.get(RateName::ByWall).expect("a rate").bytes_per_second)
                .collect(),
            variation: figure.bytes_per_second.variation,
            seconds: 3.5 * index as f64 / 10.0,
            bytes_per_task: case.workload.geometry.bytes_per_task().0,
        }
    };
    Dispersion {
        group: "sizes".to_owned(),
        target: "xfs".to_owned(),
        phase: Phase::Write,
        axis: "size".to_owned(),
        points: points.map(point).collect(),
        onset: Some((800_u64 << 30) as f64),
        worst_seconds: 88.0,
    }
}
