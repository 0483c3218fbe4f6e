"""The test of a value: could this run of characters be a secret, or is it a name, a placeholder, code?

Labels stand everywhere in project rules ("the token budget is 6000"); what tells a secret from a rule
is the value. These tests keep false alarms near zero; each looks at one value of bounded length.
"""

import itertools
import re
from typing import Final

from memories.guard.findings import occurs


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


MAX_LENGTH: Final = 512
TESTED: Final = 128  # the first characters of a long value tell what it is
# "SHA256:…", "0x4F…" with no more digits than an id has: a digest and an id are shown to everybody.
_DIGEST: Final = re.compile(r"(?i)(?:sha-?\d{1,3}|md5)[:=-]|0x[0-9a-f]{1,16}$")
_PARTS: Final = 16
_LONGEST_NAME: Final = 28  # characters of a part in which "SHA256" is looked for
_JOINTS: Final = re.compile("[-_.]")

_SYMBOLS: Final = re.compile(r"[!@#$%^&*~?+]")
# Signs of a placeholder, anywhere in a value; "******" and "…" among them.
_STANDS_FOR: Final = (
    "xxxx", "****", "...", "…", "####", "----", "____", "00000000", "example", "placeholder", "redacted",
    "masked", "changeme", "change-me", "change_me", "replaceme", "replace-me", "replace_me", "replace-with",
    "replace_with", "12345678901", "abcdefgh", "<", ">", "${", "{{", "%(",
)  # fmt: skip
_YOURS: Final = re.compile(r"your[-_@]?(?:\w|$)")
_NO_NAMES: Final = _words("my the some dummy fake sample insert todo tbd null none undefined true false")
# Words that documentation writes where a connection string has its password.
_STAND_INS: Final = frozenset(
    {"password", "passwd", "pass", "pwd", "pw", "secret", "token", "key", "apikey", "user", "username",
    "xxx", "xxxx", "yyy", "foo", "bar", "baz", "string", "value", "credentials", "mypassword",
    "yourpassword", "dbpass", "dbpassword"}
)  # fmt: skip
_ALGORITHM: Final = re.compile(
    r"(?:pbkdf|sha-?3?|aes|rsa|(?<![a-z])(?:hs|rs|es|ps|md|ed|sm|gbk?|x|p)|des|hmac|ecdsa|argon|bcrypt|base|utf|ucs|iso"
    r"|rfc|tls|ssl|ssh"
    r"|oauth|http|curve|secp|chacha|poly|blake|crc|ipv|win|int|uint|float|varchar|char"
    r"|bit)-?\d{1,5}(?:gcm|cbc|ctr|url|mb|k1|r1|id|le|be)?\d?"
)
_CODE: Final = re.compile(
    r"^(?:\$[A-Za-z_]\w*|%\w+%|\$\(.*|https?:.*|\.{0,2}/.*|~/.*|[A-Za-z]:\\.*|--?[a-z].*)$"
    r"|(?:^|[^A-Za-z])(?:process\.env|os\.environ|import\.meta|getenv|settings|config|self|this|request|env"
    r"|secrets|vars)\."
    r"|::|->|^\*\*?[A-Za-z_]\w*\*{0,2}$|\[\^?[A-Za-z0-9%]{1,3}-|\(\?[:=!<P]|\\[dwsb.]|^\^[\[(\\]|0-9A-Za-z|a-z0-9|A-Za-z|a-zA-Z|__\w+__|^@[\w.-]+(?::\d+)?/"
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
    r"|^(?:\d+:)?\d+\.\d+[a-z\d.]*(?:[-+~][a-z\d.]+)+$"
)
_DATE: Final = re.compile(r"^(?:19|20)\d\d[-/.]?[01]\d[-/.]?[0-3]\d(?:t[\d:.]+z?)?$")
_MAIL: Final = re.compile(r"^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$")
_PACKAGE: Final = re.compile(r"^@[\w-]+/[\w.-]+|^[a-z][a-z\d_.-]*@(?:latest|next|v?\d{1,2}(?:\.\d+)*)$")
_UUID: Final = re.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_SEPARATORS: Final = re.compile(r"[._\-/:#@\\+,=&?]+")
_WORD: Final = re.compile(
    r"[a-z]+|[A-Z]+|[A-Z]?[a-z]*(?:[A-Z][a-z]+)+[A-Z]*|[a-z]{3,}[A-Z]{2,5}[a-z]{2,}|[A-Z]+[a-z]+"
)
_NUMBERED: Final = re.compile(
    r"([A-Za-z]+)\d{1,2}|[a-z]{1,6}\d{1,2}[a-z]{1,8}|[a-z]{1,2}\d{1,4}[a-z]{0,2}|[A-Z]{1,3}\d{1,2}[a-z]+"
    r"|\d[A-Z][a-z]+|v?\d{1,8}[a-z]?|\d{1,4}[a-z]{1,5}|(?:[A-Z][a-z]{2,}){1,3}\d{1,2}(?:[A-Z][a-z]{2,}){1,3}"
)
_GROUPED: Final = re.compile(r"(?=[^\d]*\d)[A-Za-z\d]{4,6}(?:-[A-Za-z\d]{4,6}){1,7}")
_HUMP: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CAPITALS: Final = re.compile(r"[A-Z]{2}").match
_CONSONANTS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{5,}")


