#!/bin/sh
# Builds uriscan's sets and embedded stores into one program, then times them side by side:
#   scripts/compare-stores.sh [--keys N] [--asked N] [--add N] [--rounds N] [--threads N] [--only A,B] [--dir DIR]
# See `--help` for what is timed and for the options.
set -eu
root=$(dirname "$0")/..
case " $* " in
*" --help "* | *" -h "*)
    # The text is a constant of the program, which takes minutes to build.
    sed -n '/^const USAGE/,/^";/p' "$root/scripts/compare-stores/src/main.rs" | sed '1d;$d'
    exit
    ;;
esac
cargo build --release --quiet --locked --manifest-path "$root/scripts/compare-stores/Cargo.toml"
exec "${CARGO_TARGET_DIR:-$root/scripts/compare-stores/target}/release/stores" "$@"
