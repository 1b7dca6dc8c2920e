// Rejects settings that lack a nameserver name which is in use. Domains delegated to it would fail, and an account's
// own set would end (docs/rules.md "Nameserver pools").

import { sql } from 'kysely';
import { StartFault } from '../../process/start-fault.ts';
import {
  type AnswerSettings,
  loadAnswerSettings,
  lockAnswerSettings,
  nameserversIn,
} from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';

/** The columns that contain lists of nameserver names (`ns`), and their owner (`who`). */
const USES = [
  { by: 'the set of account', rows: sql`select names as ns, account_id::text as who from account_ns_sets` },
  {
    by: 'the set of domain',
    rows: sql`select delegated_ns as ns, name as who from domains where ${isLive()}`,
  },
  {
    by: 'the chosen set of domain',
    rows: sql`select chosen_ns as ns, name as who from domains where ${isLive()}`,
  },
];

function isLive(): ReturnType<typeof sql> {
  return sql`deleted_at is null and status in ('pending', 'active', 'moved')`;
}

/** Throws StartFault. The settings stay locked until the end of the transaction, so that no further name comes into use. */
export async function refuseDroppedNames(trx: Database, settings: AnswerSettings): Promise<void> {
  await lockAnswerSettings(trx);
  const stored = await loadAnswerSettings(trx);
  if (stored === undefined) return;
  const kept = new Set(nameserversIn(settings));
  const dropped = nameserversIn(stored).filter((name) => !kept.has(name));
  if (dropped.length === 0) return;
  const uses: string[] = [];
  for (const { by, rows: source } of USES) {
    const { rows } = await sql<{ name: string; who: string; count: number }>`
      select n.name, u.who, (count(*) over ())::integer as count
      from (${source}) u, unnest(u.ns) n (name) where n.name = any(${dropped}::text[]) order by n.name, u.who limit 1`.execute(
      trx,
    );
    for (const { name, who, count } of rows) {
      const more = count > 1 ? ` (${count} uses of this kind)` : '';
      uses.push(`${name.replace(/\.$/, '')} is in ${by} ${who.replace(/\.$/, '')}${more}`);
    }
  }
  if (uses.length === 0) return;
  throw new StartFault(
    `the settings remove nameserver names that are in use: ${uses.join('; ')}. Keep them in NAMESERVER_POOL or NAMESERVER_SETS, or remove them with \`zonefleet migrate --force\``,
  );
}
