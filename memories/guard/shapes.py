"""Secrets that their own form gives away: provider tokens, keys in PEM, passwords in URLs and commands."""

import re
from collections.abc import Iterator
from typing import Final

from memories.guard import values
from memories.guard.findings import occurs

# Prefix → the least number of characters that follow it. Providers publish these so that scanners find them.
_PREFIXES: Final[dict[str, int]] = {
    prefix: least
    for least, prefixes in (
        (12, "LTAI"),
        (13, "AKID"),
        (
            16,
            "AKIA ASIA ABIA ACCA AKLT ALTAK glpat- gldt- glrt- glptt- glcbt- gloas- glft- "
            "glsoat- xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xapp- sk_live_ sk_test_ rk_live_ "
            "rk_test_ tskey- sb_secret_",
        ),
        (
            20,
            "GOCSPX- ya29. whsec_ sk- gsk_ xai- pplx- r8_ hf_ tvly- lsv2_ nvapi- fw_ csk- "
            "voyage- dckr_pat_ dckr_oat_ shpat_ shpss_ shpca_ shppa_ sq0csp- sq0atp- hvs. hvb. "
            "hvr. glsa_ glc_ NRAK- NRAL- lin_api_ figd_ ntn_ sntrys_ sntryu_ ATATT3 ATCTT3 ATBB "
            "AKCp sbp_ nfp_ dp.pt. dp.st. CCIPAT_ pscale_tkn_ pscale_pw_ aio_ HRKU- CFPAT- FlyV1 "
            "fo1_ bkua_ pat-na1- pat-eu1- patk_ phx_ tfp_ shippo_live_ rpa_ cal_live_ vercel_ "
            "vcp_ wandb_ pcsk_ re_ rnd_ sdp_ dsp_ fastgpt-",
        ),
        (24, "1//0 app-"),
        (
            30,
            "AIza ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ pa- npm_ pypi- rubygems_ dop_v1_ doo_v1_ "
            "SG. eyJrIjoi dapi PMAK- pul- xkeysib- phc_ sgp_ EZAK ddp_ bce-v3/ALTAK-",
        ),
        (32, "key- live_ SK"),
        (40, "EAAC EAAA AGE-SECRET-KEY-1 secret_ ops_eyJ AC dt0c01."),
    )
    for prefix in prefixes.split()
}
_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9_-])("
    + "|".join(map(re.escape, sorted(_PREFIXES, key=len, reverse=True)))
    + r")([A-Za-z0-9_.=-]{12,512})"
)
_LONG: Final = re.compile(r"[A-Za-z0-9_.=-]{16}")
# The end of a file's name that a key stands in ("AKIA….env"); no key ends in so short a word.
_FILE_END: Final = re.compile(r"(?:\.[A-Za-z]{1,5}){1,2}$")
_HINTS: Final = tuple(_PREFIXES)

