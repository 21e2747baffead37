# tflock as a static binary and nothing else:
#
#     docker build -t tflock .
#     docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" tflock lock -r --platform linux_amd64,darwin_arm64
#
# `--target with-git` adds git, for modules in git repositories and for --changed.

FROM rust:1.95-alpine3.22 AS build
RUN apk add --no-cache musl-dev=~1.2
WORKDIR /src
COPY . .
RUN cargo build --release --locked --bin tflock \
    && mkdir -m 1777 /empty

FROM alpine:3.22 AS with-git
RUN apk add --no-cache git=~2
COPY --from=build /src/target/release/tflock /usr/local/bin/tflock
ENV TFLOCK_CACHE_DIR=/tmp/tflock
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/tflock"]

# Root certificates are in the binary for a system that has none.
FROM scratch
COPY --from=build /src/target/release/tflock /tflock
COPY --from=build --chmod=1777 /empty /tmp
ENV TFLOCK_CACHE_DIR=/tmp/tflock
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/tflock"]
