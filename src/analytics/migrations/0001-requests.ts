// Requests that edges served: the raw lines for 30 days, and rollups that materialized views create from each insert.

import { type AnalyticsMigration, KEPT_SAFE } from './migration.ts';

const RAW = `
  CREATE TABLE IF NOT EXISTS requests (
    at DateTime64(3, 'UTC') CODEC(Delta, ZSTD), domain_id UInt64, edge_id UInt32, host String CODEC(ZSTD),
    method LowCardinality(String), uri String CODEC(ZSTD), status UInt16, octets UInt64, ms UInt32, client String CODEC(ZSTD),
    visitor UInt64, cache LowCardinality(String), rule UInt32, reason LowCardinality(String),
    websocket Bool)
  ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (domain_id, at) TTL toDate(at) + INTERVAL 30 DAY
  SETTINGS ${KEPT_SAFE}`;

/** `failures` counts a status of 500 or more, and requests without a response. Times exclude WebSocket. */
const HOURLY = `
  CREATE TABLE IF NOT EXISTS requests_hourly (
    domain_id UInt64, hour DateTime('UTC'), host String, count SimpleAggregateFunction(sum, UInt64),
    octets SimpleAggregateFunction(sum, UInt64), failures SimpleAggregateFunction(sum, UInt64),
    ms_sum SimpleAggregateFunction(sum, UInt64), ms_count SimpleAggregateFunction(sum, UInt64),
    visitors AggregateFunction(uniqCombined64(15), UInt64),
    times AggregateFunction(quantilesDD(0.01, 0.5, 0.9, 0.95, 0.99), UInt32))
  ENGINE = AggregatingMergeTree PARTITION BY toYYYYMM(hour) ORDER BY (domain_id, hour, host)
  TTL toDate(hour) + INTERVAL 400 DAY SETTINGS ${KEPT_SAFE}`;

const TO_HOURLY = `
  CREATE MATERIALIZED VIEW IF NOT EXISTS requests_to_hourly TO requests_hourly AS
  SELECT domain_id, toStartOfHour(toDateTime(at, 'UTC')) AS hour, host, count() AS count, sum(octets) AS octets,
    countIf(status >= 500 OR status = 0) AS failures, sumIf(ms, NOT websocket) AS ms_sum,
    countIf(NOT websocket) AS ms_count, uniqCombined64State(15)(visitor) AS visitors,
    quantilesDDStateIf(0.01, 0.5, 0.9, 0.95, 0.99)(ms, NOT websocket) AS times
  FROM requests GROUP BY domain_id, hour, host`;

const VALUES = `
  CREATE TABLE IF NOT EXISTS values_daily (
    domain_id UInt64, day Date, host String, method LowCardinality(String), status UInt16,
    cache LowCardinality(String), reason LowCardinality(String),
    count UInt64, octets UInt64)
  ENGINE = SummingMergeTree((count, octets)) PARTITION BY toYYYYMM(day)
  ORDER BY (domain_id, day, host, method, status, cache, reason)
  TTL day + INTERVAL 400 DAY SETTINGS ${KEPT_SAFE}`;

const TO_VALUES = `
  CREATE MATERIALIZED VIEW IF NOT EXISTS requests_to_values TO values_daily AS
  SELECT domain_id, toDate(at) AS day, host, method, status, cache, reason, count() AS count,
    sum(octets) AS octets
  FROM requests GROUP BY domain_id, day, host, method, status, cache, reason`;

const URIS = `
  CREATE TABLE IF NOT EXISTS uris_daily (domain_id UInt64, day Date, host String, uri String CODEC(ZSTD), count UInt64)
  ENGINE = SummingMergeTree(count) PARTITION BY day ORDER BY (domain_id, day, host, uri)
  TTL day + INTERVAL 35 DAY SETTINGS ${KEPT_SAFE}`;

const TO_URIS = `
  CREATE MATERIALIZED VIEW IF NOT EXISTS requests_to_uris TO uris_daily AS
  SELECT domain_id, toDate(at) AS day, host, uri, count() AS count FROM requests GROUP BY domain_id, day, host, uri`;

export const REQUESTS: AnalyticsMigration = {
  name: '0001-requests',
  // A view is created after its table. From then on, every insert goes through it.
  statements: [RAW, HOURLY, VALUES, URIS, TO_HOURLY, TO_VALUES, TO_URIS],
};
