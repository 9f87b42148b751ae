# One image for web and worker; docker-compose.yml says which is which.
FROM python:3.13-slim-bookworm

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 \
    PREFLIGHT_NO_BOOTSTRAP=1 PREFLIGHT_DATA_DIR=/data

RUN useradd --system --uid 10001 --home-dir /data --create-home --shell /usr/sbin/nologin preflight
WORKDIR /app

COPY requirements.lock ./
RUN pip install --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.lock

COPY manage.py CHANGELOG.md LICENSE ./
COPY checks checks
COPY templates templates
COPY panel panel

# Pages need the gathered files; the secrets that this step makes for itself do not stay in the image.
RUN python manage.py collectstatic --no-input --verbosity 0 \
    && rm -f /data/master-key /data/secret-key && chmod 755 /data && python -m compileall -q checks panel

USER preflight
EXPOSE 8000
CMD ["python", "-m", "gunicorn", "--config", "python:panel.web_server", "--bind", "0.0.0.0:8000", "panel.wsgi"]
