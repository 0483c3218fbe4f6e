"""All settings, each read from the environment; `.env.example` lists them.

The default is one machine without servers: SQLite, a broker made of files, a separate worker process.
"""

import os
import secrets
from datetime import timedelta
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _
from limits import parse_many

from config import admin, csp, logs

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env", overwrite=False)

# Everything that the product writes at run time lies here.
DATA_DIR = Path(env.str("CAIRN_DATA_DIR", default=str(BASE_DIR / "var")))
DATA_DIR.mkdir(parents=True, exist_ok=True)


def _secret_key() -> str:
    """The key from the environment, else one made once and kept beside the data for its owner alone."""
    if key := env.str("SECRET_KEY", default=""):
        return key
    path = DATA_DIR / "secret_key"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    if not (key := path.read_text().strip()):
        raise ImproperlyConfigured(f"{path} is empty. Delete it, or set SECRET_KEY in the environment.")
    return key


def _is_rate(text: str) -> bool:
    try:
        rates = parse_many(text)
    except ValueError:
        return False
    return len(rates) == 1 and rates[0].amount > 0 and rates[0].multiples > 0


# --- Site --------------------------------------------------------------------------------------------------

DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = _secret_key()
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
# Where people reach the site; links in receipts are made from it.
SITE_URL = env.str("SITE_URL", default="http://127.0.0.1:8000").rstrip("/")

