"""`python -m localentropy`: every step of the pipeline as an ordinary command, and a look at what it made."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from localentropy.errors import ConfigError, LocalEntropyError
from localentropy.pipeline.machine import open_closed_streams, output, refusals

if TYPE_CHECKING:
    from localentropy.pipeline.config import Configuration

LAST_PORT = 65535
INTERRUPTED = 130
"""Exit status after Ctrl-C, by Typer and by custom."""


class _Commands(TyperGroup):
    """The commands. A word that is none is refused with the nearest one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands:
            from localentropy.pipeline.config import require_known

            require_known(args[0], list(self.commands), "command")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Commands,
    help="Wide flat minima: compute experiments, draw figures, see how a file was made. "
    "localentropy --version prints the version.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _in_its_root(context: typer.Context) -> None:
    """Commands read and write below the working directory."""
    from localentropy.pipeline.checkout import require_root

    # A job of the pipeline is where `snakemake --directory` has put it.
    require_root(anywhere=context.invoked_subcommand in ("show", "diff") or "--job" in sys.argv)


Scale = Annotated[str | None, typer.Option("--scale", help="smoke, default or paper")]
Overrides = Annotated[
    list[str] | None, typer.Option("--config", help="values, e.g. franz_parisi.inv_alpha=1.5 margins.typical.points=9")
]
Files = Annotated[
    list[Path] | None, typer.Option("--configfile", help="YAML files laid over the shipped configuration")
]
Run = Annotated[str | None, typer.Option("--run", help="name of the run: its results go to <scale>-<name>")]
Log = Annotated[Path | None, typer.Option("--log", help="write the lines of progress there")]
Job = Annotated[str | None, typer.Option("--job", help="the resolved job as JSON, from the pipeline", hidden=True)]


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(help="<paper>/<name>, e.g. overparam/franz_parisi")],
    part: Annotated[int | None, typer.Option(help="compute only this part, counted from 1")] = None,
    scale: Scale = None,
    config: Overrides = None,
    configfile: Files = None,
    run_name: Run = None,
    log: Log = None,
    job: Job = None,
) -> None:
    """Compute an experiment's table; parts that are there are kept."""
    from localentropy.pipeline.computations import ExperimentJob

    request = _request(ExperimentJob, experiment, job, scale, config, configfile, run_name)
    if part is not None:
        if part not in request.numbers:
            raise ConfigError(f"--part = {part}: allowed: 1 to {request.parts}")
        request.compute_part(part, log)
        return
    for number in request.numbers if not request.whole() else ():
        request.compute_part(number, log)
    request.merge(log)


@app.command()
def prepare(
    dataset: Annotated[str, typer.Argument(help="e.g. mnist_parity")],
    config: Overrides = None,
    configfile: Files = None,
    log: Log = None,
    job: Job = None,
) -> None:
    """Prepare a dataset from the configured source (data.source, data.mirror)."""
    from localentropy.pipeline.computations import DatasetJob

    _request(DatasetJob, dataset, job, None, config, configfile, None).prepare(log)


@app.command()
def merge(
    experiment: Annotated[str, typer.Argument(help="<paper>/<name>")],
    scale: Scale = None,
    config: Overrides = None,
    configfile: Files = None,
    run_name: Run = None,
    log: Log = None,
    job: Job = None,
) -> None:
    """Join the parts of an experiment's table."""
    from localentropy.pipeline.computations import ExperimentJob

    _request(ExperimentJob, experiment, job, scale, config, configfile, run_name).merge(log)


@app.command()
def plot(
    figure: Annotated[str, typer.Argument(help="a figure's target, e.g. figure3")],
    scale: Scale = None,
    config: Overrides = None,
    configfile: Files = None,
    run_name: Run = None,
    log: Log = None,
    job: Job = None,
) -> None:
    """Draw a figure from the tables of its experiments."""
    from localentropy.pipeline.outputs import FigureJob

    _request(FigureJob, figure, job, scale, config, configfile, run_name).make(log)


@app.command()
def scorecard(
    paper: Annotated[str | None, typer.Argument(help="only this paper's; else all, and the page over them")] = None,
    scale: Scale = None,
    config: Overrides = None,
    configfile: Files = None,
    run_name: Run = None,
    log: Log = None,
    job: Job = None,
) -> None:
    """Test the claims of the papers on the tables of the experiments."""
    from localentropy.pipeline.scorecard import ScorecardJob, SummaryJob, tested_papers

    if job is not None:
        (_decoded(ScorecardJob, job) if paper else _decoded(SummaryJob, job)).make(log)
        return
    configuration = _configuration(scale, config, configfile, run_name)
    for each in [paper] if paper else tested_papers(configuration):
        ScorecardJob.from_configuration(configuration, each).make(log)
    if not paper:
        SummaryJob.from_configuration(configuration).make(log)


