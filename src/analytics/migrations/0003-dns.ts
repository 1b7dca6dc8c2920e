// Answers of the nodes by domain: minutes for 8 days, hours for 400 days, and sampled names for 35 days.

import { type AnalyticsMigration, KEPT_SAFE } from './migration.ts';

const COUNTS = `domain_id UInt64, type UInt16, rcode UInt16, node LowCardinality(String), count UInt64`;

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS dns_minutely (minute DateTime('UTC'), ${COUNTS})
  ENGINE = SummingMergeTree(count) PARTITION BY toDate(minute) ORDER BY (domain_id, minute, type, rcode, node)
  TTL toDate(minute) + INTERVAL 8 DAY SETTINGS ${KEPT_SAFE}`,
  `CREATE TABLE IF NOT EXISTS dns_hourly (hour DateTime('UTC'), ${COUNTS})
  ENGINE = SummingMergeTree(count) PARTITION BY toYYYYMM(hour) ORDER BY (domain_id, hour, type, rcode, node)
  TTL toDate(hour) + INTERVAL 400 DAY SETTINGS ${KEPT_SAFE}`,
  `CREATE MATERIALIZED VIEW IF NOT EXISTS dns_to_hourly TO dns_hourly AS
  SELECT toStartOfHour(minute) AS hour, domain_id, type, rcode, node, sum(count) AS count
  FROM dns_minutely GROUP BY hour, domain_id, type, rcode, node`,
  `CREATE TABLE IF NOT EXISTS dns_names_daily (day Date, domain_id UInt64, name String CODEC(ZSTD), count UInt64)
  ENGINE = SummingMergeTree(count) PARTITION BY day ORDER BY (domain_id, day, name)
  TTL day + INTERVAL 35 DAY SETTINGS ${KEPT_SAFE}`,
];

export const DNS: AnalyticsMigration = { name: '0003-dns', statements: STATEMENTS };
