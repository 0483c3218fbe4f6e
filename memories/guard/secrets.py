"""Passwords, tokens and keys: by their own form, or a label with a value that passes the value test."""

import re
import string
from collections.abc import Iterator
from typing import Final, Literal

from memories.guard import shapes, values
from memories.guard.findings import Finding, occurs
from memories.guard.views import View

_RUNS: Final = 8  # runs of characters after a label that are looked at
_REACH: Final = 110  # characters after a label in which its value may stand
_TRIGGERS: Final = (
    "pass", "pwd", "secret", "token", "key", "cred", "密", "口令", "令牌", "私钥", "授权码", "凭", "auth",
    "cookie", "session", "sess", "sid",
    "pin", "otp", "2fa", "code", "码", "助记", "mnemonic", "phrase", "bearer", "basic", "ak", "sk", "pat",
    "login", "iv", "金鑰", "金钥", "sig",
    "暗号", "秘钥", "wifi", "wi-fi", "pw", "管理员", "账", "帐", "用户", "admin", "user", "account",
    "序列号", "serial", "license", "salt",
)  # fmt: skip

# In lower case, the last part of an identifier, or a first part before "=" ("password_hash" alone is none).
_LABEL: Final = re.compile(
    r"(?:(?P<password>pass(?:word|wd|phrase)|(?<![a-z])pwd|(?<![a-z])pw(?=\s?[:=])"
    r"|(?<![a-z])pass(?=\s*(?:[:=]|-\s|→|is\s))"
    r"|requirepass|masterauth|(?:root|admin|bind)pw|wi-?fi(?:\s(?:key|code)(?![a-z])|(?=\s?[:=]))|dbpass"
    r"|userpass|credential|(?<![a-z])creds?(?![a-z])|basic auth|(?<![a-z])log ?in(?=\s?[:=]|\s(?:for|to|is"
    r"|with|as)\b))"
    r"|(?P<pin>(?<![a-z])(?:pin|otp|2fa)(?![a-z])(?:\s?codes?)?|passcode|(?:one[- ]time|verification"
    r"|security|access|backup|recovery|unlock|door)\s?codes?)"
    r"|(?P<token>(?:secret|access|api|private|auth|sign(?:ing|ature)?|encrypt(?:ion)?|master|license"
    r"|service|account|storage|shared|aes|des|sm4|hmac|jwt"
    r"|rsa|ssh|deploy|project|admin|root|client|server|webhook|subscription|session|integration|write"
    r"|wallet|activation|product|app|role)"
    r"(?:[ _-]?access)?[ _-]?key|secret|token|serial number)"
    r"|(?P<key>(?<![a-z])(?:key|session(?:_?id)?|sess|sid|jsessionid|phpsessid|cookie|csrftoken|salt|(?:ak"
    r"|sk|iv|sig|pat|appkey)(?=\s*(?:[:=是为→]|is\s|[a-z0-9+/]{16}))))"
    r"|(?P<scheme>(?<![a-z])(?:bearer|basic)(?=\s+[a-z0-9+/=_.-]{12})))s?"
    r"(?:(?=[a-z0-9_-]{1,24}[\"'`*]{0,2}\s{0,2}[=:])[a-z0-9_-]{1,24}|(?![a-z0-9_]))"
    r"|(?P<zh_password>密码|口令|密語|密语|暗号)(?:短语|串)?"
    r"|(?P<zh_pin>验证码|驗證碼|动态码|提取码|校验码|安全码|取件码|解锁码|门禁码|恢复码|备份码)"
    r"|(?P<zh_token>密钥|秘钥|金钥|密匙|令牌|私钥|授权码|激活码|凭证|凭据|序列号|签名串|许可证)"
    r"|(?P<pair>(?:管理员|账号|帐号|账户|用户名?|admin|user(?:name)?|account)(?:\s?[:=]"
    r"|\s)\s{0,2}[a-z][\w.@-]{1,32}\s{0,2}[/,|]\s{0,2}(?=[^\s]{6}))"
    r"|(?P<phrase>助记词|恢复短语|(?:seed|recovery|mnemonic|backup)[ _-](?:phrase|words)|mnemonic)"
)
_TRADITIONAL: Final = str.maketrans("碼鑰語暗號驗證動態憑據許", "码钥语暗号验证动态凭据许")