@app.command()
def show(
    file: Annotated[
        Path, typer.Argument(help="a table, any file of a figure or scorecard, its target, <paper>/<experiment>")
    ],
    scale: Scale = None,
    config: Overrides = None,
    configfile: Files = None,
    run_name: Run = None,
) -> None:
    """Print how a file was made."""
    from localentropy.commands.show import describe

    print(describe(file, lambda: _configuration(scale, config, configfile, run_name)))


@app.command()
def verify(
    archive: Annotated[Path | None, typer.Argument(help="check the files of this archive instead")] = None,
    scale: Scale = None,
    config: Overrides = None,
    configfile: Files = None,
    run_name: Run = None,
) -> None:
    """Check every result and figure against its own checksums, the present code and configuration; or an archive."""
    from localentropy.commands.show import findings
    from localentropy.pipeline.archive import faults

    if archive is not None:
        if any((scale, config, configfile, run_name)):
            raise ConfigError(f"verify {archive}: an archive has one scale and its own values; give no other option")
        checked = list(faults(archive))
        wrong = [f"{archive / name}: {fault}" for name, fault in checked if fault]
        if wrong:
            print(*wrong, sep="\n")
            raise LocalEntropyError(f"{archive}: {len(wrong)} of {len(checked)} files are not as they were archived")
        print(f"{archive}: {len(checked)} files, all as they were archived")
        return

    found = findings(_configuration(scale, config, configfile, run_name))
    for file, finding in found:
        print(f"{file}: {finding or 'current'}")
    if bad := sum(finding is not None for _, finding in found):
        raise LocalEntropyError(
            f"{bad} {'file is' if bad == 1 else 'files are'} not current; if made with --config, give verify the same "
            "words; else the next run makes again what it needs"
        )


@app.command()
def clean(
    unused: Annotated[bool, typer.Option("--unused", help="those that no shipped configuration wants")] = False,
    scale: Scale = None,
    config: Overrides = None,
    configfile: Files = None,
    run_name: Run = None,
) -> None:
    """Delete results and logs; what a configuration that is given wants is kept too."""
    from localentropy.commands.clean import delete_unused

    if not unused:
        raise ConfigError("clean: allowed: clean --unused; `make clean` deletes all that was computed")
    number, size = delete_unused([_configuration(scale, config, configfile, run_name)])
    print(f"{number} files deleted, {size / 2**20:.1f} MiB")


@app.command()
def gallery(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[FIGURE]…", help="only these; also <paper>_scorecard")
    ] = None,
) -> None:
    """Copy the current figures and scorecards of the default scale to figures/gallery/."""
    from localentropy.commands.gallery import collect

    for file in collect(targets or []):
        print(file)


@app.command()
def times(
    scale: Annotated[str, typer.Option("--scale", help="smoke, default or paper")] = "default",
) -> None:
    """Write what the jobs of a scale took into docs/figures.md and docs/cluster.md; all its results are needed."""
    from localentropy.commands.times import write

    for file in write(scale):
        print(file)


@app.command()
def dag(
    file: Annotated[Path, typer.Argument(help="the picture to write: .png, .svg or .pdf")],
    config: Overrides = None,
    configfile: Files = None,
) -> None:
    """Draw what is made from what: datasets, experiments, figures."""
    from localentropy.commands.dag import draw
    from localentropy.pipeline.artifacts import require_writable
    from localentropy.pipeline.config import require_known

    require_known(file.suffix, [".png", ".svg", ".pdf"], "kind of picture")
    require_writable(file)
    draw(_configuration(None, config, configfile, None), file)
    print(file)


@app.command()
def notebook(
    source: Annotated[Path, typer.Argument(help="e.g. notebooks/first_look.py")],
    page: Annotated[Path, typer.Argument(help="the page to write, .html")],
) -> None:
    """Run a notebook and render it as a page that needs no network."""
    from localentropy.commands.notebook import render
    from localentropy.pipeline.artifacts import require_writable

    require_writable(page)
    render(source, page)


@app.command()
def site(
    folder: Annotated[Path, typer.Argument(help="the folder to write: a new one, or that of an earlier site")],
) -> None:
    """Build the site: pages, gallery, scorecards, reference of the library."""
    from localentropy.commands.site import build

    build(folder)
    print(folder / "index.html")


@app.command()
def article(
    folder: Annotated[Path, typer.Argument(help="where to write article.html and article.pdf")],
    published: Annotated[bool, typer.Option("--gallery", help="of the committed figures and scorecards")] = False,
    scale: Scale = None,
    config: Overrides = None,
    configfile: Files = None,
    run_name: Run = None,
) -> None:
    """Write the replication report of all sources: figures, verdicts, deviations of protocol, contradictions."""
    from localentropy.commands.article import write

    if published and any((scale, config, configfile, run_name)):
        raise ConfigError(
            "--gallery: the committed figures have one scale and the shipped values; give no other option"
        )
    print(*write(folder, None if published else _configuration(scale, config, configfile, run_name)), sep="\n")