def is_placeholder(value: str) -> bool:
    """Stands for a value without being one: <…>, ${…}, xxxx, your-key, ******."""
    low = value.lower()
    if occurs(_STANDS_FOR, low) or low in _STAND_INS or len(set(low)) < min(4, len(low) - 2):
        return True
    if low.endswith(("***", "-here", "_here")) or low == "%s" or not low.strip("*"):
        return True
    if "your" in low and _YOURS.search(low):
        return True
    return not low.isalnum() and not _NO_NAMES.isdisjoint(_JOINTS.split(low, _PARTS))


def has_random_letters(word: str) -> bool:
    """Letters alone, in an order that no language and no camelCase gives."""
    size = len(word)
    if size < 8:
        return False
    if not (word.islower() or word.isupper()):
        flips = sum(one.islower() and two.isupper() for one, two in itertools.pairwise(word))
        humps = _HUMP.findall(word)
        return (flips / size > 0.2 and size / len(humps) < 3) or (
            any(map(_CAPITALS, humps)) and size / len(humps) < 3.4
        )
    vowels = sum(char in "aeiouyAEIOUY" for char in word)
    return size >= 12 and (
        vowels / size < 0.2 or bool(_CONSONANTS.search(word.lower()) and vowels / size < 0.3)
    )


def _without_algorithms(value: str) -> str:
    """`value` without "sha256", "AES-128": their digits say nothing about the rest."""
    pieces, at = [], 0
    for match in _ALGORITHM.finditer(value.lower()):
        pieces.append(value[at : match.start()])
        at = match.end()
    return "".join(pieces) + value[at:] if at else value


def is_name(value: str) -> bool:
    """Made of words and small numbers, as identifiers, paths, host names, slugs and versions are."""
    low = value.lower()
    if not value.isalnum():
        if len(value) <= TESTED and (
            _MAIL.match(low) or _PACKAGE.match(value) or _VERSION.match(low) or _FILE.search(low)
        ):
            return True
        parts = [part for part in _SEPARATORS.split(value, _PARTS)[:_PARTS] if part]
    else:
        parts = [value]
    if _DATE.match(low):
        return True
    letters = 0
    for part in set(parts):
        if not _is_name_part(part) and not (
            len(part) <= _LONGEST_NAME and _is_name_part(_without_algorithms(part))
        ):
            return False
        letters = max(letters, sum(map(str.isalpha, part)))
    return letters != 1 or len(parts) < 3


