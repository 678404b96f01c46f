"""`archive`: the tables, figures and scorecards of a run, the report, and how they were made, for a data repository."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from localentropy import __version__
from localentropy.commands import article
from localentropy.errors import ArtifactError, LocalEntropyError
from localentropy.pipeline import artifacts, provenance
from localentropy.pipeline.archive import SUMS, write_sums
from localentropy.pipeline.computations import ADDRESS, RESULTS, ExperimentJob
from localentropy.pipeline.config import ROOT, Configuration, override_words
from localentropy.pipeline.jobs import output_jobs, table_jobs, with_sources
from localentropy.pipeline.outputs import FIGURES, OutputJob

COPIED = ("CITATION.cff", "LICENSE", "requirements.lock", "environment.yml", "config")
"""What of the repository is in an archive as it is."""
README = """\
# Results of localentropy {version}

{description}. This folder has the results of the run `{run}`, at the scale `{scale}`, of the code `{code}`.
{changed}
- `results/<paper>/<experiment>/<hash>.parquet`: {tables} tables of numbers. The hash is that of what the table is made
  from. Its parameters and its code are in the metadata of the file. `.json` beside it has the machine and the time.
- `figures/<paper>/`: {figures} figures and scorecards. A figure has its picture (`.png`, `.pdf`), the plotted numbers
  (`.csv`), how they are drawn (`.look.json`), and the record with caption, settings and checksums (`.json`).
- `article.html`, `article.pdf`: the replication report, with every figure, every verdict with its conditions, and all
  values that were chosen here.
- `config/`: the shipped configuration. (T) marks a value of the text, (C) a value chosen here.
- `requirements.lock`, `environment.yml`: the packages.
- `codemeta.json`, `CITATION.cff`, `LICENSE`: what this is, how to cite it, the licence.
- `{sums}`: the checksum of every other file.

A table is read by `pandas.read_parquet`, a CSV by any program. To check the files:

    sha256sum --check --quiet {sums}         # in this folder
    python -m localentropy verify FOLDER     # in a checkout of the code; it also finds files that do not belong here

A run in a checkout of the same code takes the tables from here in place of computing them, and checks each:

    make all scorecard SCALE={scale} SET='{values}data.archive=FOLDER'
"""


def pack(folder: Path, configuration: Configuration) -> Path:
    """Write the archive of a run whose figures and scorecards were made.

    Args:
        folder: where to. An earlier archive is replaced.
        configuration: of the run.

    Returns:
        The folder.

    Raises:
        LocalEntropyError: the folder holds something else; or a table, a figure or a scorecard is missing or damaged.
    """
    if folder.is_symlink() or folder.is_file() or (folder.exists() and any(folder.iterdir()) and not _old(folder)):
        raise LocalEntropyError(f"{folder}: no archive; allowed: a new folder, an empty one, an earlier archive")
    outputs = list(output_jobs(configuration))
    read = [name for job in outputs for name in job.tables]
    tables = list(table_jobs(configuration, with_sources(configuration, read)))
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        for job in tables:
            _copy_table(job, partial)
        for output in outputs:
            _copy_output(output, partial)
        article.write(partial, configuration)
        for name in COPIED:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile)(ROOT / name, partial / name)
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
        about = json.dumps(codemeta(project, citation), indent=2, ensure_ascii=False)
        (partial / "codemeta.json").write_text(about + "\n", encoding="utf-8")
        (partial / "README.md").write_text(_readme(configuration, project, tables, outputs), encoding="utf-8")
        write_sums(partial)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def codemeta(project: Mapping[str, Any], citation: Mapping[str, Any]) -> dict[str, Any]:
    """The description of the software in the terms of CodeMeta, from pyproject.toml and CITATION.cff."""
    papers = [reference for reference in article.sources(citation) if reference["type"] == "article"]
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": project["name"],
        "version": __version__,
        "description": project["description"],
        "license": f"https://spdx.org/licenses/{project['license']}",
        "author": [{"@type": "Organization", "name": author["name"]} for author in project["authors"]],
        "keywords": project["keywords"],
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {project['requires-python']}",
        "softwareRequirements": project["dependencies"],
        "referencePublication": [
            {
                "@type": "ScholarlyArticle",
                "name": source["title"],
                "identifier": source["notes"].partition(",")[0],
                "author": [
                    {"@type": "Person", "givenName": one["given-names"], "familyName": one["family-names"]}
                    for one in source["authors"]
                ],
            }
            for source in papers
        ],
    }


def _old(folder: Path) -> bool:
    return (folder / SUMS).is_file() and (folder / "codemeta.json").is_file()


def _copy_table(job: ExperimentJob, folder: Path) -> None:
    """Copy a table and its record to its address. That of a committed table is the hash of its own stamp."""
    file, stamp = job.source
    if artifacts.read_table(file).stamp.origin != stamp.origin:
        raise ArtifactError(f"{file}: holds another result")
    copy = folder / RESULTS / job.name / f"{stamp.origin[:ADDRESS]}.parquet"
    for suffix in (".parquet", ".json"):
        artifacts.publish(file.with_suffix(suffix), copy.with_suffix(suffix))


def _copy_output(job: OutputJob, folder: Path) -> None:
    job.require_whole()
    copy = folder / FIGURES / job.place(job.target)
    for suffix in job.suffixes:
        artifacts.publish(job.stem.with_suffix(suffix), copy.with_suffix(suffix))


def _readme(
    configuration: Configuration, project: Mapping[str, Any], tables: list[ExperimentJob], outputs: list[OutputJob]
) -> str:
    words = [word for word in override_words(configuration) if not word.startswith(("scale=", "run="))]
    changed = f"\nValues that are not the shipped ones: `{' '.join(words)}`.\n" if words else ""
    return README.format(
        version=__version__,
        description=project["description"],
        run=configuration.folder,
        scale=configuration.scale,
        code=provenance.git_describe() or "unknown",
        changed=changed,
        tables=len(tables),
        figures=len(outputs),
        sums=SUMS,
        values="".join(f"{word} " for word in words),
    )
