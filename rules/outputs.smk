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
