// What edges have cached: the cache registry, where it has no database of its own.

import type { Kysely } from 'kysely';
import { makeCachedEntries } from '../../cached/registry-schema.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await makeCachedEntries(db);
}