_PARENTHESIS: Final = re.compile(r"\s?[(\[][^()\[\]\n]{1,24}[)\]]")
_NEXT_LINE: Final = re.compile(
    r"[^\S\n]{0,3}(?:如下)?[\"'`*]{0,3}[^\S\n]{0,3}[:=]?[\"'`*]{0,3}[^\S\n]{0,3}\r?\n[^\S\n]{0,8}"
)
_SENTENCE_END: Final = re.compile(r"[。;]|(?<![:=→>])(?<![:=→>] )\n|[.?](?:\s|$)")
_RUN: Final = re.compile(r"[\"'`]([^\s\"'`]{4,128})[\"'`]|[A-Za-z0-9!@#$%^&*_+\-./=~?:\\]{4,512}")
_FIRM: Final = re.compile(
    r"(?:[:=→>]|=>|\s[-–—]+|\b(?:is|are|was|to|as|be|equals)(?:\s(?:now|still|set to))?"
    r"|[是为成用叫填写作到给换](?:了|的)?(?:是)?|样子|不变|照旧|如下|一样|就是"
    r"|(?<=\w)\s?/)[\s\"'`*“”‘’「『]*$"
)
_BLANK: Final = re.compile(r"[\s\"'`*“”‘’「『|,、()\[\]/-]*$|\s*(?:值|value|string)\s*$")
_HOLDS_PLACE: Final = re.compile(r"[<{\[]|\$[{(]|%\(")
_PAIR: Final = re.compile(r"^([A-Za-z][\w.@-]{0,40})([:/=])([^:/\s].*)$")
# "X is the root password", "X（密码）": what stands between a value and the label after it.
_IS_THE: Final = re.compile(r"(?:\s(?:is|was)\s|就?是|作为|为|\()[^\n。;，,:=()]{0,24}$")
_VALUE_SIGNS: Final = frozenset(string.ascii_letters + string.digits + "!@#$%^&*_+-./=~")
_WORDS: Final = re.compile(r"[\s:=是为\"'`→-]{0,12}((?:[a-z]{3,8}[\s,]{1,2}){11,23}[a-z]{3,8})")

_CODES: Final = {
    "password": "password", "zh_password": "password", "pin": "one_time_code", "zh_pin": "one_time_code",
    "token": "token", "zh_token": "token",
    "key": "key", "scheme": "token", "pair": "password",
}  # fmt: skip
Bond = Literal["adjacent", "firm", "loose"]


def find(view: View) -> Iterator[Finding]:
    """Secrets in one view, with offsets of the original."""
    for code, start, end, sure in shapes.find(view.text):
        yield Finding("secret", code, *view.span(start, end), "refuse" if sure else "hold")
    low = view.low
    if not view.text.isascii():
        low = low.translate(_TRADITIONAL)
    if not occurs(_TRIGGERS, low):
        return
    for label in _LABEL.finditer(low):
        kind = label.lastgroup or ""
        if kind == "phrase":
            words = _WORDS.match(low, label.end())
            if words:
                yield Finding("secret", "recovery_phrase", *view.span(*words.span(1)), "refuse")
            continue
        value = _value_after(view.text, label.end(), kind) or _value_before(view.text, label.start(), kind)
        if value:
            yield Finding("secret", _CODES[kind], *view.span(*value), "refuse")


