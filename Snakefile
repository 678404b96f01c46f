"""Every figure from one command: `snakemake figure3`, `snakemake all --config scale=smoke`. `snakemake` alone says more."""

import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")

# Where this file lies. In the workflow of somebody else it is a module, and `basedir` is the folder of that workflow.
HERE = str(workflow.current_basedir)

sys.path.insert(0, str(Path(HERE, "src")))

from localentropy import environment

environment.adopt_for_jobs()

from localentropy.pipeline import workflow as steps
from localentropy.pipeline.computations import ADDRESS
from localentropy.errors import LocalEntropyError

try:
    pipeline = steps.Pipeline(workflow, config if HERE != workflow.basedir else None)
except LocalEntropyError as error:
    steps.stop(error)

# The packages of every job. In a path, Snakemake takes a word in braces for a wildcard.
ENVIRONMENT = str(Path(HERE, "environment.yml")).replace("{", "{{").replace("}", "}}")

# What the templates of the report show.
config["captions"] = pipeline.captions()
config["scale_of_report"] = pipeline.configuration.scale


report: "docs/report/workflow.rst"


wildcard_constraints:
    paper=r"[a-z]+",
    name=r"[a-z][a-z0-9_]*",
    module=r"(?!scorecard\b)[a-z][a-z0-9_]*",
    origin=rf"[0-9a-f]{{{ADDRESS}}}",
    part=r"\d+",
    parts=r"\d+",


# Snakemake 9 keeps its limit of jobs a second, which is never met here, by a timer for each job that ended: from then on it
# looks for new jobs once a second, which takes a core where there were many, and with a longer span ends so much later.
onstart:
    workflow.scheduler.job_rate_limiter = None


onerror:
    pipeline.fail()


# The first rule is what `snakemake` without a target makes: it says what can be made. Rules of included files do not count.
rule help:
    input:
        pipeline.tell_targets,


rule all:
    "every figure of every paper"
    input:
        pipeline.files("all"),


include: "rules/outputs.smk"
include: "rules/data.smk"
include: "rules/pipeline.smk"


try:
    pipeline.require_targets()
    pipeline.prepare()
except LocalEntropyError as error:
    steps.stop(error)
