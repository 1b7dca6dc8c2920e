// Hosts are counted under the name of their record, because visitors can make up hosts under a wildcard, and each
// would be a row of the rollups, which are kept for 400 days. `host` is the counted name, which the views read as
// before. `asked_host` is the requested host.

import type { AnalyticsMigration } from './migration.ts';

/** Empty if `host` itself was requested. No view is changed for it: decision 21. */
const ASKED_HOST = 'ALTER TABLE requests ADD COLUMN IF NOT EXISTS asked_host String CODEC(ZSTD) AFTER host';

export const HOSTS_OF_RECORDS: AnalyticsMigration = { name: '0005-hosts', statements: [ASKED_HOST] };