# Behind TLS set HTTPS=1; then cookies are secure and plain requests are sent on.
HTTPS = env.bool("HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
# Only then are X-Forwarded-Proto and X-Forwarded-For believed, the latter as far as our own proxies wrote it.
BEHIND_PROXY = env.bool("BEHIND_PROXY", default=False)
PROXY_COUNT = env.int("PROXY_COUNT", default=1)
if PROXY_COUNT < 1:
    raise ImproperlyConfigured("PROXY_COUNT is how many proxies a request passes: 1 or more.")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {"DIRECTIVES": csp.STRICT}

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "config.apps.FailedLoginsConfig",
    "guardian",
    "simple_history",
    "projects",
    "memories",
    "chats",
]
MIDDLEWARE = [
    "projects.http.request_id.RequestIdMiddleware",
    "projects.http.request_log.RequestLogMiddleware",
    "projects.http.timing.ServerTimingMiddleware",
    "projects.http.throttling.RateLimitMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.csp.PolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "projects.http.slashes.TrailingSlashMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Database ----------------------------------------------------------------------------------------------

DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'db.sqlite3'}")}
_options = DATABASES["default"].setdefault("OPTIONS", {})
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # IMMEDIATE takes the write lock at the start: no transaction that reads and then writes fails half-way.
    _options |= {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # A file, not memory: tests start threads and processes that must see the same rows.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
else:
    _options |= {
        "charset": "utf8mb4",
        "isolation_level": "read committed",
        # Nobody waits for a lock longer than for an answer; a transaction that did is tried again.
        "init_command": "SET time_zone='+00:00', sql_mode='STRICT_TRANS_TABLES', innodb_lock_wait_timeout=10",
    }
    # A process that hangs with rows locked must not keep a project from writing: MariaDB ends its transaction.
    # MySQL knows no such limit, and takes the words for a comment.
    _idle_s = env.int("DB_IDLE_TRANSACTION_S", default=30)
    _options["init_command"] += f" /*M!100300 , idle_transaction_timeout={_idle_s} */"
    DATABASES["default"]["TEST"] = {
        "NAME": env.str("CAIRN_TEST_DB", default=f"test_{DATABASES['default']['NAME']}"),
        "CHARSET": "utf8mb4",
        "COLLATION": "utf8mb4_unicode_ci",
    }
    DATABASES["default"]["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", default=60)
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True

# --- Admin -----------------------------------------------------------------------------------------------

UNFOLD = admin.UNFOLD

# --- People ------------------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "guardian.backends.ObjectPermissionBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
ANONYMOUS_USER_NAME = None  # guardian: nobody has rights without logging in
# A log-in lasts a week, whatever is done with it.
SESSION_COOKIE_AGE = env.int("SESSION_COOKIE_AGE", default=604_800)
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# So many failures under one name from one address, and both forms refuse it for a while. See projects/logins.py.
AXES_FAILURE_LIMIT = env.int("LOGIN_FAILURES", default=5)
AXES_COOLOFF_TIME = timedelta(minutes=env.int("LOGIN_LOCK_MINUTES", default=15))
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_HANDLER = "projects.logins.LoginHandler"
AXES_USERNAME_CALLABLE = "projects.logins.name_of"
AXES_CLIENT_IP_CALLABLE = "projects.http.address.address_of"
AXES_CLIENT_STR_CALLABLE = "projects.logins.said_in_logs"
AXES_LOCKOUT_CALLABLE = "config.views.locked"
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
LOGIN_URL = reverse_lazy("login")
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = reverse_lazy("home")

# --- Language and time -------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = env.str("TIME_ZONE", default="UTC")

# --- Static files ------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [path for path in [BASE_DIR / "static"] if path.is_dir()]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
STATIC_ROOT.mkdir(exist_ok=True)
# Without `collectstatic` the files are served from where the packages keep them.
WHITENOISE_USE_FINDERS = not any(STATIC_ROOT.iterdir())

# --- Celery ------------------------------------------------------------------------------------------------

CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="filesystem://localhost/")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "cairn"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_TIMEOUT = 1.0
CELERY_TIMEZONE = "UTC"
# How long a claimed topic may stay silent before another worker takes it over. The chain
# requests × timeout + store budget < soft < hard < lease < visibility is checked by `manage.py check`.
DISTIL_STORE_BUDGET_S = env.int("DISTIL_STORE_BUDGET_S", default=20)
DISTIL_SOFT_LIMIT_S = env.int("DISTIL_SOFT_LIMIT_S", default=240)
DISTIL_HARD_LIMIT_S = env.int("DISTIL_HARD_LIMIT_S", default=270)
DISTIL_LEASE_S = env.int("DISTIL_LEASE_S", default=300)
BROKER_VISIBILITY_TIMEOUT_S = env.int("BROKER_VISIBILITY_TIMEOUT_S", default=600)
if CELERY_BROKER_URL.startswith("filesystem:"):
    _broker = DATA_DIR / "broker"
    for _folder in ("queue", "processed", "control"):
        (_broker / _folder).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_broker / "queue"),
        "data_folder_out": str(_broker / "queue"),
        "processed_folder": str(_broker / "processed"),
        "control_folder": str(_broker / "control"),
        "store_processed": False,
        # The transport's own pause would let through one task a second.
        "polling_interval": 0.05,
    }
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": BROKER_VISIBILITY_TIMEOUT_S,
        "socket_connect_timeout": 0.5,
        # Finishing a turn waits this long, once, for a Redis that hangs, and not at all for one that is away.
        "socket_timeout": 1.0,
        "max_retries": 0,
        "unacked_restore_interval": 5,
    }
# How long one round looks again at what was kept under older rules of the guard; a round begins every 5 minutes.
RESCAN_ROUND_S = env.float("RESCAN_ROUND_S", default=120.0)
SWEEP_EVERY_S = env.float("SWEEP_EVERY_S", default=5.0)
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "chats.sweep", "schedule": SWEEP_EVERY_S, "options": {"expires": 60}},
    "forget-idempotency": {
        "task": "projects.forget_idempotency",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
    "forget-logins": {"task": "projects.forget_logins", "schedule": 600.0, "options": {"expires": 600}},
    "roll-up-usage": {"task": "memories.roll_up_usage", "schedule": 300.0, "options": {"expires": 300}},
    "fade": {"task": "memories.fade", "schedule": 3600.0, "options": {"expires": 3600}},
    "retain": {"task": "memories.retain", "schedule": 21_600.0, "options": {"expires": 21_600}},
    "rescan": {"task": "memories.rescan", "schedule": 300.0, "options": {"expires": 300}},
}

