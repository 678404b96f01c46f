# Prepared datasets, from the source that the configuration names.


rule dataset:
    input:
        ancient(pipeline.inputs("dataset")),
    output:
        multiext(
            f"data/prepared/{pipeline.configuration.data.source}/{{name}}",
            ".npz",
            ".json",
        ),
    log:
        f"logs/data/{pipeline.configuration.data.source}/{{name}}.log",
    benchmark:
        f"logs/data/{pipeline.configuration.data.source}/{{name}}.benchmark.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        job=pipeline.parameters("dataset"),
    message:
        "preparing the dataset {wildcards.name}"
    shell:
        "python -m localentropy prepare {wildcards.name} --job {params.job:q} --log {log:q}"
