// URIs of a whole domain are queried more often than those of one host, so each part of the table has the same rows
// in a second order, without hosts. Existing parts do not have it, and are read as before until they expire.

import type { AnalyticsMigration } from './migration.ts';

/** Merges add up rows, so they must rebuild the second order. */
const MADE_ANEW = `ALTER TABLE uris_daily MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild'`;

const OF_DOMAIN = `
  ALTER TABLE uris_daily ADD PROJECTION IF NOT EXISTS of_domain (
    SELECT domain_id, day, uri, sum(count) GROUP BY domain_id, day, uri)`;

export const URIS_OF_DOMAINS: AnalyticsMigration = { name: '0006-uris', statements: [MADE_ANEW, OF_DOMAIN] };
