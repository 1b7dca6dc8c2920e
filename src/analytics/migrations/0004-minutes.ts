// Results of requests to origins, by minute and host, for three days. They determine uptime. Requests that did not
// reach an origin are excluded: those from the cache, and those that a rule, the visitor or the edge ended.

import { type AnalyticsMigration, KEPT_SAFE } from './migration.ts';

const MINUTES = `
  CREATE TABLE IF NOT EXISTS origins_minutely (
    minute DateTime('UTC'), domain_id UInt64, host String CODEC(ZSTD), requests UInt64, failures UInt64)
  ENGINE = SummingMergeTree((requests, failures)) PARTITION BY toDate(minute) ORDER BY (minute, domain_id, host)
  TTL toDate(minute) + INTERVAL 3 DAY SETTINGS ${KEPT_SAFE}`;

const TO_MINUTES = `
  CREATE MATERIALIZED VIEW IF NOT EXISTS requests_to_minutes TO origins_minutely AS
  SELECT toStartOfMinute(toDateTime(at, 'UTC')) AS minute, domain_id, host, count() AS requests,
    countIf(reason != '' OR status >= 500 OR status = 0) AS failures
  FROM requests
  WHERE startsWith(reason, 'origin_') OR reason = 'no_origin' OR (reason = '' AND cache NOT IN ('hit', 'stale'))
  GROUP BY minute, domain_id, host`;

export const MINUTES_OF_ORIGINS: AnalyticsMigration = {
  name: '0004-minutes',
  statements: [MINUTES, TO_MINUTES],
};
