# shellcheck shell=bash
# What the scripts share: sourced, it names the places and defines functions, and does nothing else.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # the scripts use it
VENV=$ROOT/.venv
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
# Trust what this machine trusts: behind a company's proxy uv's own list of authorities is not enough.
export UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-1} UV_LINK_MODE=${UV_LINK_MODE:-copy}

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Interpreters by the names that PATH knows, the wanted version first.
pythons_on_path() {
  local name
  for name in "python$(wanted_python)" python3 python python3.{20..8}; do
    command -v "$name" || true
  done
}

wanted_python() { head -n 1 "$ROOT/.python-version"; }

# Prints the path of a uv: the one on PATH, else a private one, pinned and hashed, which the Python $1 (≥ 3.8) installs.
uv_with() {
  local python=$1 home=$ROOT/var/tools/uv pip
  if have uv; then
    command -v uv
    return
  fi
  if ! "$home/bin/uv" --version >/dev/null 2>&1; then
    [ -n "$python" ] || return 1
    rm -rf "$home"
    if "$python" -m pip --version >/dev/null 2>&1; then
      pip=("$python" -m pip install --target "$home")
    else
      make_venv "$python" "$home" || return 1
      pip=("$home/bin/python" -m pip install)
    fi
    "${pip[@]}" -qq --require-hashes -r "$ROOT/scripts/uv.txt" >&2 || return 1
  fi
  printf '%s\n' "$home/bin/uv"
}

# A virtual environment at $2 by the Python $1; Debian keeps what that takes in a package of its own.
make_venv() {
  rm -rf "$2"
  "$1" -m venv "$2" >/dev/null 2>&1 && return
  is_debians "$1" && may_apt || return 1
  say "Installing Python's venv module …"
  apt_install python3-venv && "$1" -m venv "$2" >/dev/null
}

is_debians() { [ "$1" -ef /usr/bin/python3 ]; }

may_apt() { [ "$(id -u)" = 0 ] && have apt-get; }

# Installs Debian packages without a question. A server that comes with one is not started: ours run on their own ports.
apt_install() {
  local policy=/usr/sbin/policy-rc.d made=0 status=0 log
  log=$(mktemp)
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" && made=1
  fi
  (
    export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -q -y --no-install-recommends "$@"
  ) </dev/null >"$log" 2>&1 || status=$?
  [ "$made" = 0 ] || rm -f "$policy"
  [ "$status" = 0 ] || tail -n 5 "$log" >&2
  rm -f "$log"
  return "$status"
}
