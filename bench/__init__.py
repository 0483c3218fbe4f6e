"""Measuring the product: how fast it is, and how well recall chooses. See README.md."""
