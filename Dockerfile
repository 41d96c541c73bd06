# The program alone, static, in an empty image:
#
#   docker build -t uriscan .
#   docker run --rm -v "$PWD:/data" uriscan dedup list.txt -o unique.txt
FROM rust:1-alpine AS build
RUN apk add --no-cache gcc make musl-dev python3
WORKDIR /source
COPY . .
RUN CARGO_PROFILE_RELEASE_STRIP=symbols cargo build --release --locked --package uriscan-cli --features full \
    && mkdir -p /image/tmp /image/data \
    && chmod 1777 /image/tmp \
    && cp target/release/uriscan LICENSE-APACHE LICENSE-MIT /image/ \
    && scripts/third-party-licenses --target "$(rustc -vV | sed -n 's/^host: //p')" -o /image/THIRD-PARTY-LICENSES

FROM scratch
COPY --from=build /image/ /
# Files named on the command line are looked for here.
WORKDIR /data
ENTRYPOINT ["/uriscan"]
