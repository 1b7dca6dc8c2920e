// Trust anchors that were added or revoked (RFC 5011), shared by all workers. They belong to the configured DS records;
// other DS records start without any.

import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { RolledAnchor } from '../../checks/validation/roll-anchors.ts';
import type { Database } from '../postgres/database.ts';

/** Serializes workers that roll concurrently. */
const LOCK = 5011;

export async function loadAnchors(db: Database, configured: readonly Uint8Array[]): Promise<RolledAnchor[]> {
  const rows = await db
    .selectFrom('trust_anchors')
    .select(['key', 'state', 'since'])
    .where('origin', '=', originOf(configured))
    .orderBy('since')
    .orderBy('key')
    .execute();
  return rows.map(({ key, state, since }) => ({ key: Uint8Array.from(key), state, since: since.getTime() }));
}

/** Replaces the stored anchors with the result of `roll`, and returns it. */
export async function rollSavedAnchors(
  db: Database,
  configured: readonly Uint8Array[],
  roll: (before: readonly RolledAnchor[]) => readonly RolledAnchor[],
): Promise<readonly RolledAnchor[]> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${LOCK}::bigint)`.execute(trx);
    const after = roll(await loadAnchors(trx, configured));
    const origin = originOf(configured);
    await trx.deleteFrom('trust_anchors').where('origin', '=', origin).execute();
    if (after.length === 0) return after;
    const rows = after.map(({ key, state, since }) => ({
      origin,
      key: Buffer.from(key),
      state,
      since: new Date(since),
    }));
    await trx.insertInto('trust_anchors').values(rows).execute();
    return after;
  });
}

function originOf(configured: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const ds of [...configured].sort(Buffer.compare)) hash.update(`${ds.length} `).update(ds);
  return hash.digest('base64url');
}
