"""Every setting of the panel, read from the environment once, typed, and refused when wrong."""

from __future__ import annotations

from pathlib import Path

from django.utils.translation import gettext_lazy as _

from panel import variables
from panel.broker import socket_for
from panel.logs import logging_settings
from panel.secret_files import read_or_create_secret

BASE_DIR = Path(__file__).resolve().parent.parent
env = variables.env

# --- What kind of instance this is -------------------------------------------------------------
PRODUCTION: bool = variables.flag("PREFLIGHT_PRODUCTION", default=False)
DEBUG: bool = variables.flag("PREFLIGHT_DEBUG", default=False)
DATA_DIR = Path(env.str("PREFLIGHT_DATA_DIR", default=str(BASE_DIR / "var"))).resolve()
ZONE: str = env.str("PREFLIGHT_ZONE", default="panel")


def _secret(variable: str, file_name: str) -> str:
    """Return the variable, else (embedded only) a generated 0600 file's content, else ""."""
    value: str = env.str(variable, default="")
    if value or PRODUCTION:
        return value
    return read_or_create_secret(DATA_DIR / file_name)


SECRET_KEY: str = _secret("PREFLIGHT_SECRET_KEY", "secret-key") or "missing: refused by preflight.E001"
# Newest first; each is "<id>:<base64 of 32 bytes>". The vault wraps with the first, opens with any.
MASTER_KEYS: tuple[str, ...] = variables.master_keys(
    "PREFLIGHT_MASTER_KEYS", _secret("PREFLIGHT_MASTER_KEYS", "master-key")
)

# --- The outside --------------------------------------------------------------------------------
ALLOWED_HOSTS: list[str] = env.list(
    "PREFLIGHT_ALLOWED_HOSTS", default=[] if PRODUCTION else ["localhost", "127.0.0.1", "[::1]"]
)
CSRF_TRUSTED_ORIGINS: list[str] = env.list("PREFLIGHT_TRUSTED_ORIGINS", default=[])
BEHIND_TLS: bool = variables.flag("PREFLIGHT_BEHIND_TLS", default=PRODUCTION)
START_ID: str = env.str("PREFLIGHT_START_ID", default="")
EGRESS_ALLOWED = variables.networks(
    "PREFLIGHT_EGRESS_ALLOW", default=[] if PRODUCTION else ["127.0.0.0/8", "::1/128"]
)
# How many proxies of yours stand before the panel, each adding its line to X-Forwarded-For.
ALLAUTH_TRUSTED_PROXY_COUNT = variables.count("PREFLIGHT_PROXIES", default=1 if BEHIND_TLS else 0)

# What links in mails and messages begin with; without it they carry none.
PUBLIC_URL: str = variables.public_url("PREFLIGHT_PUBLIC_URL")

# --- Whether Preflight itself is well -------------------------------------------------------------
# Who names this token may read /metrics; without one there is no such page.
METRICS_TOKEN: str = variables.token("PREFLIGHT_METRICS_TOKEN")
# Called once a minute while checks run: a dead man's switch elsewhere raises the alarm when it is not.
HEARTBEAT_URL: str = variables.call_address("PREFLIGHT_HEARTBEAT_URL")
# The web processes tell the teams' channels when the sweep is silent.
WATCHDOG: bool = variables.flag("PREFLIGHT_WATCHDOG", default=True)

# --- Mail ---------------------------------------------------------------------------------------
_mail = variables.mail_server("EMAIL_URL")
EMAIL_HOST: str = _mail["EMAIL_HOST"]
EMAIL_PORT: int = _mail.get("EMAIL_PORT") or 25
EMAIL_HOST_USER: str = _mail.get("EMAIL_HOST_USER") or ""
EMAIL_HOST_PASSWORD: str = _mail.get("EMAIL_HOST_PASSWORD") or ""
EMAIL_USE_TLS: bool = _mail.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL: bool = _mail.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 15
DEFAULT_FROM_EMAIL: str = env.str("PREFLIGHT_MAIL_FROM", default="preflight@localhost")

