# The controller's image. `docker build .` gives one that takes the place of the original's, with the
# tools that sign-in scripts call; `docker build --target controller .` leaves those out.
#
#   docker build --build-arg AIU_COMMIT="$(git rev-parse HEAD)" --tag registry.example.com/argocd-image-updater .

FROM rust:1.95-bookworm AS build
WORKDIR /src
# What `version` tells; the history is not part of the build.
ARG AIU_COMMIT=unknown
ARG SOURCE_DATE_EPOCH
COPY . .
RUN cargo build --release --locked --package argocd-image-updater

# Git, SSH and GnuPG are programs that are called, so the base is one that keeps them up to date;
# their versions are those of the day, since an old one is what a scanner reports.
FROM debian:bookworm-slim AS controller
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git gnupg openssh-client tini \
 && rm -rf /var/lib/apt/lists/* \
 && ln -s /usr/bin/tini /sbin/tini \
 && ln -s /usr/local/bin/argocd-image-updater /manager \
 && groupadd --gid 1000 argocd \
 && useradd --uid 1000 --gid 1000 --home-dir /app --create-home argocd
COPY --from=build /src/target/release/argocd-image-updater /usr/local/bin/argocd-image-updater
# The root file system is read-only in a cluster; /tmp is a volume there.
ENV HOME=/app IMAGE_UPDATER_CACHE_DIR=/tmp/argocd-image-updater
USER 1000:1000
WORKDIR /app
ENTRYPOINT ["/sbin/tini", "--", "/manager"]

# Scripts in the field begin with `#!/bin/sh` and `set -eo pipefail`, which Debian's own shell refuses.
FROM controller AS tools
USER 0:0
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends awscli busybox python3 \
 && rm -rf /var/lib/apt/lists/* \
 && for tool in sh wget nslookup; do ln -sf /bin/busybox "/bin/$tool"; done
USER 1000:1000
