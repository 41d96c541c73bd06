#!/bin/sh
# Builds uriscan and the peers, then times them side by side:
#   scripts/compare-extract.sh DIRECTORY [RUNS]
# DIRECTORY takes the inputs that compare-extract/run.py makes and keeps there; `--help` says the rest.
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
