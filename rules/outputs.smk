# What a user asks for: one figure by its name, or all (Snakefile); all scorecards, or that of one paper.


for target, files in TARGETS.items():

    rule:
        name:
            target
        input:
            files,
        message:
            f"{target} is up to date"


# A bare word that is none of the targets comes here, and is refused.
rule mistaken:
    input:
        pipeline.refuse_target,
    output:
        "{target}",
    wildcard_constraints:
        target="[^/]+",


NOTEBOOKS = glob_wildcards("notebooks/{name}.py").name


rule notebooks:
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
        "../environment.yml"
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
    input:
        pipeline.scorecard_files(),
    message:
        "the scorecards are up to date"


# These three are made anew each time they are asked for.


# What is made from what, as a picture.
rule dag:
    log:
        "logs/dag.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    message:
        "drawing what is made from what"
    shell:
        "python -m localentropy dag figures/dag.svg > {log:q} 2>&1"


# Snakemake's own report, of the figures and the scorecard.
rule report:
    input:
        rules.all.input,
        rules.scorecard.input,
    log:
        f"logs/{FOLDER}/report.log",
    conda:
        "../environment.yml"
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


# The pages of this repository, its gallery and its notebooks.
rule site:
    input:
        rules.notebooks.input,
    log:
        "logs/site.log",
    conda:
        "../environment.yml"
    threads: 2
    resources:
        mem_mb=4000,
        runtime=10,
    message:
        "building the site"
    shell:
        "python -m localentropy site site > {log:q} 2>&1"