@app.command()
def archive(
    folder: Annotated[Path, typer.Argument(help="the folder to write: a new one, or that of an earlier archive")],
    scale: Scale = None,
    config: Overrides = None,
    configfile: Files = None,
    run_name: Run = None,
) -> None:
    """Write the archive of a run: tables, figures, scorecards, report, packages, checksums."""
    from localentropy.commands.archive import pack

    print(pack(folder, _configuration(scale, config, configfile, run_name)))


@app.command()
def golden() -> None:
    """Copy the current numbers and verdicts of the smoke scale to tests/golden/."""
    from localentropy.commands.gallery import collect_golden

    for file in collect_golden():
        print(file)


@app.command()
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="a directory with <paper>/<figure>.csv, or a git revision")],
    b: Annotated[str, typer.Argument(metavar="B", help="the other one; of a revision, its figures/gallery is meant")],
    sigmas: Annotated[float, typer.Option(min=0, help="threshold of a move, in standard errors")] = 3.0,
    relative: Annotated[float, typer.Option(min=0, help="threshold where there is no error")] = 1e-6,
) -> None:
    """Which plotted numbers moved between A and B: status 1 where any did beyond the threshold, or rows are missing."""
    from localentropy.commands.diff import compare_sources, show

    comparisons = compare_sources(a, b, sigmas, relative)
    show(comparisons)
    if not all(comparison.same for comparison in comparisons):
        raise typer.Exit(1)


@app.command()
def explore(
    figure: Annotated[
        str | None, typer.Argument(help="a figure's target, e.g. figure3; without it they are listed")
    ] = None,
    port: Annotated[int, typer.Option(help="where the page is; 0 takes any that is free")] = 5006,
    browser: Annotated[bool, typer.Option(help="open the page")] = True,
    allow: Annotated[
        list[str] | None, typer.Option(help="also answer under this name, e.g. localhost:8000, a tunnel's other end")
    ] = None,
) -> None:
    """Open a local page with a figure's parameters as sliders: the theory is solved anew on each change."""
    from localentropy.commands.explore import explore, names

    if figure is None:
        for name, shows in names().items():
            print(f"{name:20} {shows}")
        return
    if not 0 <= port <= LAST_PORT:
        raise ConfigError(
            f"--port = {port}: allowed: an integer from 0 to {LAST_PORT}; nearest: {min(max(port, 0), LAST_PORT)}"
        )
    explore(figure, port, browser, allow or [])


@app.command()
def docs() -> None:
    """Rewrite the pages that are generated from the code: docs/configuration.md, quantities.md and inventory.md."""
    from localentropy.commands.docs import write

    print(*write(), sep="\n")


def main() -> None:
    """Run the command line; an error made for the user is one line on standard error.

    The exit status is 1 after an error, 2 after a wrong option, 130 after Ctrl-C.
    """
    open_closed_streams()
    try:
        with refusals(), output():
            status = app(list(_one_each(sys.argv[1:])) or ["--help"], standalone_mode=False)
        if status == INTERRUPTED and "--job" not in sys.argv:  # Snakemake says it once for all its jobs
            print("interrupted: what is complete is kept; the same command goes on from there", file=sys.stderr)
        sys.exit(status)
    except LocalEntropyError as error:
        from localentropy.pipeline.allowed import printable

        print(f"error: {printable(str(error))}", file=sys.stderr)
        sys.exit(1)
    except TyperException as error:
        print(f"error: {' '.join(error.format_message().split()).rstrip('.')}; see --help", file=sys.stderr)
        sys.exit(2)


def _one_each(words: Iterable[str]) -> Iterator[str]:
    """The command line with an option before each value of `--config` and `--configfile`.

    All words behind such an option belong to it, up to the next option, as in Snakemake.
    """
    option, alone = "", False
    for word in words:
        if word.startswith("--"):
            option, alone = word if word in ("--config", "--configfile") else "", True
        elif option and not alone:
            yield option
        else:
            alone = False
        yield word


AnyJob = TypeVar("AnyJob", bound=Any)


def _decoded(model: type[AnyJob], job: str) -> AnyJob:
    """The job that `--job` holds. A cluster's queue may still hold one of an earlier version of the code."""
    try:
        return model.model_validate_json(job)
    except (ValueError, KeyError) as error:
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ConfigError(f"--job: no job of this version of the pipeline ({what})") from None


def _request(model: type[AnyJob], name: str, job: str | None, *options: Any) -> AnyJob:
    """The job that `--job` holds, or else the job of this name in the configuration of the options."""
    return _decoded(model, job) if job is not None else model.from_configuration(_configuration(*options), name)


def _configuration(
    scale: str | None, overrides: list[str] | None, files: list[Path] | None, run_name: str | None
) -> Configuration:
    from localentropy.pipeline.config import read_overrides, resolve

    return resolve(scale, files or [], read_overrides(overrides or []), run_name)
