"""Passwords handed to a program, a statement or a function: the place of the argument says what it is."""

import re
from collections.abc import Iterator
from typing import Final

from memories.guard import values
from memories.guard.findings import occurs

_VALUE: Final = (
    r"(?:\"(?P<q{0}>[^\"\n]{{4,128}})\"|'(?P<s{0}>[^'\n]{{4,128}})'|(?P<b{0}>[^\s'\"|;]{{4,128}}))"
)
# Programs whose short option takes a password; what comes before it stays within the same command.
_OPTIONS: Final = {
    r"mysql(?:dump|admin|import|sh)?|mariadb(?:-dump)?": r"-p(?=\S)",
    r"docker|podman|nerdctl|helm|oras|skopeo|crane|buildah": r"-p[ =]",
    r"sshpass": r"-p\s?",
    r"redis-cli|redis-benchmark": r"-a\s|--pass\s",
    r"mongo(?:sh|dump|restore|export|import)?|7z|7za|cqlsh|az|psexec|rdesktop|ncli|nmcli": r"-p\s?|password\s",
    r"unzip|zip|rar|unrar|sqlcmd|bcp|mosquitto_(?:pub|sub)|ipmitool": r"-[pP]\s?",
    r"ldap(?:search|add|modify|delete|whoami|passwd)|smbmap": r"-w\s",
    r"openssl": r"-(?:k|K|passin|passout|pass|password)\s(?:pass:)?",
    r"keytool|jarsigner": r"-(?:store|key|src|dest|srcstore|deststore)pass\s",
    r"xfreerdp|wfreerdp": r"/p:",
    r"net\s+use": r"/user:\S{1,64}\s",
    r"snmp\w{2,8}": r"-[AX]\s",
    r"rabbitmqctl\s+(?:add_user|change_password)\s+\S{1,64}": r"",
    r"htpasswd\s+-\w*b\w*(?:\s+\S{1,100}){2}": r"",
    r"(?:sqlplus|exp|imp|expdp|impdp|sqlldr)\s+[\w-]{1,32}/": r"",
    r"curl|http|https|wget|lftp|smbclient|rpcclient": r"(?:-u|--user|-U|-a)[ =]['\"]?[^\s:'\",%]{1,64}[:,%]",
}
_COMMANDS: Final = tuple(
    (
        tuple(sorted(set(re.findall(r"[a-z_]{2,}", re.sub(r"\(\?:.*?\)|\\.|\{.*?\}", " ", names))))),
        re.compile(
            rf"(?<![A-Za-z])(?:{names})"
            + (rf"\b[^\n|;]{{0,120}}?\s(?:{option})" if option else r"\s?")
            + _VALUE.format("")
        ),
    )
    for names, option in _OPTIONS.items()
)
_SHELL: Final = re.compile(
    r"(?:\becho\s+(?:-n\s+)?"
    + _VALUE.format("1")
    + r"\s*(?:\)|\|\s*(?:sudo\s+-S|\S{0,40}passwd|docker\s+login|"
    r"(?:\S+\s+){0,6}--(?:password-stdin|with-token|stdin)))"
    r"|\b(?:kinit|passwd|su|sudo -S|gh|cryptsetup)\b[^\n|;]{0,60}<<<\s?"
    + _VALUE.format("2")
    + r"|\becho\s+['\"]?[\w-]{1,32}:(?P<b3>[^\s'\"|]{4,64})['\"]?\s*\|\s*chpasswd)"
)
_LOGIN: Final = re.compile(
    r"(?<=\s)(?:-u|--user|--auth|--creds?)[ =]['\"]?[\w.@-]{1,64}:(?P<b4>[^\s'\"]{4,128})"
)
# Crypt's own forms: a password can be guessed from them.
_HASHED: Final = re.compile(r"\$(?:apr1|1|2[abxy]|5|6|y|argon2(?:id?|d))\$[\w./$=,+]{20,200}")
_SQL: Final = re.compile(
    r"(?:identified\s+(?:with\s+\w+\s+)?by|with\s+(?:encrypted\s+)?password|set\s+password\s?(?:for\s+\S{1,80}\s?)?=|"
    r"password\s?\()\s*(?:N?'(?P<s>[^'\n]{4,128})'|\"(?P<q>[^\"\n]{4,128})\"|(?P<b>[^\s'\"();]{6,128}))",
    re.IGNORECASE,
)
_CALL: Final = re.compile(
    r"(?:auth|authenticate|log_?in|sign_?in|set_?(?:password|auth|token|key)|sign|hmac|with_?(?:token|key"
    r"|password)|connect|basic_?auth|credentials?|create_?user|sequelize|mysqli|pdo|encrypt|decrypt|cipher|requirepass)\w{0,12}\s?=?\s?\(([^()\n]{6,240})\)",
    re.IGNORECASE,
)
_CALLS: Final = (
    "auth",
    "user",
    "login",
    "log_in",
    "sign",
    "set",
    "hmac",
    "with",
    "connect",
    "cred",
    "crypt",
    "cipher",
    "sequelize",
    "mysqli",
    "pdo",
)
_QUOTED: Final = re.compile(r"\"([^\"\n]{8,128})\"|'([^'\n]{8,128})'")
_STATEMENTS: Final = ("identified", "password")


def find(text: str, low: str) -> Iterator[tuple[str, int, int, bool]]:
    """(code, start, end, sure) of the passwords in command lines, statements and calls."""
    if " -" in text or " /" in text or "sqlplus" in low or "imp " in low or "ctl" in low:
        yield from _of_matches(_LOGIN, text)
        for names, pattern in _COMMANDS:
            if occurs(names, low):
                yield from _of_matches(pattern, text)
    if "$" in text:
        yield from (("password_hash", *match.span(), False) for match in _HASHED.finditer(text))
    if "echo" in text or "<<<" in text:
        yield from _of_matches(_SHELL, text)
    if ("'" in text or '"' in text) and occurs(_STATEMENTS, low):
        yield from _of_matches(_SQL, text)
    if "(" in text and ("'" in text or '"' in text) and occurs(_CALLS, low):
        for match in _CALL.finditer(text):
            for quoted in _QUOTED.finditer(text, *match.span(1)):
                value = quoted[1] or quoted[2]
                place = 1 if quoted[1] else 2
                if values.is_passwordlike(value):
                    yield "password", *quoted.span(place), values.is_strong(value)


def _of_matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, int, int, bool]]:
    for match in pattern.finditer(text):
        name = match.lastgroup or ""
        value = match[name].rstrip(".,;)")
        chosen = values.is_chosen(value) and not value.isdigit()
        if chosen or values.is_passwordlike(value) or values.is_tokenlike(value):
            yield "password", match.start(name), match.start(name) + len(value), True