# --- Applications -------------------------------------------------------------------------------
INSTALLED_APPS = [
    "panel",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.forms",  # its widget templates, which ours include
    "django_htmx",
    "allauth",
    "allauth.account",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "panel.middleware.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "panel.middleware.PreferencesMiddleware",
    "panel.middleware.FullDiskMiddleware",
]
ROOT_URLCONF = "panel.urls"
WSGI_APPLICATION = "panel.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.i18n",
                "django.template.context_processors.tz",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["django.templatetags.i18n", "panel.templatetags.display"],
        },
    }
]

# --- Rows -----------------------------------------------------------------------------------------
DATABASES = {
    "default": variables.database("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'preflight.sqlite3'}")
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["CONN_MAX_AGE"] = None  # opening the file and its settings costs a millisecond
    # IMMEDIATE: of 960 read-then-write transactions from two processes, none met a locked database.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; "
        "PRAGMA mmap_size=134217728; PRAGMA journal_size_limit=27103364; PRAGMA cache_size=2000;",
    }
else:
    DATABASES["default"]["OPTIONS"] = {"pool": {"min_size": 1, "max_size": 12, "timeout": 10}}
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Broker, cache, worker ------------------------------------------------------------------------
REDIS_URL: str = variables.redis("REDIS_URL")
BROKER_SOCKET = socket_for(DATA_DIR)
BEAT_IN_WORKER: bool = variables.flag(
    "PREFLIGHT_BEAT", default=True
)  # two beats do no harm: a slot is claimed once
CELERY_BROKER_URL = REDIS_URL or f"redis+socket://{BROKER_SOCKET}?virtual_host=0"
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 300,
    "unacked_restore_interval": 15,
    "unacked_restore_throttle": 1,
    "global_keyprefix": "pf:",
    "queue_order_strategy": "priority",
    "socket_keepalive": True,
    "health_check_interval": 30,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = ZONE
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"  # in memory: fixed lines need no file
CELERY_BEAT_SCHEDULE = {
    "open_due": {"task": "panel.tasks.open_due", "schedule": 1.0, "options": {"expires": 2.0, "priority": 0}},
    "tick": {"task": "panel.tasks.tick", "schedule": 4.0, "options": {"expires": 8.0, "priority": 0}},
    "keep_time": {
        "task": "panel.tasks.keep_time",
        "schedule": 10.0,
        "options": {"expires": 10.0, "priority": 2},
    },
    "remind": {"task": "panel.tasks.remind", "schedule": 900.0, "options": {"expires": 300.0, "priority": 9}},
    "prune": {"task": "panel.tasks.prune", "schedule": 600.0, "options": {"expires": 300.0, "priority": 9}},
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL or f"unix://{BROKER_SOCKET}?db=1",
        "KEY_PREFIX": "pf",
    }
}

# --- People ---------------------------------------------------------------------------------------
AUTH_USER_MODEL = "panel.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "panel.accounts.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = True
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "panel.views.errors.csrf_failed"

# --- Armour ---------------------------------------------------------------------------------------
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
if BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
# The names of Django 6, so that the middleware can go when the framework brings its own.
SECURE_CSP = {
    "default-src": ["'none'"],
    "style-src": ["'self'"],
    "img-src": ["'self'", "data:"],
    "script-src": ["'self'"],
    "connect-src": ["'self'"],
    "form-action": ["'self'"],
    "frame-ancestors": ["'none'"],
    "base-uri": ["'none'"],
}

# --- Words and times ------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "panel" / "locale"]
LANGUAGE_COOKIE_NAME = "pf_language"
THEME_COOKIE_NAME = "pf_theme"
SHORTCUTS_COOKIE_NAME = "pf_keys"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
DISPLAY_ZONE: str = variables.zone("PREFLIGHT_TIME_ZONE", default="UTC")

# --- Files that pages need --------------------------------------------------------------------------
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static-root"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

# --- What the logs say ------------------------------------------------------------------------------
LOGGING = logging_settings(variables.log_level("PREFLIGHT_LOG_LEVEL"))
DEFAULT_EXCEPTION_REPORTER_FILTER = "panel.error_reports.SilentReporterFilter"
