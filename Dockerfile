# One image for every role: the command chooses (worker, beat, flower, or the one-shot migration).
ARG PYTHON_VERSION=3.12

FROM python:${PYTHON_VERSION}-slim AS build
WORKDIR /build
COPY requirements.lock ./
RUN python -m venv /opt/celeriac \
    && /opt/celeriac/bin/pip install --no-cache-dir --require-hashes --requirement requirements.lock
COPY pyproject.toml README.md CHANGELOG.md LICENSE ./
COPY orchestrator orchestrator
COPY workers workers
COPY beat beat
RUN /opt/celeriac/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:${PYTHON_VERSION}-slim
RUN useradd --system --create-home --home-dir /home/celeriac celeriac
COPY --from=build /opt/celeriac /opt/celeriac
ENV PATH=/opt/celeriac/bin:$PATH \
    PYTHONUNBUFFERED=1
USER celeriac
WORKDIR /home/celeriac
CMD ["celeriac", "--help"]