def _is_name_part(part: str) -> bool:
    if not part:
        return True
    if part.isalpha():
        return bool(_WORD.fullmatch(part)) and not has_random_letters(part)
    numbered = _NUMBERED.fullmatch(part)
    return numbered is not None and not has_random_letters(numbered[1] or "")


def _is_code(value: str) -> bool:
    """A variable, path, option or expression; a first sign alone is none ("$x9…" may be a password)."""
    if value.isalnum():
        return False
    return bool(_CODE.search(value)) and (value[0] not in "$-/~." or is_name(value[1:]))


def is_algorithm(value: str) -> bool:
    return bool(_ALGORITHM.fullmatch(value.lower()))


def is_no_value(value: str) -> bool:
    """A placeholder, an expression or a digest, whatever the label says."""
    return is_placeholder(value) or _is_code(value) or is_digest(value)


def is_digest(value: str) -> bool:
    return bool(_DIGEST.match(value))


def is_number(value: str) -> bool:
    return value.isdigit() and 4 <= len(value) <= 12


def is_grouped(value: str, *, least: int = 2) -> bool:
    """A code in groups, as recovery codes are printed: "k3f9a-x81qz"."""
    return value.count("-") >= least - 1 and bool(_GROUPED.fullmatch(value)) and not is_sequence(value)


def is_random(value: str) -> bool:
    """A generated token: at least 16 characters, many different ones, no words."""
    if len(value) < 16 or len(set(value)) < 8 or is_placeholder(value) or _is_code(value):
        return False
    digits = sum(map(str.isdigit, value))
    if digits == 0:
        return any(has_random_letters(part) for part in set(_SEPARATORS.split(value, _PARTS)))
    return digits < len(value) and not is_name(value)


def is_dense(value: str) -> bool:
    """At least 14 letters and digits in an order that only a generator gives, with no label to say so."""
    if len(value) < 14 or not value.isalnum() or is_placeholder(value) or is_sequence(value):
        return False
    digits = sum(map(str.isdigit, value))
    cases = any(map(str.islower, value)) and any(map(str.isupper, value))
    return cases and 0 < digits < len(value) * 0.6 and len(set(value)) >= 10 and not is_name(value)


def is_sequence(value: str) -> bool:
    """Letters and digits that count upwards ("abc123def456"): written by hand to show where a value goes."""
    last = {True: 0, False: 0}
    steps = {True: 0, False: 0}
    misses = 0
    for char in value.lower():
        kind, code = char.isalpha(), ord(char)
        if not kind and not char.isdigit():
            continue
        if last[kind]:
            if code - last[kind] in (1, -9):
                steps[kind] += 1
            else:
                misses += 1
                if misses > 2 and misses * 4 > steps[True] + steps[False]:
                    return False
        last[kind] = code
    told = steps[True] + steps[False]
    return len(value) >= 6 and told >= 3 and misses * 4 <= told


def is_filler(text: str) -> bool:
    """Nothing but a few different characters: "XXXX\nXXXX" between the lines of an example key."""
    return len(set(text) - set("\\n \n-END PRIVATEKY")) < 6


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
        value.lower()
    )


def is_passwordlike(value: str) -> bool:
    """What a person may have chosen: at least 6 characters, letters with digits or symbols, not a name."""
    low = value.lower()
    if not 6 <= len(value) <= 128 or is_placeholder(value) or _is_code(value) or _MEASURE.match(low):
        return False
    if _MAIL.match(low) or _PACKAGE.match(value) or _VERSION.match(low) or _FILE.search(low):
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


# ── What people choose ───────────────────────────────────────────────────────────────────────────
# Words are too common to be told from rules by themselves: these count only right behind "the password is".

