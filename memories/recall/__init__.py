"""Choosing the memories for one turn: index, score, pack, render."""
