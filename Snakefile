"""Every figure from one command: `snakemake figure3`, `snakemake all --config scale=smoke`."""

import os
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")

# No limit of jobs in a second, which is never met: Snakemake 9 keeps it by a timer for each job that ended, which looks for
# new jobs once a second from then on. With many jobs that takes a core; with a longer timespan every run ends so much later.
if workflow.scheduling_settings:
    workflow.scheduling_settings.max_jobs_per_timespan = None

sys.path.insert(0, str(Path(workflow.basedir, "src")))

from localentropy import workflow as steps
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
    module=r"[a-z][a-z0-9_]*",
    part=r"\d+",
    parts=r"\d+",


include: "rules/outputs.smk"
include: "rules/data.smk"
include: "rules/pipeline.smk"
