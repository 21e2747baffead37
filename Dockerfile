# An image that contains only tflock, as a static binary:
#
#     docker build -t tflock .
#     docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" tflock lock -r --platform linux_amd64,darwin_arm64
#
# `--target with-git` adds git, which modules in git repositories and --changed require.

FROM rust:1.95-alpine3.22 AS build
RUN apk add --no-cache musl-dev=~1.2
WORKDIR /src
COPY . .
# /image is the content of the final image: the program, and a directory for temporary files that every user can write to.
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

# The binary contains root certificates for systems without any, such as this image.
FROM scratch
COPY --from=build /image /
ENV TFLOCK_CACHE_DIR=/tmp/tflock
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["/tflock"]
