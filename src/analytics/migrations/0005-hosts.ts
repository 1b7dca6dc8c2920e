// Raw lines note the wildcard record that a host is answered by, where it has no record of its own. The rollups count hosts by their own
// names: a view that is changed by MODIFY QUERY counts inserts twice that a killed engine did not answer.

import type { AnalyticsMigration } from './migration.ts';

/** Empty: the host has a record of its own. */
const COLUMN =
  'ALTER TABLE requests ADD COLUMN IF NOT EXISTS wildcard LowCardinality(String) CODEC(ZSTD) AFTER host';

export const HOSTS_OF_RECORDS: AnalyticsMigration = { name: '0005-hosts', statements: [COLUMN] };
