# equarx-sim in a container: docker build -t equarx-sim . && docker run --rm -v "$PWD:/work" equarx-sim --help
FROM debian:12 AS build
COPY . /source
WORKDIR /source
RUN bash tools/package.sh deb /packages

FROM debian:12-slim
COPY --from=build /packages /packages
RUN apt-get update \
 && apt-get install -y --no-install-recommends /packages/*.deb python3 python3-numpy python3-matplotlib \
 && rm -rf /packages /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["equarx-sim"]
CMD ["--help"]
