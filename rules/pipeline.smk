# Experiments → tables → figures.
#
# The name of a file holds the hash of what it is made from: parameters, code, and the files that are read
# (src/localentropy/pipeline/computations.py). A file that exists is current, and nothing else decides: to Snakemake every
# input is `ancient`, and source files are no inputs. Every output is `update`: Snakemake must not delete it before a job,
# because another pipeline may have made it meanwhile.


rule experiment:
    input:
        ancient(pipeline.inputs("experiment")),
    output:
        update("results/{paper}/{name}/{origin}/{part}-of-{parts}.parquet"),
    log:
        "logs/{paper}/{name}/{origin}/{part}-of-{parts}.log",
    benchmark:
        "logs/{paper}/{name}/{origin}/{part}-of-{parts}.benchmark.tsv"
    conda:
        ENVIRONMENT
    threads: lambda wildcards: pipeline.job("experiment", wildcards).parameters.threads
    resources:
        mem_mb=2000,
        runtime=120,
        gpu=lambda wildcards: pipeline.job("experiment", wildcards).gpus,
    params:
        job=pipeline.parameters("experiment"),
    message:
        "computing {wildcards.paper}/{wildcards.name}, part {wildcards.part} of {wildcards.parts}"
    shell:
        "python -m localentropy run {wildcards.paper}/{wildcards.name} "
        "--part {wildcards.part} --job {params.job:q} --log {log:q}"


rule merge:
    input:
        ancient(pipeline.inputs("experiment")),
    output:
        update("results/{paper}/{name}/{origin}.parquet"),
    log:
        "logs/{paper}/{name}/{origin}.log",
    benchmark:
        "logs/{paper}/{name}/{origin}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=5,
    params:
        job=pipeline.parameters("experiment"),
    message:
        "joining the parts of {wildcards.paper}/{wildcards.name}"
    shell:
        "python -m localentropy merge {wildcards.paper}/{wildcards.name} "
        "--job {params.job:q} --log {log:q}"


rule plot:
    input:
        ancient(pipeline.inputs("figure")),
    output:
        png=update(
            report(
                "results/figures/{paper}/{module}/{origin}/{module}.png",
                caption="../docs/report/figure.rst",
                category="{paper}",
                subcategory="figures",
                labels=pipeline.report_labels,
            )
        ),
        pdf=update("results/figures/{paper}/{module}/{origin}/{module}.pdf"),
        csv=update(
            report(
                "results/figures/{paper}/{module}/{origin}/{module}.csv",
                caption="../docs/report/figure.rst",
                category="{paper}",
                subcategory="numbers",
                labels=pipeline.report_labels,
            )
        ),
        look=update("results/figures/{paper}/{module}/{origin}/{module}.look.json"),
        record=update("results/figures/{paper}/{module}/{origin}/{module}.json"),
    log:
        "logs/figures/{paper}/{module}/{origin}.log",
    benchmark:
        "logs/figures/{paper}/{module}/{origin}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=5,
    params:
        target=lambda wildcards: pipeline.job("figure", wildcards).target,
        job=pipeline.parameters("figure"),
    message:
        "drawing {params.target}"
    shell:
        "python -m localentropy plot {params.target} --job {params.job:q} --log {log:q}"


rule claims:
    input:
        ancient(pipeline.inputs("scorecard")),
    output:
        update(
            report(
                "results/figures/{paper}/scorecard/{origin}/scorecard.html",
                caption="../docs/report/scorecard.rst",
                category="{paper}",
                subcategory="scorecard",
                labels={
                    "figure": "scorecard",
                    "shows": "every claim with its verdict",
                },
            )
        ),
        update("results/figures/{paper}/scorecard/{origin}/scorecard.csv"),
        update("results/figures/{paper}/scorecard/{origin}/scorecard.md"),
        update("results/figures/{paper}/scorecard/{origin}/scorecard.json"),
    log:
        "logs/figures/{paper}/scorecard/{origin}.log",
    benchmark:
        "logs/figures/{paper}/scorecard/{origin}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=2000,
        runtime=5,
    params:
        job=pipeline.parameters("scorecard"),
    message:
        "testing the claims of {wildcards.paper}"
    shell:
        "python -m localentropy scorecard {wildcards.paper} --job {params.job:q} --log {log:q}"


# One page over all scorecards.
rule summary:
    input:
        ancient(pipeline.inputs("summary")),
    output:
        update("results/figures/scorecard/{origin}/scorecard.md"),
        update("results/figures/scorecard/{origin}/scorecard.html"),
        update("results/figures/scorecard/{origin}/scorecard.json"),
    log:
        "logs/figures/scorecard/{origin}.log",
    benchmark:
        "logs/figures/scorecard/{origin}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        job=pipeline.parameters("summary"),
    message:
        "counting the verdicts of all papers"
    shell:
        "python -m localentropy scorecard --job {params.job:q} --log {log:q}"
