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
        pipeline.scorecard_files(),
    message:
        "the scorecard is up to date"
