"""All figures, or some: `python -m bench [memories keeping turns load] [--short]`; `make bench` does the same.

Runs on a throwaway database: SQLite, or the server that DATABASE_URL names (eval "$(scripts/services env)").
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from bench.sites import ROOT, ground

PARTS = {
    "memories": (["--short"], []),
    "keeping": (["--short"], []),
    "turns": (["--turns", "60"], []),
    "load": (["--seconds", "10"], []),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)}; default: all")
    parser.add_argument("--short", action="store_true", help="within a minute, for CI")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    status = 0
    for part in asked.parts or PARTS:
        with ground() as environment:
            arguments = PARTS[part][0 if asked.short else 1]
            command = [sys.executable, "-m", f"bench.{part}", *arguments]
            status |= subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
