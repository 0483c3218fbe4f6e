"""The test of a value: could this run of characters be a secret, or is it a name, a placeholder, code?

Labels stand everywhere in project rules ("the token budget is 6000"); what tells a secret from a rule
is the value. These tests keep false alarms near zero; each looks at one value of bounded length.
"""

import itertools
import re
from typing import Final

MAX_LENGTH: Final = 512
TESTED: Final = 128  # the first characters of a long value tell what it is
_PARTS: Final = 16

_SYMBOLS: Final = re.compile(r"[!@#$%^&*~?+]")
_PLACEHOLDER: Final = re.compile(
    r"x{4,}|^\*+$|\*{3,}$|\*{4,}|\.{3}|…|#{4,}|-{4,}|_{4,}|0{8,}|example|placeholder|redacted|masked"
    r"|change[-_]?me|replace[-_]?(?:me|with)"
    r"|your[-_]?(?:\w|$)|(?:^|[-_.])(?:my|the|some|dummy|fake|sample|insert|todo|tbd|null|none|undefined"
    r"|true|false)(?:[-_.]|$)"
    r"|[-_]here$|12345678901|abcdefgh|<|>|\$\{|\{\{|%\(|^%s$"
)
# Words that documentation writes where a connection string has its password.
_STAND_INS: Final = frozenset(
    {"password", "passwd", "pass", "pwd", "pw", "secret", "token", "key", "apikey", "user", "username",
    "xxx", "xxxx", "yyy", "foo", "bar", "baz", "string", "value", "credentials", "mypassword",
    "yourpassword", "dbpass", "dbpassword"}
)  # fmt: skip
_ALGORITHM: Final = re.compile(
    r"(?i)(?:pbkdf|sha-?3?|aes|rsa|hs|rs|es|ps|md|ed|sm|des|hmac|ecdsa|argon|bcrypt|base|utf|ucs|gbk?|iso"
    r"|rfc|x|tls|ssl|ssh"
    r"|oauth|http|curve|secp|p|chacha|poly|blake|crc|ipv|win|int|uint|float|varchar|char"
    r"|bit)-?\d{1,5}(?:gcm|cbc|ctr|url|mb|k1|r1|id|le|be)?\d?"
)
_CODE: Final = re.compile(
    r"^(?:\$[A-Za-z_]\w*|%\w+%|\$\(.*|https?:.*|\.{0,2}/.*|~/.*|[A-Za-z]:\\.*|--?[a-z].*)$"
    r"|(?:^|[^A-Za-z])(?:process\.env|os\.environ|import\.meta|getenv|settings|config|self|this|request|env"
    r"|secrets|vars)\."
    r"|::|->"
)
_FILE: Final = re.compile(
    r"\.(?:jsonc?|ya?ml|env|py|[cm]?[jt]sx?|vue|mdc?|txt|key|pem|crt|cer|p12|pfx|jks|cfg|conf|ini|toml|go"
    r"|java|kt|rs|rb|php|sh"
    r"|sql|html?|s?css|xml|lock|log|csv|svg|png|local)$"
)
_MEASURE: Final = re.compile(
    r"^[<>≤≥~]?\d[\d.,]*(?:-\d+)?[-_]?(?:ms|s|secs?|m|mins?|minutes?|h|hours?|d|days?|weeks?|months?|years?"
    r"|bits?|bytes?|px|kb?|mb?|gb?"
    r"|tokens?|chars?|characters|digits?|times|位|x|st|nd|rd|th)?$"
)
_VERSION: Final = re.compile(
    r"^[\w@/-]*?[@v^~=]*\d+(?:\.(?:\d+|x))+(?:[-+.](?:alpha|beta|rc|dev|post|lts)?[\d.]*)?$"
)
_DATE: Final = re.compile(r"^(?:19|20)\d\d[-/.]?[01]\d[-/.]?[0-3]\d(?:t[\d:.]+z?)?$")
_MAIL: Final = re.compile(r"^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$")
_PACKAGE: Final = re.compile(r"^@[\w-]+/[\w.-]+|^[a-z][\w.-]*@(?:latest|next|v?\d{1,2}(?:\.\d+)*)$")
_UUID: Final = re.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_SEPARATORS: Final = re.compile(r"[._\-/:#@\\+,=&?]+")
_WORD: Final = re.compile(r"[a-z]+|[A-Z]+|[A-Z]?[a-z]*(?:[A-Z][a-z]+)+[A-Z]*|[A-Z]+[a-z]+")
_NUMBERED: Final = re.compile(
    r"([A-Za-z]+)\d{1,2}|[a-z]{1,6}\d{1,2}[a-z]{1,8}|[a-z]{1,2}\d{1,4}[a-z]{0,2}|[A-Z]{1,3}\d{1,2}[a-z]+"
    r"|\d[A-Z][a-z]+|v?\d{1,8}[a-z]?|\d{1,4}[a-z]{1,5}"
)
_HUMP: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CAPITALS: Final = re.compile(r"[A-Z]{2}").match
_CONSONANTS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{5,}")


