# What a user asks for: all figures, or one by its name.


rule all:
    input:
        [pipeline.figure_files(target) for target in pipeline.configuration.figures],


for target in pipeline.configuration.figures:

    rule:
        name:
            target
        input:
            pipeline.figure_files(target),
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


# A notebook is a py:percent source; it is run from top to bottom and rendered with its outputs.
rule notebook:
    input:
        source="notebooks/{name}.py",
        code=pipeline.notebook_code,
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
    message:
        "running the notebook {wildcards.name}"
    shell:
        "jupytext --to ipynb --output - {input.source:q} 2> {log:q} | "
        "jupyter nbconvert --to html --execute --stdin --output {wildcards.name} --output-dir notebooks >> {log:q} 2>&1"


rule scorecard:
    input:
        pipeline.scorecard_files(".csv", ".md", ".html", ".json"),
    message:
        "the scorecard is up to date"


rule dag:
    input:
        "figures/dag.svg",


# What is made from what, as a picture.
rule graph:
    input:
        figures="config/figures.yaml",
        claims="config/claims.yaml",
    output:
        "figures/dag.svg",
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
        "python -m localentropy dag {output:q} > {log:q} 2>&1"


rule report:
    input:
        f"figures/{FOLDER}/report.html",


# Snakemake's own report, of the figures and the scorecard.
rule html_report:
    input:
        rules.all.input,
        rules.scorecard.input,
    output:
        f"figures/{FOLDER}/report.html",
    log:
        f"logs/{FOLDER}/report.log",
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        configuration=pipeline.configuration_arguments(),
    message:
        "writing the report"
    shell:
        "snakemake all scorecard --report {output:q} {params.configuration} > {log:q} 2>&1"