_KEY_BLOCK: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----((?:[A-Za-z0-9+/=:,.\s\\-]"
    r"|(?<=-)END [A-Z0-9 ]{2,40}-){40,20000})"
    r"|PuTTY-User-Key-File-\d:[^\n]{1,80}\n[\s\S]{40,6000}?Private-MAC: ?[0-9a-f]+"
)
_JWT: Final = re.compile(r"(?<![\w-])eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{16,1024}")
_WITH_PASSWORD: Final = re.compile(r"(?<=://)[^\s:/@?#\"'<>]{0,64}:([^\s/\"'<>]{1,128})@(?=[\w.\-\[]{2})")
# "user:password@tcp(host:3306)/db", "user:password@10.0.0.3:3306": without a scheme the value must tell.
_BARE_LOGIN: Final = re.compile(
    r"(?<![\w:/.@-])[A-Za-z][\w-]{1,31}:([^\s/\"'<>:]{6,64})@(?=(?:tcp|unix)\(|\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|[\w.-]{1,100}:\d{2,5}\b)"
)
_HOOKS: Final = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/\d{8,22}/"
    r"|webhook\.office\.com/webhookb2/"
    r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/"
    r"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key="
    r"|oapi\.dingtalk\.com/robot/send\?access_token=|api\.telegram\.org/bot|sctapi\.ftqq\.com/"
    r"|sc\.ftqq\.com/|api\.day\.app/)"
    r"([A-Za-z0-9/_:@.-]{16,200})"
)
_PAIRED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(?P<bot>\d{8,10}:[A-Za-z0-9_-]{35})|(?P<zhipu>[0-9a-f]{32}\.[A-Za-z0-9]{16})"
    r"|(?P<discord>[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})"
    r"|(?P<mailchimp>[0-9a-f]{32}-us\d{1,2})|(?P<cairn>cairn_[0-9a-f]{12}_[0-9a-f]{48}))(?![A-Za-z0-9_-])"
)
_COMMAND: Final = re.compile(
    r"(?<![A-Za-z])(?:(?:mysql(?:dump|admin|import)?|mariadb(?:-dump)?)\b[^\n"
    r"|;]{0,120}?\s-p(?P<mysql>[^\s'\"]{4,64})"
    r"|(?:docker|podman|helm|oras|skopeo)\b[^\n|;]{0,40}?\blogin\b[^\n"
    r"|;]{0,120}?\s-p[ =](?P<login>[^\s]{4,128})"
    r"|sshpass\s+-p\s?(?P<ssh>[^\s]{4,64})|redis-cli\b[^\n|;]{0,80}?\s-a\s(?P<redis>[^\s]{4,128})"
    r"|curl\b[^\n|;]{0,120}?\s(?:-u|--user)[ =]['\"]?[^\s:'\"]{1,64}:(?P<curl>[^\s'\"]{4,128})"
    r"|(?:sqlplus|exp|imp|expdp|impdp)\s+[\w-]{1,32}/(?P<oracle>[^\s@]{4,64})@|(?:mongo(?:sh|dump)?|7z"
    r"|unzip|zip|rar)\b[^\n|;]{0,80}?\s-[pP]\s?(?P<archive>[^\s]{6,64}))"
)  # fmt: skip
_SIGNED: Final = re.compile(
    r"[?&](?:sig|signature|x-amz-signature|x-goog-signature)=([A-Za-z0-9%+/=_-]{24,400})", re.IGNORECASE
)

Found = tuple[str, int, int, bool]


def find(text: str) -> Iterator[Found]:
    """(code, start, end, sure) of every value whose form alone says what it is."""
    if _LONG.search(text) and occurs(_HINTS, text):
        for match in _TOKEN.finditer(text):
            tail = _FILE_END.sub("", match[2]).rstrip(".-=")
            whole = match[1] + tail
            if len(tail) >= _PREFIXES[match[1]] and _is_generated(match[1], tail):
                yield "provider_key", match.start(), match.start() + len(whole), True
    if "eyJ" in text:
        yield from (("token", *match.span(), True) for match in _JWT.finditer(text))
    if "PRIVATE KEY" in text or "PuTTY-User" in text:
        yield from (("private_key", *match.span(), True) for match in _KEY_BLOCK.finditer(text))
    if "://" in text or ".com/" in text or ".cn/" in text:
        for match in _WITH_PASSWORD.finditer(text):
            verdict = _password_of_url(match[1], text[match.start() : match.start(1) - 1])
            if verdict is not None:
                yield "connection_string", *match.span(1), verdict
        for match in _HOOKS.finditer(text):
            if values.is_random(match[1]) or values.is_uuid(match[1][:36]):
                yield "webhook", *match.span(1), True
        if "=" in text:
            yield from (("token", *m.span(1), True) for m in _SIGNED.finditer(text) if values.is_random(m[1]))
    if "@" in text:
        for match in _BARE_LOGIN.finditer(text):
            if values.is_passwordlike(match[1]):
                yield "connection_string", *match.span(1), True
    if ":" in text or "." in text or "-us" in text or "cairn_" in text:
        for match in _PAIRED.finditer(text):
            if len(set(match[0])) >= 10 and not values.is_placeholder(match[0]):
                yield "provider_key", *match.span(), True
    if " -" in text or "sqlplus" in text:
        for match in _COMMAND.finditer(text):
            name = match.lastgroup or ""
            value = match[name].rstrip(".,;)")
            if values.is_passwordlike(value) or values.is_tokenlike(value):
                yield "password", match.start(name), match.start(name) + len(value), True


def _is_generated(prefix: str, tail: str) -> bool:
    """Short telling prefixes may begin a word ("ACCA", "sk-"): what follows must then be truly random."""
    if values.is_placeholder(tail) or len(set(tail)) < 8:
        return False
    if prefix.isalpha() and prefix.isupper():
        return any(map(str.isdigit, tail)) and tail.isalnum()
    return values.is_random(tail) or (len(tail) >= 16 and not values.is_name(tail))


def _password_of_url(value: str, user: str) -> bool | None:
    """True: a password, False: it may be one, None: a stand-in ("user:password@")."""
    if (
        values.is_placeholder(value)
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
