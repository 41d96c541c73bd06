#!/bin/sh
# Builds uriscan and the peers, then times them side by side:
#   scripts/compare-extract.sh DIRECTORY [RUNS]
# DIRECTORY holds the inputs that compare-extract/run.py creates and keeps; see `--help`.
set -eu
root=$(dirname "$0")/..
case " $* " in
*" --help "* | *" -h "*) ;;
*)
    cargo build --release --quiet --manifest-path "$root/Cargo.toml" --bin uriscan
    cargo build --release --quiet --locked --manifest-path "$root/scripts/compare-extract/Cargo.toml"
    ;;
esac
exec python3 "$root/scripts/compare-extract/run.py" "$@"
