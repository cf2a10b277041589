//! What there is to say of the made-up study: findings that the tests put together by hand, so that
//! every form is tested with every kind of finding.

use analysis::{
    Beside, Check, ClaimVerdict, Curve, CurvePoint, CurveRegression, Dips, Dispersion, DispersionPoint,
    Doubt, Expected, Figure, Findings, Judgement, Shape, Standing, Stated, Verdict, WeakestLink,
};
use plan::{Amount, Case, Client, Phase, RateName, Setting};
use record::Run;

use super::study::count;

/// What there is to say of `figures` of [`study`].
pub(crate) fn findings(run: &Run, figures: &[Figure]) -> Findings {
    let curves = curves(run, figures);
    let plain = analysis::findings_of(run, figures);
    let find = |group: &str, target: &str, phase: Phase| {
        let best = plain.best.iter().map(Stated::figure);
        let is = |own: &Figure| own.group == group && own.target == target && own.phase == phase;
        best.into_iter().find(|&place| is(&figures[place])).expect("a best")
    };
    let (xfs, gpfs) = (find("layouts", "xfs", Phase::Read), find("layouts", "gpfs-1m", Phase::Read));
    let ladder = find("ladder", "xfs", Phase::Read);
    let verdict = |commitment, judgement, figure, measured: Option<f64>, margin, because: &[&str]| Verdict {
        commitment,
        judgement,
        figure,
        measured,
        margin,
        bound: measured.map(|measured| (measured * 0.98, 0.75)),
        because: because.iter().map(|&why| why.to_owned()).collect(),
    };
    let fast = figures[xfs].bytes_per_second.median;
    let ladder_rate = figures[ladder].transfers_per_second.median;
    let regressions = curves.iter().position(|curve| curve.axis == "tasks").into_iter();
    Findings {
        nodes: plain.nodes,
        node_grids: plain.node_grids,
        weak_scaling: plain.weak_scaling,
        layer_crossovers: plain.layer_crossovers,
        coverage: plain.coverage,
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
        jobs: analysis::jobs(&run.manifest.plan, figures),
        iops: analysis::iops_table(&run.manifest.plan, figures, &[]),
        expected: vec![
            Expected {
                figure: xfs,
                name: "data sheet".to_owned(),
                amount: Amount::BytesPerSecond(33.6e9),
                ratio: fast / 33.6e9,
                ceiling: false,
                in_time: None,
                reached: None,
                source: "the vendor's data sheet".to_owned(),
            },
            Expected {
                figure: gpfs,
                name: "controller".to_owned(),
                amount: Amount::BytesPerSecond(26e9),
                ratio: figures[gpfs].bytes_per_second.median / 26e9,
                ceiling: true,
                in_time: None,
                reached: Some("the controller is the limit".to_owned()),
                source: "manual, table 3".to_owned(),
            },
        ],
        bounds: [(1, 1.25e9), (4, 5e9), (8, 10e9)]
            .into_iter()
            .map(|(nodes, least)| WeakestLink {
                target: "gpfs-1m".to_owned(),
                phase: None,
                random: Some(false),
                transfer: None,
                nodes,
                limits: vec![
                    ("node link".to_owned(), Amount::BytesPerSecond(least)),
                    ("servers".to_owned(), Amount::BytesPerSecond(120e9)),
                ],
                weakest: "node link".to_owned(),
                amount: Amount::BytesPerSecond(least),
                efficiency: (nodes == 1).then_some(0.97),
            })
            .collect(),
        verdicts: vec![
            verdict(0, Judgement::Pass, Some(xfs), Some(fast), Some(fast / 30e9 - 1.0), &[]),
            verdict(1, Judgement::Fail, Some(xfs), Some(fast), Some(fast / 40e9 - 1.0), &[]),
            verdict(
                2,
                Judgement::Doubtful,
                Some(ladder),
                Some(ladder_rate),
                Some(ladder_rate / 1e6 - 1.0),
                &["the phase took 10 s, less than the 60 s that the study asks for"],
            ),
            verdict(3, Judgement::NotTested, None, None, None, &["no read of layouts has latencies"]),
        ],
        claims: vec![
            ClaimVerdict {
                id: "made-up-claim-1".to_owned(),
                text: "Twelve file systems are faster than one striped volume.".to_owned(),
                source: "Made-up study (2016)".to_owned(),
                standing: Standing::Holds,
                evidence: "33.0 GB/s (xfs) > 32.1 GB/s (md)".to_owned(),
                relation: Some(plan::Relation::Greater),
            },
            ClaimVerdict {
                id: "own".to_owned(),
                text: "Blocks of 1 MiB are better than 4 MiB.".to_owned(),
                source: String::new(),
                standing: Standing::DoesNotHold,
                evidence: "27.0 GB/s (gpfs-1m) < 29.4 GB/s (gpfs-4m)".to_owned(),
                relation: Some(plan::Relation::Greater),
            },
            ClaimVerdict {
                id: "made-up-claim-3".to_owned(),
                text: "Remote clients reach the same.".to_owned(),
                source: "Made-up study (2016)".to_owned(),
                standing: Standing::NotTested,
                evidence: "no target has remote clients".to_owned(),
                relation: None,
            },
        ],
        published: published(xfs, fast, ladder, ladder_rate),
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

fn published(xfs: usize, fast: f64, ladder: usize, rate: f64) -> Vec<Beside> {
    let beside =
        |id: &str, figure, at, published: f64, own: f64, unit: &str, printed: &str, misprint: &str| Beside {
            id: id.to_owned(),
            figure: Some(figure),
            at,
            group: Some(if unit == "ops/s" { "ladder" } else { "layouts" }.to_owned()),
            target: Some("xfs".to_owned()),
            phase: Some(Phase::Read),
            published,
            own: Some(own),
            unit: unit.to_owned(),
            ratio: Some(own / published),
            as_published: printed.to_owned(),
            statistic: "best".to_owned(),
            misprint: misprint.to_owned(),
            source: "Made-up study (2016), table 2".to_owned(),
        };
    vec![
        beside("made-up-best-read", xfs, Vec::new(), 33.0e9, fast, "bytes/s", "33.0 GB/s", ""),
        beside(
            "made-up-job-17-iops",
            ladder,
            vec![count("tasks", 16)],
            180_000.0,
            rate,
            "ops/s",
            "80,000",
            "printed without its first digit",
        ),
    ]
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
