// Rollups count a host under the name of its record: visitors make up hosts under a wildcard, and each would be a row an hour, kept for
// 400 days. Its own name is in the raw lines. URIs are counted for the whole domain.

import type { AnalyticsMigration } from './migration.ts';

/** Empty: the host has a record of its own. */
const COLUMN =
  'ALTER TABLE requests ADD COLUMN IF NOT EXISTS wildcard LowCardinality(String) CODEC(ZSTD) AFTER host';

const HOST = `if(requests.wildcard = '', requests.host, requests.wildcard)`;

const HOURLY = `
  ALTER TABLE requests_to_hourly MODIFY QUERY
  SELECT domain_id, toStartOfHour(toDateTime(at, 'UTC')) AS hour, ${HOST} AS host, count() AS count,
    sum(requests.octets) AS octets, countIf(status >= 500 OR status = 0) AS failures,
    sumIf(ms, NOT websocket) AS ms_sum, countIf(NOT websocket) AS ms_count,
    uniqCombined64State(15)(visitor) AS visitors,
    quantilesDDStateIf(0.01, 0.5, 0.9, 0.95, 0.99)(ms, NOT websocket) AS times
  FROM requests GROUP BY domain_id, hour, host`;

const VALUES = `
  ALTER TABLE requests_to_values MODIFY QUERY
  SELECT domain_id, toDate(at) AS day, ${HOST} AS host, method, status, cache, reason, count() AS count,
    sum(requests.octets) AS octets
  FROM requests GROUP BY domain_id, day, host, method, status, cache, reason`;

const URIS = `
  ALTER TABLE requests_to_uris MODIFY QUERY
  SELECT domain_id, toDate(at) AS day, '' AS host, uri, count() AS count FROM requests GROUP BY domain_id, day, host, uri`;

const MINUTES = `
  ALTER TABLE requests_to_minutes MODIFY QUERY
  SELECT toStartOfMinute(toDateTime(at, 'UTC')) AS minute, domain_id, ${HOST} AS host, count() AS requests,
    countIf(reason != '' OR status >= 500 OR status = 0) AS failures
  FROM requests
  WHERE startsWith(reason, 'origin_') OR reason = 'no_origin' OR (reason = '' AND cache NOT IN ('hit', 'stale'))
  GROUP BY minute, domain_id, host`;

export const HOSTS_OF_RECORDS: AnalyticsMigration = {
  name: '0005-hosts',
  statements: [COLUMN, HOURLY, VALUES, URIS, MINUTES],
};
