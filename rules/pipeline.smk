# Experiments → tables → figures.
#
# What runs again: a file whose stamp is not the one that is wanted now. The stamp holds the job's own parameters, a hash
# of the code that it uses, and hashes of its inputs. The functions below that list inputs compare the stamps, and set a
# stale file aside (src/localentropy/pipeline/workflow.py, `_guard`). Nothing else decides: to Snakemake every input is
# `ancient`, source files are no inputs, and a file is there or missing.


rule experiment:
    input:
        ancient(pipeline.inputs("experiment")),
    output:
        f"results/{FOLDER}/{{paper}}/{{name}}/{{part}}-of-{{parts}}.parquet",
    log:
        f"logs/{FOLDER}/{{paper}}/{{name}}/{{part}}-of-{{parts}}.log",
    benchmark:
        f"logs/{FOLDER}/{{paper}}/{{name}}/{{part}}-of-{{parts}}.benchmark.tsv"
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
        f"results/{FOLDER}/{{paper}}/{{name}}.parquet",
    log:
        f"logs/{FOLDER}/{{paper}}/{{name}}.log",
    benchmark:
        f"logs/{FOLDER}/{{paper}}/{{name}}.benchmark.tsv"
    conda:
        ENVIRONMENT
    threads: 1
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
        png=report(
            f"figures/{FOLDER}/{{paper}}/{{module}}.png",
            caption="../docs/report/figure.rst",
            category="{paper}",
            subcategory="figures",
            labels=pipeline.report_labels,
        ),
        pdf=f"figures/{FOLDER}/{{paper}}/{{module}}.pdf",
        csv=report(
            f"figures/{FOLDER}/{{paper}}/{{module}}.csv",
            caption="../docs/report/figure.rst",
            category="{paper}",
            subcategory="numbers",
            labels=pipeline.report_labels,
        ),
        look=f"figures/{FOLDER}/{{paper}}/{{module}}.look.json",
        record=f"figures/{FOLDER}/{{paper}}/{{module}}.json",
    log:
        f"logs/{FOLDER}/{{paper}}/plot-{{module}}.log",
    benchmark:
        f"logs/{FOLDER}/{{paper}}/plot-{{module}}.benchmark.tsv"
    conda:
        ENVIRONMENT
    threads: 1
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
        report(
            f"figures/{FOLDER}/{{paper}}/scorecard.html",
            caption="../docs/report/scorecard.rst",
            category="{paper}",
            subcategory="scorecard",
            labels={"figure": "scorecard", "shows": "every claim with its verdict"},
        ),
        f"figures/{FOLDER}/{{paper}}/scorecard.csv",
        f"figures/{FOLDER}/{{paper}}/scorecard.md",
        f"figures/{FOLDER}/{{paper}}/scorecard.json",
    log:
        f"logs/{FOLDER}/{{paper}}/scorecard.log",
    benchmark:
        f"logs/{FOLDER}/{{paper}}/scorecard.benchmark.tsv"
    conda:
        ENVIRONMENT
    threads: 1
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
        f"figures/{FOLDER}/scorecard.md",
        f"figures/{FOLDER}/scorecard.html",
        f"figures/{FOLDER}/scorecard.json",
    log:
        f"logs/{FOLDER}/scorecard.log",
    benchmark:
        f"logs/{FOLDER}/scorecard.benchmark.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        job=pipeline.parameters("summary"),
    message:
        "counting the verdicts of all papers"
    shell:
        "python -m localentropy scorecard --job {params.job:q} --log {log:q}"
