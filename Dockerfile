# Two images of one project: `web` serves studies and has no torch in it, `runner` trains, collects and serves models.
FROM python:3.11-slim AS base
WORKDIR /glance
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --create-home --uid 1000 glance && mkdir -p var key && chown glance var key
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY app app
COPY model_runner model_runner

FROM base AS web
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
RUN pip install --no-cache-dir -c constraints.txt -e '.[runner,hf]'
USER glance
ENTRYPOINT ["glance-runner"]
CMD ["--help"]
