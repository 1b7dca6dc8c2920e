// Hosts are counted under the name of their record: visitors make up hosts under a wildcard, and each would be a row of rollups that are
// kept for 400 days. `host` is the name that counts, which the views read as before; the host that was asked for is noted beside it.

import type { AnalyticsMigration } from './migration.ts';

/** Empty: `host` was asked for itself. No view is changed for it: decision 21. */
const ASKED_HOST = 'ALTER TABLE requests ADD COLUMN IF NOT EXISTS asked_host String CODEC(ZSTD) AFTER host';

export const HOSTS_OF_RECORDS: AnalyticsMigration = { name: '0005-hosts', statements: [ASKED_HOST] };
