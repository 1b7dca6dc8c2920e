// Whether the TXT record of a waiting domain in managed mode counts (docs/rules.md "Preparing with TXT").

import { sql } from 'kysely';
import { TXT_COUNTS_MS } from '../../checks/txt/next-preparation.ts';

/** Selects verifications `v` whose record was found within 14 days; null where there is none. */
export const TXT_COUNTS = sql<boolean>`(v.verified_at > clock_timestamp()
  - make_interval(secs => ${TXT_COUNTS_MS / 1000}::float8))`;
