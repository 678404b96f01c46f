# What a user asks for: one figure by its name, or all (Snakefile); all scorecards, or that of one paper; one table.


for target in pipeline.targets():

    rule:
        name:
            target
        input:
            pipeline.files(target),
        message:
            f"{target} is up to date"


for experiment in pipeline.configuration.experiments:

    rule:
        name:
            experiment
        input:
            pipeline.tables(experiment),
        message:
            f"{experiment} is up to date"


rule datasets:
    "the prepared datasets that figures read"
    input:
        pipeline.datasets,
    message:
        "the datasets are up to date"


rule notebooks:
    "the notebooks, run, as pages"
    input:
        pipeline.pages,


# A notebook is a py:percent source; it is run from top to bottom and rendered with its outputs.
rule notebook:
    input:
        source=ancient(pipeline.notebook),
    output:
        update("results/notebooks/{name}/{origin}.html"),
    log:
        "logs/notebooks/{name}/{origin}.log",
    benchmark:
        "logs/notebooks/{name}/{origin}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=30,
    message:
        "running the notebook {wildcards.name}"
    shell:
        "python -m localentropy notebook {input.source:q} {output:q} > {log:q} 2>&1 && "
        "cp {output:q} notebooks/{wildcards.name}.html"


rule scorecard:
    "every claim of every paper with its verdict; overparam_scorecard: those of one paper"
    input:
        pipeline.files("scorecard"),
    message:
        "the scorecards are up to date"


# These are made anew each time they are asked for.


rule dag:
    "what is made from what, as a picture"
    log:
        "logs/dag.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        file=pipeline.products["dag"],
        configuration=pipeline.configuration_arguments(),
    message:
        "drawing what is made from what"
    shell:
        "python -m localentropy dag {params.file:q} {params.configuration} > {log:q} 2>&1"


rule report:
    "Snakemake's report: figures, scorecards, numbers, run times on one page"
    input:
        pipeline.files("report"),
    log:
        f"logs/{pipeline.configuration.folder}/report.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        file=pipeline.products["report"],
        configuration=pipeline.configuration_arguments(),
    message:
        "writing the report"
    shell:
        "snakemake all scorecard --report {params.file:q} {params.configuration} > {log:q} 2>&1"


rule article:
    "the replication report: one document of all sources, as a page and as PDF"
    input:
        pipeline.files("article"),
    log:
        f"logs/{pipeline.configuration.folder}/article.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        folder=pipeline.products["article"].parent,
        configuration=pipeline.configuration_arguments(),
    message:
        "writing the replication report"
    shell:
        "python -m localentropy article {params.folder:q} {params.configuration} > {log:q} 2>&1"


rule archive:
    "a folder for a data repository: tables, figures, scorecards, report, packages, checksums"
    input:
        pipeline.files("archive"),
    log:
        f"logs/{pipeline.configuration.folder}/archive.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        folder=pipeline.products["archive"].parent,
        configuration=pipeline.configuration_arguments(),
    message:
        "writing the archive"
    shell:
        "python -m localentropy archive {params.folder:q} {params.configuration} > {log:q} 2>&1"


rule site:
    "the pages of this repository, its gallery and its notebooks, as a site"
    input:
        rules.notebooks.input,
    log:
        "logs/site.log",
    conda:
        ENVIRONMENT
    threads: 2
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        folder=pipeline.products["site"].parent,
    message:
        "building the site"
    shell:
        "python -m localentropy site {params.folder:q} > {log:q} 2>&1"