# --- Turns and recall --------------------------------------------------------------------------------------

os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(DATA_DIR / "tiktoken"))
RECALL_DEADLINE_MS = env.int("RECALL_DEADLINE_MS", default=200)
RECALL_INDEX_MAX_PROJECTS = env.int("RECALL_INDEX_MAX_PROJECTS", default=200)
RECALL_INDEX_MAX_MEMORIES = env.int("RECALL_INDEX_MAX_MEMORIES", default=200_000)
TURN_ABANDONED_AFTER_S = env.int("TURN_ABANDONED_AFTER_S", default=7200)
HISTORY_MAX_TURNS = env.int("HISTORY_MAX_TURNS", default=100)
# Shares of the window that history and the block may take; the rest is reserve for the answer.
CONTEXT_HISTORY_SHARE = env.float("CONTEXT_HISTORY_SHARE", default=0.6)
CONTEXT_STATIC_SHARE = env.float("CONTEXT_STATIC_SHARE", default=0.3)
# What of the history's share turns of other topics may take.
CONTEXT_EPISODES_SHARE = env.float("CONTEXT_EPISODES_SHARE", default=0.05)

# --- Distilling --------------------------------------------------------------------------------------------

EXTRACTION_BACKEND = env.str("EXTRACTION_BACKEND", default="rules")
# Of what is in force by itself, the share that is drawn for a person to look at all the same.
SPOT_CHECK_SHARE = env.float("SPOT_CHECK_SHARE", default=0.05)
if not 0 <= SPOT_CHECK_SHARE <= 1:
    raise ImproperlyConfigured(f"SPOT_CHECK_SHARE is a share from 0 to 1, not {SPOT_CHECK_SHARE}.")
# What a model backend may take: calls in a run × seconds a call. The rules call nothing.
EXTRACTION_MAX_REQUESTS = env.int("EXTRACTION_MAX_REQUESTS", default=3)
EXTRACTION_TIMEOUT_S = env.int("EXTRACTION_TIMEOUT_S", default=60)
# The model backend: any endpoint that speaks the OpenAI protocol.
LLM_BASE_URL = env.str("LLM_BASE_URL", default="")
LLM_API_KEY = env.str("LLM_API_KEY", default="")
LLM_MODEL = env.str("LLM_MODEL", default="")
# auto finds out which of the others the endpoint takes: json_schema, json_object, none.
LLM_STRUCTURED = env.str("LLM_STRUCTURED", default="auto")
# Empty: the model's own. Some models refuse any other.
_temperature = env.str("LLM_TEMPERATURE", default="")
LLM_TEMPERATURE = float(_temperature) if _temperature else None
DISTIL_IDLE_S = env.float("DISTIL_IDLE_S", default=2.0 if EXTRACTION_BACKEND == "rules" else 60.0)
DISTIL_MAX_WAIT_S = env.float("DISTIL_MAX_WAIT_S", default=900.0)
DISTIL_MAX_TOKENS = env.int("DISTIL_MAX_TOKENS", default=12_000)
DISTIL_CONTEXT_TURNS = env.int("DISTIL_CONTEXT_TURNS", default=6)
DISTIL_KNOWN_MEMORIES = env.int("DISTIL_KNOWN_MEMORIES", default=30)
# A topic is summed up after so much silence, once so many tokens were said since. Each time costs a model one call.
SUMMARY_IDLE_S = env.float("SUMMARY_IDLE_S", default=DISTIL_IDLE_S)
SUMMARY_AFTER_TOKENS = env.int("SUMMARY_AFTER_TOKENS", default=400 if EXTRACTION_BACKEND == "rules" else 3000)

# --- What is kept how long ---------------------------------------------------------------------------------

