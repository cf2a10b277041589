"""An ioproof study as an application of Ramble: every figure is a context with figures of merit.

Copy the directory above into an object repository of yours (`ramble repo add`), and set `study`
and `overrides` in the workspace; ramble.yaml beside it is an example. The figures of merit are read
from OpenMetrics text, whose lines are a standard.

A shell reads the commands after Ramble has put the values in: paths stand in single quotes, so that
they may hold anything but a single quote. `overrides` are words of a shell, quoted by who sets them.
"""

from ramble.appkit import *


class Ioproof(ExecutableApplication):
    """Measures storage by an ioproof study and keeps the record."""

    name = "ioproof"

    tags("storage", "benchmark-app")

    executable(
        "measure",
        template=["'{ioproof}' run '{study}' --yes --out '{experiment_run_dir}/record' {overrides}"],
        use_mpi=False,
    )
    executable(
        "report",
        template=[
            "'{ioproof}' report '{experiment_run_dir}/record'"
            " --format openmetrics --output '{experiment_run_dir}/figures.om'"
        ],
        use_mpi=False,
    )

    # Without a baseline nothing is compared. The exit code is 8 where a value is beyond its limit, and 10 where that
    # cannot be told.
    executable(
        "compare",
        template=[
            "if [ -n '{baseline}' ]; then '{ioproof}' compare '{baseline}' '{experiment_run_dir}/record'"
            " --verdict >'{experiment_run_dir}/compared.txt'; else true; fi;"
            " echo \"exit status $?\" >>'{experiment_run_dir}/compared.txt'"
        ],
        use_mpi=False,
    )

    workload("study", executables=["measure", "report", "compare"])

    workload_variable(
        "ioproof", default="ioproof", description="The program", workloads=["study"]
    )
    workload_variable(
        "study", default="study.toml", description="The study file", workloads=["study"]
    )
    workload_variable(
        "baseline",
        default="",
        description="The record of an earlier run of the study, with which this one is compared",
        workloads=["study"],
    )
    workload_variable(
        "overrides",
        default="",
        description="Values of the study that are set from outside, each as --set KEY=VALUE",
        workloads=["study"],
    )

    figures = "{experiment_run_dir}/figures.om"
    of_figure = r'\{case="(?P<case>[^"]*)",.*phase="(?P<phase>[^"]*)"'
    number = r"(?P<value>[0-9.]+)$"

    figure_of_merit_context(
        "figure", regex=r"ioproof_\w+" + of_figure, output_format="{case} {phase}"
    )

    figure_of_merit(
        "bandwidth (median by wall time)",
        log_file=figures,
        fom_regex=r"ioproof_bandwidth_bytes_per_second\{.*statistic=\"median\"\} " + number,
        group_name="value",
        units="B/s",
        contexts=["figure"],
    )
    figure_of_merit(
        "transfers (median by wall time)",
        log_file=figures,
        fom_regex=r"ioproof_completed_transfers_per_second\{.*statistic=\"median\"\} " + number,
        group_name="value",
        units="1/s",
        contexts=["figure"],
    )
    figure_of_merit(
        "latency p99",
        log_file=figures,
        fom_regex=r"ioproof_latency_seconds\{.*measure=\"response\",quantile=\"0.99\"\} " + number,
        group_name="value",
        units="s",
        contexts=["figure"],
    )
    figure_of_merit(
        "warnings",
        log_file=figures,
        fom_regex=r"ioproof_warnings\{.*\} " + number,
        group_name="value",
        units="",
        contexts=["figure"],
    )

    success_criteria(
        "the record is whole",
        mode="string",
        match=r"ioproof_run_missing 0$",
        file=figures,
    )
    success_criteria(
        "nothing is worse than in the baseline",
        mode="string",
        match=r"exit status 0$",
        file="{experiment_run_dir}/compared.txt",
    )
