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
# /image is the last image: a program, and a directory for temporary files that whoever runs it can write to.
RUN cargo build --release --locked --bin tflock \
    && mkdir /image \
    && mkdir -m 1777 /image/tmp \
    && cp target/release/tflock /image/tflock

FROM alpine:3.22 AS with-git
RUN apk add --no-cache git=~2
COPY --from=build /image/tflock /usr/local/bin/tflock
ENV TFLOCK_CACHE_DIR=/tmp/tflock
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/tflock"]

# Root certificates are in the binary for a system that has none.
FROM scratch
COPY --from=build /image /
ENV TFLOCK_CACHE_DIR=/tmp/tflock
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/tflock"]