def is_placeholder(value: str) -> bool:
    """Stands for a value without being one: <…>, ${…}, xxxx, your-key, ******."""
    low = value.lower()
    return bool(_PLACEHOLDER.search(low)) or low in _STAND_INS or len(set(low)) < min(4, len(low) - 2)


def has_random_letters(word: str) -> bool:
    """Letters alone, in an order that no language and no camelCase gives."""
    size = len(word)
    if size < 8:
        return False
    if not (word.islower() or word.isupper()):
        flips = sum(one.islower() and two.isupper() for one, two in itertools.pairwise(word))
        humps = _HUMP.findall(word)
        return flips / size > 0.2 or (any(map(_CAPITALS, humps)) and size / len(humps) < 3.4)
    vowels = sum(char in "aeiouyAEIOUY" for char in word)
    return size >= 12 and (
        vowels / size < 0.2 or bool(_CONSONANTS.search(word.lower()) and vowels / size < 0.3)
    )


def is_name(value: str) -> bool:
    """Made of words and small numbers, as identifiers, paths, host names, slugs and versions are."""
    low = value.lower()
    if len(value) <= TESTED and (
        _MAIL.match(low)
        or _PACKAGE.match(low)
        or _VERSION.match(low)
        or _DATE.match(low)
        or _FILE.search(low)
    ):
        return True
    parts = [part for part in _SEPARATORS.split(_ALGORITHM.sub("", value), _PARTS)[:_PARTS] if part]
    letters = 0
    for part in set(parts):
        if part.isalpha():
            if not _WORD.fullmatch(part) or has_random_letters(part):
                return False
        else:
            numbered = _NUMBERED.fullmatch(part)
            if not numbered or has_random_letters(numbered[1] or ""):
                return False
        letters = max(letters, sum(map(str.isalpha, part)))
    return letters != 1 or len(parts) < 3


def _is_code(value: str) -> bool:
    """A variable, path, option or expression; a first sign alone is none ("$x9…" may be a password)."""
    return bool(_CODE.search(value)) and (value[0] not in "$-/~." or is_name(value[1:]))


def is_algorithm(value: str) -> bool:
    return bool(_ALGORITHM.fullmatch(value))


def is_no_value(value: str) -> bool:
    """A placeholder or an expression, whatever the label says."""
    return is_placeholder(value) or _is_code(value)


def is_number(value: str) -> bool:
    return value.isdigit() and 4 <= len(value) <= 12


def is_random(value: str) -> bool:
    """A generated token: at least 16 characters, many different ones, no words."""
    if len(value) < 16 or len(set(value)) < 8 or is_placeholder(value) or _is_code(value):
        return False
    digits = sum(map(str.isdigit, value))
    if digits == 0:
        return any(has_random_letters(part) for part in set(_SEPARATORS.split(value, _PARTS)))
    return digits < len(value) and not is_name(value)


def is_uuid(value: str) -> bool:
    return bool(_UUID.match(value.lower()))


def is_tokenlike(value: str) -> bool:
    """What may follow "token:" or "secret is": at least 8 characters, letters and digits, not a name."""
    if len(value) < 8 or is_placeholder(value) or _is_code(value) or _MEASURE.match(value.lower()):
        return False
    if value.isalpha():
        return has_random_letters(value)
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return mixed and not (is_name(value) and not _is_word_with_year(value))


def _is_word_with_year(value: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z]{3,12}[@!#$_]?\d{3,6}[!@#$]?", value)) and not _ALGORITHM.fullmatch(
        value
    )


def is_passwordlike(value: str) -> bool:
    """What a person may have chosen: at least 6 characters, letters with digits or symbols, not a name."""
    low = value.lower()
    if not 6 <= len(value) <= 128 or is_placeholder(value) or _is_code(value) or _MEASURE.match(low):
        return False
    if _MAIL.match(low) or _PACKAGE.match(low) or _VERSION.match(low) or _FILE.search(low):
        return False
    symbols = len(_SYMBOLS.findall(value.rstrip("!?*")))
    letters = any(map(str.isalpha, value))
    digits = any(map(str.isdigit, value))
    if letters and digits:
        return symbols > 0 or _is_word_with_year(value) or not is_name(value)
    if value.isalpha():
        return has_random_letters(value)
    return letters and symbols >= 2 and not is_name(value)


def is_strong(value: str) -> bool:
    """So unlike prose that it needs no "is" or "=" before it."""
    if is_random(value):
        return True
    kinds = _kinds(value)
    return len(value) >= 8 and kinds >= 3 and is_passwordlike(value) and (kinds == 4 or not is_name(value))


def _kinds(value: str) -> int:
    return sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", r"[!@#$%^&*~+]"))


def is_varied(value: str) -> bool:
    """Letters of both cases, a digit and a symbol in eight characters: what password rules ask for."""
    return len(value) >= 8 and _kinds(value) == 4 and is_passwordlike(value)
