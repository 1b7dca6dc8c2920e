// URIs of a whole domain are asked for more often than those of one host: a second order of the same rows, without hosts, lies in each
// part of the table. Parts that are there already have none, and are read as before until their days are over.

import type { AnalyticsMigration } from './migration.ts';

/** Merges add rows up, and so make the second order anew. */
const MADE_ANEW = `ALTER TABLE uris_daily MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild'`;

const OF_DOMAIN = `
  ALTER TABLE uris_daily ADD PROJECTION IF NOT EXISTS of_domain (
    SELECT domain_id, day, uri, sum(count) GROUP BY domain_id, day, uri)`;

export const URIS_OF_DOMAINS: AnalyticsMigration = { name: '0006-uris', statements: [MADE_ANEW, OF_DOMAIN] };
