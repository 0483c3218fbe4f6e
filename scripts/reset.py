"""`make reset`: removes what `make run` has written, after naming it and asking."""

import os
import shutil
import sys
from pathlib import Path

from data_dir import DATA_DIR, AlreadyRunning, lock

# All that the product writes at run time; tools and caches of the set-up stay.
DATA = (
    "db.sqlite3*",
    "test.sqlite3*",
    "demo.json",
    "secret_key",
    "broker",
    "beat-schedule*",
    "static",
    "openapi.yaml",
)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def main() -> int:
    out = sys.stdout.write
    try:
        held = lock()
    except AlreadyRunning as running:
        sys.exit(str(running))
    with held:
        found = sorted(path for pattern in DATA for path in DATA_DIR.glob(pattern))
        if not found:
            out(f"There is no data in {DATA_DIR}.\n")
            return 0
        out("This removes for good:\n" + "".join(f"  {path}\n" for path in found))
        if url := os.environ.get("DATABASE_URL"):
            out(f"(DATABASE_URL is set; what lies in that {url.partition(':')[0]} database stays.)\n")
        if os.environ.get("YES") != "1":
            if not sys.stdin.isatty():
                sys.exit("Nothing was removed: nobody is there to ask. Say YES=1 to go ahead.")
            if input("Go ahead? [y/N] ").strip().lower() not in {"y", "yes"}:
                out("Nothing was removed.\n")
                return 1
        for path in found:
            remove(path)
        out("Removed. `make run` begins anew.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
