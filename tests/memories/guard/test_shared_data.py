"""Rates over the labelled files that measure the guard, where they are present."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from memories import guard

DATA = Path(settings.BASE_DIR).parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data is not here")


def rows(name):
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def rate(labelled, label, kind=None):
    chosen = [row for row in labelled if row["label"] == label]
    found = [row for row in chosen if any(kind in (None, one.kind) for one in guard.inspect(row["text"]))]
    return len(found) / len(chosen)


@pytest.mark.parametrize("seed", [1, random.Random().randrange(10**6)], ids=["seed 1", "a new seed"])
def test_secrets_are_found_in_plain_and_disguised_sentences(seed):
    command = [sys.executable, str(DATA / "expand_secrets.py"), "--obfuscate", "--seed", str(seed)]
    output = subprocess.run(command, capture_output=True, check=True, text=True, encoding="utf-8").stdout
    labelled = [json.loads(line) for line in output.splitlines()]
    assert rate(labelled, 1, "secret") >= 0.98, f"seed {seed}"
    assert rate(labelled, 0) <= 0.01


def test_injections_are_found_and_their_look_alikes_pass():
    labelled = rows("injections.jsonl")
    assert rate(labelled, 1) >= 0.95
    assert rate(labelled, 0) <= 0.02


def test_rules_of_real_projects_pass():
    assert rate(rows("benign_rules.jsonl"), 0) <= 0.003