# Days; 0: for good. A learned memory of importance 1 is half as strong after so long without use, one of
# importance 4 after four times that; at a quarter it is archived.
FADE_HALF_LIFE_DAYS = env.float("FADE_HALF_LIFE_DAYS", default=30.0)
FADE_UNREVIEWED_DAYS = env.float("FADE_UNREVIEWED_DAYS", default=30.0)
# What was recalled for a turn, and older summaries; what a model answered word for word; what extraction
# proposed; the trail; the history of what was deleted, without which nothing comes back.
RETAIN_RECALLS_DAYS = env.int("RETAIN_RECALLS_DAYS", default=90)
RETAIN_RAW_OUTPUT_DAYS = env.int("RETAIN_RAW_OUTPUT_DAYS", default=14)
RETAIN_CANDIDATES_DAYS = env.int("RETAIN_CANDIDATES_DAYS", default=180)
RETAIN_AUDIT_DAYS = env.int("RETAIN_AUDIT_DAYS", default=400)
RETAIN_DELETED_DAYS = env.int("RETAIN_DELETED_DAYS", default=30)

# --- API ---------------------------------------------------------------------------------------------------

API_MAX_BODY_BYTES = env.int("API_MAX_BODY_BYTES", default=1_500_000)
DATA_UPLOAD_MAX_MEMORY_SIZE = API_MAX_BODY_BYTES
# What each (key, project), (person, project) and, without either, each address may send; empty: as much as it likes.
THROTTLE_RATE = env.str("THROTTLE_RATE", default="1200/minute")
if THROTTLE_RATE and not _is_rate(THROTTLE_RATE):
    raise ImproperlyConfigured(
        f"THROTTLE_RATE is {THROTTLE_RATE!r}, but must read like 1200/minute; empty for no throttle."
    )
# Counted together where there is a Redis, else by each process for itself.
THROTTLE_STORAGE_URL = env.str(
    "THROTTLE_STORAGE_URL",
    default=CELERY_BROKER_URL if CELERY_BROKER_URL.startswith(("redis://", "rediss://")) else "memory://",
)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "projects.http.authentication.ApiKeyAuthentication",
        "projects.http.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["projects.http.parsers.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["projects.http.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "projects.http.paging.CursorPagination",
    "EXCEPTION_HANDLER": "projects.http.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Cairn",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "DESCRIPTION": "Project memory for AI agents, with people in charge of it.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "projects.http.schema.add_conventions",
    ],
    # Names for choices that stand in several bodies, or share a member's name with others.
    "ENUM_NAME_OVERRIDES": {
        "TurnStatusEnum": "chats.models.Chat.ChatStatus",
        "TurnEndingEnum": "chats.api.bodies.ENDINGS",
        "TopicStatusEnum": "chats.models.Topic.TopicStatus",
        "InstructionKindEnum": "chats.models.Instruction.Kind",
        "InstructionStateEnum": "chats.models.Instruction.State",
        "IntentEnum": "chats.api.bodies.INTENTS",
        "DistilStateEnum": "chats.api.answers.DISTIL_STATES",
        "RememberedOutcomeEnum": "chats.api.answers.REMEMBERED_OUTCOMES",
        "MemoryStatusEnum": "memories.models.Status",
        "RunStatusEnum": "memories.models.Extraction.RunStatus",
        "RunResultEnum": "memories.models.Extraction.Result",
    },
}

# --- Logging -----------------------------------------------------------------------------------------------

# One JSON line each for requests, tasks and whatever else is said; `make run` asks for readable ones.
LOG_FORMAT = env.str("LOG_FORMAT", default="json")
if LOG_FORMAT not in logs.FORMATS:
    raise ImproperlyConfigured(f"LOG_FORMAT is {LOG_FORMAT!r}; choose one of {', '.join(logs.FORMATS)}.")
LOGGING = logs.configuration(form=LOG_FORMAT, level=env.str("LOG_LEVEL", default="INFO"), debug=DEBUG)
