"""Every figure from one command: `snakemake figure3`, `snakemake all --config scale=smoke`."""

import os
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")

sys.path.insert(0, str(Path(workflow.basedir, "src")))

from localentropy.pipeline import workflow as steps
from localentropy.errors import LocalEntropyError

# Jobs run the Python that runs Snakemake, and this checkout's package.
for variable, folder in (
    ("PATH", str(Path(sys.executable).parent)),
    ("PYTHONPATH", sys.path[0]),
):
    os.environ[variable] = os.pathsep.join(
        filter(None, [folder, os.environ.get(variable)])
    )

try:
    pipeline = steps.Pipeline(workflow)
except LocalEntropyError as error:
    steps.stop(error)

FOLDER = pipeline.configuration.folder

# What the templates of the report show.
config["captions"] = pipeline.captions()
config["scale_of_report"] = pipeline.configuration.scale


report: "docs/report/workflow.rst"


wildcard_constraints:
    paper=r"[a-z]+",
    name=r"[a-z][a-z0-9_]*",
    module=r"(?!scorecard\b)[a-z][a-z0-9_]*",
    part=r"\d+",
    parts=r"\d+",


# Snakemake 9 keeps its limit of jobs a second, which is never met here, by a timer for each job that ended: from then on it
# looks for new jobs once a second, which takes a core where there were many, and with a longer span ends so much later.
onstart:
    workflow.scheduler.job_rate_limiter = None


onsuccess:
    pipeline.succeed()


TARGETS = pipeline.target_files()


# The first rule is what `snakemake` without a target makes. Rules of included files do not count.
rule all:
    input:
        [TARGETS[target] for target in pipeline.configuration.figures],


include: "rules/outputs.smk"
include: "rules/data.smk"
include: "rules/pipeline.smk"
