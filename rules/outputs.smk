# What a user asks for: one figure by its name, or all (Snakefile); all scorecards, or that of one paper.


for target, files in TARGETS.items():

    rule:
        name:
            target
        input:
            files,
        message:
            f"{target} is up to date"


NOTEBOOKS = glob_wildcards("notebooks/{name}.py").name


rule notebooks:
    "the notebooks, run, as pages"
    input:
        expand("notebooks/{name}.html", name=NOTEBOOKS),


# A notebook is a py:percent source; it is run from top to bottom and rendered with its outputs. Its last line is its stamp.
rule notebook:
    input:
        source=ancient(pipeline.inputs("notebook")),
    output:
        "notebooks/{name}.html",
    log:
        "logs/notebooks/{name}.log",
    benchmark:
        "logs/notebooks/{name}.benchmark.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        stamp=lambda wildcards: pipeline.job("notebook", wildcards).stamp(),
    message:
        "running the notebook {wildcards.name}"
    shell:
        "python -m localentropy notebook {input.source:q} {output:q} > {log:q} 2>&1 && "
        "echo {params.stamp:q} >> {output:q}"


rule scorecard:
    "every claim of every paper with its verdict; overparam_scorecard: those of one paper"
    input:
        pipeline.scorecard_files(),
    message:
        "the scorecards are up to date"


# These three are made anew each time they are asked for.


rule dag:
    "what is made from what, as a picture"
    log:
        "logs/dag.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        configuration=pipeline.configuration_arguments(),
    message:
        "drawing what is made from what"
    shell:
        "python -m localentropy dag figures/dag.svg {params.configuration} > {log:q} 2>&1"


rule report:
    "Snakemake's report: figures, scorecards, numbers, run times on one page"
    input:
        rules.all.input,
        rules.scorecard.input,
    log:
        f"logs/{FOLDER}/report.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        file=f"figures/{FOLDER}/report.html",
        configuration=pipeline.configuration_arguments(),
    message:
        "writing the report"
    shell:
        "snakemake all scorecard --report {params.file:q} {params.configuration} > {log:q} 2>&1"


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
    message:
        "building the site"
    shell:
        "python -m localentropy site site > {log:q} 2>&1"
