#!/bin/sh
# Builds uriscan's sets and embedded stores into one program, then times them side by side:
#   scripts/compare-stores.sh [--keys N] [--asked N] [--add N] [--rounds N] [--threads N] [--only A,B] [--dir DIR]
# What is timed, and what the options mean, tells `--help`.
set -eu
root=$(dirname "$0")/..
cargo build --release --quiet --locked --manifest-path "$root/scripts/compare-stores/Cargo.toml"
exec "${CARGO_TARGET_DIR:-$root/scripts/compare-stores/target}/release/stores" "$@"
