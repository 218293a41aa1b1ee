# Two images of one project: `web` serves studies and has no torch in it, `runner` trains, collects and serves models.
FROM python:3.11-slim-trixie AS base
WORKDIR /glance
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_ROOT_USER_ACTION=ignore
RUN useradd --create-home --uid 1000 glance && mkdir -p var key && chown glance var key
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY app app
COPY model_runner model_runner

FROM base AS web
# For `glance backup` and `glance restore`: programs of the database's own version, PostgreSQL 17.
RUN apt-get update && apt-get install --yes --no-install-recommends postgresql-client-17 && rm -rf /var/lib/apt/lists/*
COPY alembic.ini ./
COPY migrations migrations
COPY templates templates
COPY static static
COPY locale locale
# Editable, because templates, static files and migrations are read from beside the packages.
RUN pip install --no-cache-dir -c constraints.txt -e '.[report,oidc]'
USER glance
EXPOSE 8000
CMD ["glance", "serve", "--host", "0.0.0.0", "--port", "8000"]

FROM base AS runner
# The index of PyTorch's CPU builds may be given here: docker compose build --build-arg PIP_FLAGS="--extra-index-url ..." runner
ARG PIP_FLAGS=""
RUN pip install --no-cache-dir ${PIP_FLAGS} -c constraints.txt -e '.[runner,hf]'
USER glance
ENTRYPOINT ["glance-runner"]
CMD ["--help"]
