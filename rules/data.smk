# Prepared datasets, from the source that the configuration names.


rule dataset:
    input:
        ancient(pipeline.inputs("dataset")),
    output:
        update("data/prepared/{name}/{origin}.npz"),
        update("data/prepared/{name}/{origin}.json"),
    log:
        "logs/data/{name}/{origin}.log",
    benchmark:
        "logs/data/{name}/{origin}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        job=pipeline.parameters("dataset"),
    message:
        "preparing the dataset {wildcards.name}"
    shell:
        "python -m localentropy prepare {wildcards.name} --job {params.job:q} --log {log:q}"