def _value_after(text: str, at: int, kind: str) -> tuple[int, int] | None:
    """Offsets of the value that belongs to a label ending at `at`, within reach and the same sentence."""
    aside = _PARENTHESIS.match(text, at)
    if aside:
        at = aside.end()
    below = _NEXT_LINE.match(text, at)
    limit = min(len(text), at + _REACH)
    stop = _SENTENCE_END.search(text, below.end() if below else at, limit)
    bound = stop.start() if stop else limit
    for number, run in enumerate(_RUN.finditer(text, at, min(len(text), bound + values.MAX_LENGTH))):
        if run.start() >= bound or number == _RUNS:
            return None
        gap = text[at : run.start()]
        if not gap and run[0][0] in "@/._-":
            return None  # the label is part of a path, an address or a longer name
        firm = bool(_FIRM.search(gap))
        if (firm or number == 0) and _HOLDS_PLACE.search(gap):
            return None
        bond: Bond = "adjacent" if _BLANK.match(gap) else "firm" if firm else "loose"
        found = _judge(text, run.start(1) if run[1] else run.start(), run[1] or run[0], kind, bond)
        if found:
            return found
    return None


def _judge(text: str, start: int, run: str, kind: str, bond: Bond) -> tuple[int, int] | None:
    """The value inside one run of characters: without a leading connector, trailing stops, a user's name."""
    bare = run.lstrip(":=")
    if bare != run:
        bond = "firm" if bond != "loose" else bond
    start += len(run) - len(bare)
    if text[start + len(bare) : start + len(bare) + 1] in ("(", "[", "{", "<") and not values.is_strong(bare):
        return None  # a call, an index, a template
    value = (
        bare.rstrip(".,:;?") if text[start + len(bare) : start + len(bare) + 1] not in ("'", '"') else bare
    )
    if not value:
        return None
    if is_secret(value, kind, bond):
        pair = _PAIR.match(value)
        if pair and values.is_name(pair[1]) and is_secret(pair[3], kind, "firm"):
            return start + pair.start(3), start + len(value)
        return start, start + len(value)
    pair = _PAIR.match(value)
    if pair and is_secret(pair[3], kind, bond if bond == "loose" else "firm"):
        return start + pair.start(3), start + len(value)
    return None


def is_secret(value: str, kind: str, bond: Bond) -> bool:
    """The test of a value for its kind of label and for what stands between the two."""
    value = value[: values.TESTED]
    if not value.isdigit() and values.is_no_value(value):
        return False
    if kind in ("key", "scheme"):
        random = values.is_random(value) or values.is_uuid(value)
        return bond != "loose" and (random or (kind == "key" and bond == "firm" and values.is_varied(value)))
    if kind == "pair":
        return (
            bond == "adjacent"
            and values.is_passwordlike(value)
            and (values.is_varied(value) or values.is_strong(value))
        )
    if bond == "loose":
        return values.is_strong(value)
    if kind in ("pin", "zh_pin"):
        short = kind == "zh_pin" and value.isalnum() and 4 <= len(value) <= 8 and any(map(str.isdigit, value))
        return (
            values.is_number(value)
            or (short and not values.is_algorithm(value))
            or values.is_tokenlike(value)
        )
    if kind in ("password", "zh_password"):
        return (
            values.is_passwordlike(value)
            or values.is_random(value)
            or (values.is_number(value) and len(value) >= 6)
        )
    return values.is_tokenlike(value) or values.is_random(value)


def _value_before(text: str, at: int, kind: str) -> tuple[int, int] | None:
    """ "… is the password": the value stands before its label."""
    if kind in ("key", "scheme", "pin", "zh_pin"):
        return None
    link = _IS_THE.search(text, max(0, at - 32), at)
    if not link:
        return None
    end = link.start()
    while end > 0 and text[end - 1] in " \"'`”’」":
        end -= 1
    start = end
    while start > max(0, end - values.TESTED) and text[start - 1] in _VALUE_SIGNS:
        start -= 1
    return (start, end) if values.is_strong(text[start:end]) else None
