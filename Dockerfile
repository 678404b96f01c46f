# Python, the packages of requirements.lock and this checkout in one image. docs/container.md says how to use it.
FROM debian:bookworm-slim

# Debian 12 has Python 3.11, that of environment.yml.
RUN apt-get update && \
    apt-get install --yes --no-install-recommends python3-venv && \
    rm -rf /var/lib/apt/lists/*

# A further package index, for the CPU build of PyTorch.
ARG PIP_EXTRA_INDEX_URL
COPY requirements.lock /localentropy/
RUN python3 -m venv /opt/venv && \
    /opt/venv/bin/pip install --no-cache-dir --requirement /localentropy/requirements.lock
# A user whom the image does not know has a name and a home, too. Compiled kernels are kept there while a container runs.
ENV PATH=/opt/venv/bin:$PATH USER=user HOME=/tmp

WORKDIR /localentropy
COPY . .
# Any user may write results here. Nothing else in the image is written to.
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable . && \
    install --directory --mode 777 .snakemake data/prepared figures logs notebooks results
USER 1000:1000
ENTRYPOINT ["snakemake"]
