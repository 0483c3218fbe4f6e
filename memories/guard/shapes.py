"""Secrets that their own form gives away: private keys, JWTs, passwords in addresses, signed and secret links."""

import re
from collections.abc import Iterator
from typing import Final

from memories.guard import values

_KEY_BLOCK: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----((?:[A-Za-z0-9+/=:,.\s\\>#*\"'|-]"
    r"|(?<=-)END [A-Z0-9 ]{2,40}-){40,20000})"
    r"|PuTTY-User-Key-File-\d:[^\n]{1,80}\n[\s\S]{40,6000}?Private-MAC: ?[0-9a-f]+"
)
# How a private key begins in DER (PKCS#1, PKCS#8, SEC 1, Ed25519) and in OpenSSH's own form, read as base64.
_KEY_BODY: Final = re.compile(
    r"(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9+/]{3}IBA[AD]|MII[A-Za-z0-9+/]{2}wIBADANBgkq|MHcCAQEE|MIGHAgEAMBMGByqG"
    r"|MC4CAQAwBQYDK2V|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/=\s]{40,20000}"
)
_JWT: Final = re.compile(r"(?<![\w-])eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{16,1024}")

_WITH_PASSWORD: Final = re.compile(
    r"(?<=://)[^\s:/@?#\"'<>]{0,64}:([^\s/\"'<>]{1,128})@(?=[\w.\-\[]{2})"
    r"|(?<=thin:)[A-Za-z]\w{1,31}/([^\s/\"'<>@]{4,64})@(?=[\w/])"
)
# "user:password@tcp(host:3306)/db", "user:password@10.0.0.3:3306": without a scheme the value must tell.
_BARE_LOGIN: Final = re.compile(
    r"(?<![\w:/.@-])[A-Za-z][\w-]{1,31}[:/]([^\s/\"'<>:]{6,64})@(?=(?:tcp|unix)\(|\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|[\w.-]{1,100}:\d{2,5}\b)"
)
# The lines of a .pgpass file: host:port:database:user:password.
_PGPASS: Final = re.compile(
    r"(?<![\w.:/-])[\w.*-]{1,64}:(?:\d{2,5}|\*):[\w*-]{1,32}:[\w*-]{1,32}:([^\s:]{4,64})(?=\s|$)"
)
_HOOKS: Final = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/\d{8,22}/"
    r"|webhook\.office\.com/webhookb2/"
    r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/"
    r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key="
    r"|oapi\.dingtalk\.com/robot/send\?access_token=|api\.telegram\.org/bot|sctapi\.ftqq\.com/"
    r"|sc\.ftqq\.com/|api\.day\.app/|hooks\.zapier\.com/hooks/catch/|hook\.[\w.]{2,12}\.?make\.com/"
    r"|maker\.ifttt\.com/[\w/]{1,80}/key/|chat\.googleapis\.com/v1/spaces/\w{1,40}/messages\?"
    r"|/(?:web)?hooks?/(?:[a-z]{1,16}/)?)"
    r"([A-Za-z0-9/_:@.?&=%-]{12,300})"
)
_SIGNED: Final = re.compile(
    r"(?<![A-Za-z])(?:sig|signature|x-amz-signature|x-goog-signature|q-signature)=([A-Za-z0-9%+/=_-]{24,400})",
    re.IGNORECASE,
)

Found = tuple[str, int, int, bool]


def keys(text: str) -> Iterator[Found]:
    """(code, start, end, sure) of private keys, with their header lines or without."""
    if "PRIVATE KEY" in text or "PuTTY-User" in text:
        for match in _KEY_BLOCK.finditer(text):
            if not values.is_filler(match[1] or ""):
                yield "private_key", *match.span(), True
    if "MII" in text or "MHc" in text or "MIGH" in text or "MC4" in text or "b3Bl" in text:
        for match in _KEY_BODY.finditer(text):
            yield "private_key", match.start(), match.start() + len(match[0].rstrip()), True


def tokens(text: str) -> Iterator[Found]:
    """JSON Web Tokens with their signature."""
    if "eyJ" in text:
        yield from (("token", *match.span(), True) for match in _JWT.finditer(text))


def addresses(text: str) -> Iterator[Found]:
    """Passwords inside connection strings and logins."""
    if "://" in text or "thin:" in text:
        for match in _WITH_PASSWORD.finditer(text):
            place = match.lastindex or 1
            verdict = _password_of_url(match[place], text[match.start() : match.start(place) - 1])
            if verdict is not None:
                yield "connection_string", *match.span(place), verdict
    if "@" in text:
        for match in _BARE_LOGIN.finditer(text):
            if values.is_passwordlike(match[1]):
                yield "connection_string", *match.span(1), True
    if text.count(":") >= 4:
        for match in _PGPASS.finditer(text):
            if values.is_passwordlike(match[1]):
                yield "connection_string", *match.span(1), True


def links(text: str) -> Iterator[Found]:
    """Addresses that let in whoever knows them: webhooks, signed links."""
    if "/" in text and ("hook" in text or ".com/" in text or ".app/" in text or ".org/" in text):
        for match in _HOOKS.finditer(text):
            if _opens(match[1], own=match[0].startswith("/")):
                yield "webhook", *match.span(1), True
    if "=" in text and ("ig=" in text or "ature=" in text):
        yield from (("token", *m.span(1), True) for m in _SIGNED.finditer(text) if values.is_random(m[1]))


def _opens(path: str, *, own: bool) -> bool:
    """Whether the rest of a hook's address is generated; `own` hosts may name their paths as they like."""
    if values.is_uuid(path[:36]):
        return not own
    if own:
        return any(len(part) >= 20 and values.is_dense(part) for part in path.split("/", 4)[:4])
    if values.is_placeholder(path) or "your" in path.lower():
        return False
    return any(map(str.isdigit, path)) and not values.is_sequence(path)


def _password_of_url(value: str, user: str) -> bool | None:
    """True: a password, False: it may be one, None: a stand-in ("user:password@")."""
    value = value.strip("[]")
    if (
        not value
        or values.is_placeholder(value)
        or (value[0] in "$%{[" and values.is_name(value.strip("${}%[]")))
        or "${" in value
        or "{" in value
    ):
        return None
    if value.isdigit() and len(value) < 4:
        return None
    if value.isalpha() and not values.has_random_letters(value):
        return None if value.lower() == user.lower() else False
    return True
