"""Words that announce a secret, in English and Chinese: password, API key, 密码, 令牌."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

TRIGGERS: Final = (
    "pass", "pwd", "secret", "token", "key", "cred", "密", "口令", "令牌", "私钥", "授权码", "凭", "auth",
    "cookie", "session", "sess", "sid", "private", "unlock",
    "pin", "otp", "2fa", "code", "码", "助记", "mnemonic", "phrase", "bearer", "basic", "ak", "sk", "pat",
    "login", "log in", "sign in", "iv", "金鑰", "金钥", "sig",
    "暗号", "秘钥", "wifi", "wi-fi", "pw", "管理员", "账", "帐", "用户", "admin", "user", "account", "root",
    "序列号", "serial", "license", "salt", "seed", "recovery", "证书", "恢复", "登",
    "psk", "open with", "opens with", "ted with", "ured with", "locks with", "locked with",
)  # fmt: skip


def _words(listed: str) -> list[str]:
    return listed.split()


# Patterns by kind, in lower case. "^" before one: no letter may stand before it.
_QUALIFIERS: Final = _words(
    "secret access api private auth signing signature sign encryption encrypt master license service account"
    " storage shared aes des sm4 hmac jwt send unseal fernet rsa ssh deploy project admin root client server"
    " webhook subscription session integration write wallet activation product app role"
    " recovery decryption decrypt consumer merchant partner bot"
)
_PURPOSES: Final = _words(
    r"one[-\s]time verification security access backup recovery unlock door combination alarm gate pairing"
)
_MADE_OF: Final = [
    f"{who}{what}" for who in _words("root admin bind user db store key") for what in ("pw", "pass")
]
_LATIN: Final[dict[str, tuple[str, ...]]] = {
    "password": (
        "pass(?:word|wd|phrase)", "^pwd", r"^pw(?=\s?[:=]|\s(?:is|was|hasn|for)\b|'s)", "userpwd",
        r"^pass(?=\s*(?:[:=,]|-\s|→|(?:is|was)\s|for\s[\w .'-]{1,30}[:=]|[a-z]{0,12}[\d@#!$%^&*]))",
        "requirepass", "masterauth", "^psk(?![a-z])", r"auth-pass\s[\w.-]{1,32}", *_MADE_OF,
        r"wi-?fi\s(?:key|code)(?![a-z])", r"network\skey(?![a-z])", r"wpa2?\skey(?![a-z])",
        r"hotspot\s(?:key|code)(?![a-z])", r"router\s(?:key|code)(?![a-z])", r"wi-?fi(?=\s?[:=?])",
        "credential", "^creds?(?![a-z])", "basic auth",
        r"^log ?in(?=\s?[:=]|\s(?:for|to|is|with|as)\b)",
    ),
    "pin": (
        *(rf"^{short}(?![a-z])(?:\s?(?:codes?|码))?" for short in ("pin", "otp", "2fa")),
        r"codes?\sto\s(?:get in|enter|open|unlock|disarm)(?:\sthe\s[a-z]+)?",
        *(rf"{verb}[a-z]*\s(?:[a-z]+\s){{0,3}}code(?=\s\d)" for verb in ("disarm", "unlock", "open")),
        "passcode", r"^opens?\swith(?=\s\d{4})", r"^enter\s(?:the\s)?code(?=\s\d)",
        *(rf"{purpose}\s?codes?" for purpose in _PURPOSES),
    ),
    "token": (
        *(rf"{word}(?:[ _.-]?access)?[ _.-]?key" for word in _QUALIFIERS),
        "secret", "token", "serial number", r"app\s?certificate",
    ),
    "key": (
        "^key", "^session(?:_?id)?", "^sess", "^sid", "^jsessionid", "^phpsessid", "^cookie", "^csrftoken", "^salt",
        *(
            rf"^{short}(?=\s*(?:[:=是为→]|is\s|[a-z0-9+/]{{16}}))"
            for short in ("ak", "sk", "iv", "sig", "pat", "appkey")
        ),
        *(rf"{word}(?=[\w.-]{{0,24}}\s?=)" for word in ("auth", "private", "identity")),
    ),
    "scheme": (r"^bearer(?=\s+[a-z0-9+/=_.-]{12})", r"^basic(?=\s+[a-z0-9+/=_.-]{12})"),
}  # fmt: skip
# The last part of an identifier, or a first part before "=" ("password_hash" alone is none).
_TAIL: Final = r"s?(?:(?=[a-z0-9_.-]{1,24}[\"'`*]{0,2}\s{0,2}[=:])[a-z0-9_.-]{1,24}|(?![a-z0-9_]))"
_WHO: Final = r"(?:\s?[:=]|\s)\s{0,2}[a-z][\w.@-]{1,32}\s{0,2}[/,|]\s{0,2}(?=[^\s]{6})"
_OTHERS: Final[dict[str, tuple[str, ...]]] = {
    "zh_password": tuple(f"{word}(?:短语|串)?" for word in ("密码", "口令", "密语", "暗号")),
    "zh_pin": tuple(_words("验证码 动态码 提取码 校验码 安全码 取件码 解锁码 门禁码 恢复码 备份码 备用码 配对码")),
    "zh_token": (
        *_words("密钥 秘钥 金钥 密匙 令牌 私钥 授权码 激活码 凭证 凭据 序列号 签名串 许可证"), r"app\s?证书",
    ),
    "pair": (
        *(f"{who}{_WHO}" for who in _words("管理员 账号 帐号 账户 用户名 用户 admin user(?:name)? account")),
        *(rf"{word}\s?[:=]?\s?[a-z][\w.@-]{{1,32}}[\s/,|]{{1,3}}(?=[^\s]{{6}})" for word in ("账密", "帐密")),
        *(
            rf"^{who}\s?[\w.@-]{{1,32}}[\s,;/|]{{1,3}}p\s?[:=]\s?(?=[^\s]{{6}})"
            for who in ("u:", "u=", r"user\s?[:=]", r"username\s?[:=]")
        ),
        *(
            rf"^{verb}\sin(?:to)?\s[^\n.;,]{{0,40}}\bas\s[\w.@-]{{1,32}}(?:,|\s/|\swith|\sand)\s(?=[^\s]{{6}})"
            for verb in ("log", "sign", "ssh")
        ),
        *(
            rf"/{user}\d{{0,3}}\s?/\s?(?=[^\s/]{{6}})"
            for user in _words(
                "root administrator admin system sa guest oracle postgres ubuntu pi ops dev test demo deploy"
            )
        ),
    ),
    "access": (
        "号登", "登录", "登陆", *(rf"^{verb}\sin(?:to)?(?![a-z])" for verb in ("log", "sign", "ssh")),
        *(rf"^{verb}\swith(?![a-z])" for verb in ("protected", "secured", "locked", "unlocks")),
    ),
    "phrase": (
        "助记词(?:备份)?", "恢复(?:短语|词)", "mnemonic",
        *(f"{word}[ _-](?:phrase|words)" for word in ("seed", "recovery", "mnemonic", "backup")),
        *(rf"{count}[ -]word\s\w{{4,8}}" for count in (12, 15, 18, 24)), r"^seed(?=\s?[:=]|\sis)",
    ),
}  # fmt: skip


class Label(NamedTuple):
    kind: str
    start: int
    end: int


# A label that goes on ("password_reset_timeout") announces no number.
_CORE: Final = re.compile(
    r"(?:pass(?:word|phrase|wd|code)?|pwd|pw|psk|pin|otp|2fa|codes?|login|wi-?fi|creds?|credentials?|token|secret|key"
    r"|number|with|the\s[a-z]+|get in|enter|open|unlock|disarm|[^a-z0-9])s?\d?$"
)


def is_whole(label: str) -> bool:
    """Whether a label ends with its own word, so that a number may be its value."""
    return bool(_CORE.search(label))


def _compiled(table: dict[str, tuple[str, ...]], tail: str = "") -> tuple[re.Pattern[str], tuple[str, ...]]:
    """One pattern, its branches grouped by their first character, which decides at most places of a text;
    and the kind of each of its groups.
    """
    branches: dict[str, list[tuple[str, str]]] = {}
    for kind, patterns in table.items():
        for pattern in patterns:
            word = pattern.lstrip("^/")
            unless = {"^": "[a-z]", "/": r"[\w/.-]"}.get(pattern[0])
            before = f"(?<!{unless}{word[:2]})" if unless else ""
            branches.setdefault(word[0], []).append((word[1] + before + word[2:], kind))
    # An empty group at the end of a branch says which it was; one at its start would hide the branch's next
    # character from the engine, which passes over a branch by it.
    joined = "|".join(
        f"{first}(?:{'|'.join(f'{rest}()' for rest, _ in rests)})" for first, rests in branches.items()
    )
    return re.compile(f"(?:{joined}){tail}"), (
        "",
        *(kind for rests in branches.values() for _, kind in rests),
    )


_NAMED, _NAMES = _compiled(_LATIN, _TAIL)
_MARKED, _MARKS = _compiled(_OTHERS)


def find(low: str) -> Iterator[Label]:
    """Every label in a text in lower case, by position in each of the two tables."""
    for match in _NAMED.finditer(low):
        kind = _NAMES[match.lastindex or 0]
        if kind == "key" and match.end() - match.start() > len("password"):
            kind = "password" if "pass" in match[0] else "token" if "secret" in match[0] else kind
        yield Label(kind, match.start(), match.end())
    for match in _MARKED.finditer(low):
        yield Label(_MARKS[match.lastindex or 0], match.start(), match.end())


# "public key", "publishable key", "site key" say themselves that they are no secret.
OPEN: Final = re.compile(r"(?:public|publishable|site|primary|foreign|公开|公用)[\s_-]{0,2}$")

# The name of a resource in a cloud, of which a secret's name is a part.
ARN: Final = re.compile(r"(?:arn:|projects/)[^\s\"']{1,76}$")
