// Migrates the tables of the analytics store. ClickHouse has no lock for this, so each statement may run twice, even
// concurrently, and a migration is recorded once it is complete.

import type { ClickHouseClient } from '@clickhouse/client';
import { MIGRATIONS } from './migrations/every-migration.ts';

const NOTES = `
  CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime('UTC') DEFAULT now())
  ENGINE = ReplacingMergeTree ORDER BY name`;

/** A store with more migrations than these was migrated by a newer program, and is compatible. */
export async function migrateAnalytics(client: ClickHouseClient): Promise<void> {
  const run = async (query: string) => void (await client.command({ query }));
  await run(NOTES);
  const noted = await client.query({ query: 'SELECT DISTINCT name FROM migrations', format: 'JSONEachRow' });
  const applied = new Set((await noted.json<{ name: string }>()).map(({ name }) => name));
  for (const { name, statements } of MIGRATIONS) {
    if (applied.has(name)) continue;
    for (const statement of statements) await run(statement);
    await client.insert({ table: 'migrations', values: [{ name }], format: 'JSONEachRow' });
  }
}