_CHOSEN: Final = re.compile(r"(?=[^\d]*\d)[A-Za-z0-9][A-Za-z0-9_.@#!$%^&*+-]{3,23}")
_UNITS: Final = re.compile(r"(?:[a-z]{1,2})?\d{1,4}(?:[a-z]{1,3})?|[a-z]+[-_.]?v?\d{1,2}")
_CONSTANT: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{2,6}-\d+")
_COMMON: Final = _words(
    "sunshine dragon monkey letmein iloveyou princess football baseball basketball superman batman starwars"
    " qwerty qwertyuiop asdfgh asdfghjkl zxcvbn zxcvbnm shadow michael jordan trustno1 butterfly pokemon"
    " cheese chocolate computer opensesame whatever freedom hunter ashley charlie daniel jessica liverpool"
    " arsenal chelsea woaini woaiwojia wodemima"
)
_SAYS: Final = re.compile(
    r".*(?:ed|ing|able|ible|ary|ory|ive|less|ful|ous|ent|ant|ally|ely|hen|sen|ten|den|ken|own|ise|ize|ify|crypt|hash|text|only)"
)
# What may be said of a password that is not the password: its state, its type, its algorithm, where it is.
_SAID: Final = _words(
    "wrong right weak strong safe secure unsafe insecure short long empty blank null none nil true false"
    " plain public private secret hidden visible unique random same different new old set reset lost stale"
    " here there above below string str text int integer char varchar bytes number boolean bool object any"
    " unknown void type field value env vault keyring prompt file stdin input default yes off"
    " valid invalid correct incorrect mandatory optional missing case sensitive basic digest plaintext"
    " base64 bcrypt scrypt argon hash salt pepper hex utf ascii unicode json yaml hunter2 ok fine good bad"
    " password passwd pass passphrase pwd token key secret username user email mail name login id code test"
    " dummy fake example sample placeholder changeme todo tbd redacted masked not never always also now"
    " still just already only it this that what how where who why when then they we you my your our his her"
    " their its the a an in on at to of for by from with as and or but if is are was were be been has have"
    " had do does did can could may might must should will would shall up down out over under about per via"
    " using after before until since because while than each every all some no min max minimum maximum"
    " characters chars digits letters words symbols rotate rules enter type choose pick see ask read use"
    " used get put keep store hashes encrypts stored bearer jwt oauth sso ldap kerberos saml none"
)


def is_chosen(value: str) -> bool:
    """A word or two with a number, or a number alone: a password only where nothing else is meant."""
    if value.isdigit():
        return 4 <= len(value) <= 12
    low = value.lower()
    if (
        not _CHOSEN.fullmatch(value)
        or is_placeholder(value)
        or is_algorithm(value)
        or _CONSTANT.fullmatch(value)
    ):
        return False
    if _UNITS.fullmatch(low) or _MEASURE.match(low) or _MAIL.match(low) or _PACKAGE.match(low):
        return False
    if ("passw" in low and not value.isalnum()) or not any(map(str.isdigit, _ALGORITHM.sub("", low))):
        return False
    return not (_VERSION.match(low) or _DATE.match(low) or _FILE.search(low) or _CODE.search(value))


def is_common(word: str) -> bool:
    """Among the passwords that most people choose."""
    return word.lower() in _COMMON


def is_word(word: str) -> bool:
    """A plain word that says nothing about a password, so that it may be one."""
    low = word.lower()
    return (
        word[1:].islower()
        and word.isalpha()
        and word.isascii()
        and 4 <= len(word) <= 16
        and low not in _SAID
        and not _SAYS.fullmatch(low)
    )


def is_phrase(text: str, *, quoted: bool = False) -> bool:
    """Four to eight plain words that form no sentence: a passphrase."""
    words = re.split(r"[\s_-]+", text)
    plain = all(
        3 <= len(word) <= 10 and word.isascii() and word.islower() and word.isalpha() for word in words
    )
    if not plain or not 4 <= len(words) <= 8 or len(set(words)) < len(words):
        return False
    return sum(word in _SAID or bool(_SAYS.fullmatch(word)) for word in words) <= (
        len(words) // 2 if quoted else 1
    )
