# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of animfs in a container; docs/desktops.md says how to run them.
FROM debian:12-slim AS build
COPY . /src
WORKDIR /src
RUN scripts/setup.sh build
RUN make BUILD=/tmp/build PREFIX=/usr SBINDIR=/usr/sbin DESTDIR=/out all install

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends fuse3 libfuse3-3 libxml2 libxxhash0 zlib1g libzstd1 libzip4 libseccomp2 libcap2 && rm -rf /var/lib/apt/lists/*
COPY --from=build /out /
RUN mkdir /anim
ENTRYPOINT ["animfs"]
