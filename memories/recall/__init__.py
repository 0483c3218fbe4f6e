"""Choosing the memories for one turn: index, score, pack, render; `service` joins them to the rows."""

from memories.recall.service import Explanation, Item, Omitted, RecallResult, explain, index_of, recall

__all__ = ["Explanation", "Item", "Omitted", "RecallResult", "explain", "index_of", "recall"]
