"""An ioproof study as a ReFrame test: every figure of the study is a performance variable.

    reframe -c ioproof_check.py -r --performance-report \
        -S IoproofStudy.study=/path/to/study.toml \
        -S IoproofStudy.overrides=target.disk.directory=/mnt/scratch

Each figure has three variables, named after its case and phase: NAME_bandwidth in MB/s (10^6
bytes) and NAME_rate in transfers/s, both medians over the repetitions by wall time, and NAME_p99
in ms, the 99th percentile of the latency. References stand in a JSON file in ReFrame's own form:

    {"*": {"stream_write_bandwidth": [500, -0.1, null, "MB/s"]}}

The test fails where the run is not whole, where a figure misses its reference, and where the page
cache answered, unless accept_page_cache says that this is what is wanted. With a baseline, an earlier
record of the same study, it fails by the exit code of `ioproof compare`: 8 where a value is beyond its
limit, 10 where that cannot be told, unless allow_untold is set.
"""

import json
import os
import re
import shlex

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_before, sanity_function, variable

RECORD = "record"
REPORT = "report.json"
COMPARED = "compared.txt"


@rfm.simple_test
class IoproofStudy(rfm.RunOnlyRegressionTest):
    descr = "storage measured by an ioproof study"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None
    executable = "ioproof"

    # The study file, with its full path.
    study = variable(str)
    # Values of the study that are set from outside, each as KEY=VALUE.
    overrides = variable(typ.List[str], value=[])
    # A JSON file with references, with its full path.
    references = variable(str, value="")
    # The record of an earlier run, with its full path, and the limits of changes: all rates and mean
    # latencies within 5 % if there are none.
    baseline = variable(str, value="")
    limits = variable(typ.List[str], value=[])
    allow_untold = variable(bool, value=False)
    # Whether figures that memory answered are accepted.
    accept_page_cache = variable(bool, value=False)

    @run_before("run")
    def measure(self):
        self.executable_opts = ["run", shlex.quote(self.study), "--yes", "--out", RECORD]
        for override in self.overrides:
            self.executable_opts += ["--set", shlex.quote(override)]
        report = [self.executable, "report", RECORD, "--format", "json", "--output", REPORT]
        self.postrun_cmds = [" ".join(report)]
        if self.baseline:
            compare = [self.executable, "compare", shlex.quote(self.baseline), RECORD]
            for limit in self.limits:
                compare += ["--fail-if", shlex.quote(limit)]
            if not self.limits:
                compare += ["--verdict"]
            if self.allow_untold:
                compare += ["--allow-untold"]
            self.postrun_cmds += [f"{' '.join(compare)} >{COMPARED}; echo \"exit status $?\" >>{COMPARED}"]

    @sanity_function
    def the_run_is_whole(self):
        report = self.read()
        cached = [name for name, figure in figures(report) if figure["page_cache"]]
        compared = "exit status 0"
        if self.baseline:
            with open(os.path.join(self.stagedir, COMPARED), encoding="utf-8") as file:
                compared = file.read()
        return sn.all([
            sn.assert_true(compared.endswith("exit status 0\n") or not self.baseline, compared),
            sn.assert_eq(report["run"]["state"], "complete", "the run is {0}"),
            sn.assert_eq(report["missing"], [], "the report lacks: {0}"),
            sn.assert_true(report["figures"], "the study has no figure"),
            sn.assert_true(self.accept_page_cache or not cached, f"memory answered: {cached}"),
        ])

    @run_before("performance")
    def take_figures(self):
        for name, figure in figures(self.read()):
            self.take(f"{name}_bandwidth", figure["bytes_per_second"]["median"] / 1e6, "MB/s")
            self.take(f"{name}_rate", figure["transfers_per_second"]["median"], "transfers/s")
            latencies = [one for one in figure["latency"] if one["measure"] == "response"]
            for one in latencies:
                of = f"_{one['operation']}" if len(latencies) > 1 else ""
                self.take(f"{name}{of}_p99", one["p99_ns"] / 1e6, "ms")
        if self.references:
            with open(self.references, encoding="utf-8") as file:
                systems = json.load(file)
            self.reference = {
                system: {name: tuple(limits) for name, limits in variables.items()}
                for system, variables in systems.items()
            }

    def take(self, name, value, unit):
        self.perf_variables[name] = sn.make_performance_function(sn.defer(value), unit)

    def read(self):
        with open(os.path.join(self.stagedir, REPORT), encoding="utf-8") as file:
            return json.load(file)


def figures(report):
    """Names and figures; ReFrame parts the names of references at colons, so they have none."""
    for figure in report["figures"]:
        yield re.sub(r"[^A-Za-z0-9_.=-]+", "_", f"{figure['case']}_{figure['phase']}"), figure
