#!/bin/sh
# Builds uriscan and the peers, then times them side by side:
#   scripts/compare-peers.sh FILE [RUNS] [--only A,B] [--skip A,B] [--base NAME] [--json OUT] [--list]
# FILE holds one URI per line. The programs, and the definition of equality of each, are in
# compare-peers/run.py; see `--help`.
set -eu
root=$(dirname "$0")/..
case " $* " in
*" --help "* | *" -h "* | *" --list "*) ;;
*)
    cargo build --release --quiet --manifest-path "$root/Cargo.toml" --bin uriscan
    cargo build --release --quiet --locked --manifest-path "$root/scripts/compare-peers/Cargo.toml"
    # Skipped without a C++ compiler.
    cargo build --release --quiet --locked --manifest-path "$root/scripts/compare-peers/ada/Cargo.toml" || true
    ;;
esac
exec python3 "$root/scripts/compare-peers/run.py" "$@"
