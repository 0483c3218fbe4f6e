"""How well recall chooses: python bench/recall.py --data DIR [--set weight=value …]

Ranking of the whole corpus against plain BM25 in the same run, and what the real pipeline (floor, near duplicates,
packing) returns. How fast it is, `python -m bench memories` tells.
"""

import argparse
import json
import os
import statistics
import sys
from collections import Counter, defaultdict
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from math import log, log2
from pathlib import Path

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from memories.recall.index import Entry, Index
from memories.recall.pack import pack
from memories.recall.parameters import DEFAULT, Parameters
from memories.recall.render import line_tokens
from memories.recall.score import Query, rank
from memories.text import terms

START = datetime(2026, 1, 1, tzinfo=UTC)
MAX_ITEMS, MAX_TOKENS = 12, 6000


def read(file: Path) -> tuple[dict[str, list[dict]], dict[str, list[dict]]]:
    documents, queries = defaultdict(list), defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        (documents if row["kind"] == "document" else queries)[row["pool"]].append(row)
    return documents, queries


def entry(row: dict) -> Entry:
    """A document as a memory; documents come in the order in which they were said, one every two hours."""
    said_at = START + timedelta(hours=2 * row["id"])
    number = row["id"] + 1
    files = tuple(row.get("files", ()))
    return Entry(
        id=number,
        version=1,
        type="fact",
        key=row.get("key", ""),
        content=row["text"],
        said_at=said_at,
        keywords=tuple(row.get("keywords", ())),
        files=files,
        tokens=line_tokens(type="fact", id=number, said_on=said_at.date(), content=row["text"], files=files),
    )


class PlainBm25:
    """Okapi BM25 over the text alone: the line to beat."""

    def __init__(self, texts: list[str]) -> None:
        self.bags = [Counter(terms(text)) for text in texts]
        self.lengths = [sum(bag.values()) for bag in self.bags]
        self.average = sum(self.lengths) / len(self.lengths)
        self.seen = Counter(term for bag in self.bags for term in bag)

    def rank(self, query: str) -> list[int]:
        scores = dict.fromkeys(range(len(self.bags)), 0.0)
        for term in terms(query):
            if not self.seen[term]:
                continue
            rarity = log(1 + (len(self.bags) - self.seen[term] + 0.5) / (self.seen[term] + 0.5))
            for number, bag in enumerate(self.bags):
                if f := bag[term]:
                    scores[number] += (
                        rarity * f * 2.5 / (f + 1.5 * (0.25 + 0.75 * self.lengths[number] / self.average))
                    )
        return sorted(scores, key=lambda number: -scores[number])


def measures(ranking: list[int], relevant: set[int]) -> dict[str, float]:
    found = [number in relevant for number in ranking]
    first = next((place for place, hit in enumerate(found, 1) if hit), 0)
    best = sum(1 / log2(place + 1) for place in range(1, min(len(relevant), 12) + 1))
    return {
        "R@5": sum(found[:5]) / len(relevant),
        "R@12": sum(found[:12]) / len(relevant),
        "MRR": 1 / first if first else 0.0,
        "nDCG@12": sum(hit / log2(place + 1) for place, hit in enumerate(found[:12], 1)) / best,
    }


def returned(chosen: list[int], relevant: set[int]) -> dict[str, float]:
    hits = len(set(chosen) & relevant)
    return {
        "precision": hits / len(chosen) if chosen else 1.0,
        "hit_rate": float(hits > 0),
        "recall": hits / len(relevant),
        "items": len(chosen),
        "empty": float(not chosen),
    }


def mean(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.fmean(row[name] for row in rows) for name in rows[0]}


def quality(file: Path, parameters: Parameters) -> None:
    documents, queries = read(file)
    ours, plain, given = [], [], []
    for pool, asked in queries.items():
        ordered = sorted(documents[pool], key=lambda row: row["id"])
        by_visible = defaultdict(list)
        for row in asked:
            by_visible[row.get("visible", len(ordered))].append(row)
        for visible, rows in by_visible.items():
            kept = ordered[:visible]
            entries = [entry(row) for row in kept]
            index, baseline = Index.build(entries, parameters), PlainBm25([row["text"] for row in kept])
            now = max(one.said_at for one in entries) + timedelta(hours=2)
            for row in rows:
                relevant = set(row["relevant"])
                query = Query.read(row["text"], now=now, parameters=parameters)
                ranking = rank(index, query, parameters)
                # The full ranking: what shares nothing with the query comes last, oldest first, as in the baseline.
                places = dict.fromkeys([one.position for one in ranking] + list(range(len(entries))))
                ours.append(measures(list(places), relevant))
                plain.append(measures(baseline.rank(row["text"]), relevant))
                packing = pack(
                    index, [], ranking, max_items=MAX_ITEMS, max_tokens=MAX_TOKENS, parameters=parameters
                )
                given.append(returned([one.scored.position for one in packing.chosen], relevant))
    for name, rows in (("bm25", plain), ("rules", ours), ("given", given)):
        print(f"{file.stem:14} {name:6}" + "".join(f" {k} {v:.3f}" for k, v in mean(rows).items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with *.jsonl recall corpora")
    parser.add_argument("--only", default="", help="only corpora whose name contains this")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="other parameters")
    asked = parser.parse_args()
    known = {one.name for one in fields(Parameters)}
    changes = dict(one.split("=") for one in asked.set)
    if unknown := changes.keys() - known:
        parser.error(f"unknown parameters: {', '.join(sorted(unknown))}")
    parameters = replace(DEFAULT, **{name: float(value) for name, value in changes.items()})
    for file in sorted(asked.data.glob("*.jsonl")):
        if asked.only in file.stem:
            quality(file, parameters)


if __name__ == "__main__":
    main()
