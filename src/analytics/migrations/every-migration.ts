// All migrations of the analytics store, in order.

import { REQUESTS } from './0001-requests.ts';
import { DNS } from './0003-dns.ts';
import { MINUTES_OF_ORIGINS } from './0004-minutes.ts';
import { HOSTS_OF_RECORDS } from './0005-hosts.ts';
import { URIS_OF_DOMAINS } from './0006-uris.ts';
import type { AnalyticsMigration } from './migration.ts';

export const MIGRATIONS: readonly AnalyticsMigration[] = [
  REQUESTS,
  DNS,
  MINUTES_OF_ORIGINS,
  HOSTS_OF_RECORDS,
  URIS_OF_DOMAINS,
];
