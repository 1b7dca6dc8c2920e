// The history of zones that a peer may transfer: a peer, and a check that the kept differences lead from an earlier content
// to the present one.

import { sql } from 'kysely';
import { expect } from 'vitest';
import { type Name, printName } from '../../../src/dns/name.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { decodeNameColumn } from '../../../src/store/postgres/name-column.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { isNewer } from '../../../src/zone/serial.ts';
import { isEdgeMark, isMark, type ZoneRecord } from '../../../src/zone/zone.ts';

/** Lets a peer transfer every zone. */
export async function letPeerTransfer(db: Database): Promise<void> {
  await sql`insert into peers (name, networks) values ('second', '{192.0.2.0/24}')`.execute(db);
  await sql`insert into transfer_policies (name, is_default) values ('default', true)`.execute(db);
  await sql`insert into policy_peers (policy_id, peer_id, transfers, notified)
    select t.id, p.id, true, true from transfer_policies t, peers p`.execute(db);
}

type Content = ReadonlySet<string>;

const keyOf = ({ owner, type, ttl, rdata }: ZoneRecord) =>
  `${printName(owner)} ${type} ${ttl} ${Buffer.from(rdata).toString('hex')}`;

/** Returns the records that a transfer of the zone has, as texts. */
export async function contentOf(db: Database, apex: Name): Promise<Content> {
  const { records } = (await loadZone(db, apex)) ?? { records: [] };
  return new Set(records.filter((one) => !isMark(one) && !isEdgeMark(one)).map(keyOf));
}

interface Step {
  readonly version: number;
  readonly before: number | null;
  readonly rows: number;
  readonly serialBefore: number | null;
  readonly serialAfter: number | null;
}

interface Difference extends Omit<ZoneRecord, 'owner'> {
  readonly version: number;
  readonly removed: boolean;
  readonly owner: string;
}

export async function historyOf(db: Database, apex: Name): Promise<Step[]> {
  const { rows } = await sql<Step>`
    select h.version, h.version_before as before, h.rows, h.serial_before as "serialBefore",
      h.serial_after as "serialAfter"
    from zone_history h join zones z on z.id = h.zone_id where z.name = ${printName(apex)} order by h.version`.execute(
    db,
  );
  return rows;
}

/** Applies the kept differences to `content`. They must lead to the present version, each with a newer serial. */
export async function expectReplay(db: Database, apex: Name, content: Content): Promise<readonly Step[]> {
  const steps = await historyOf(db, apex);
  const { rows } = await sql<Difference>`
    select d.version, d.removed, d.owner, d.type, d.ttl, d.rdata from zone_differences d join zones z on z.id = d.zone_id
    where z.name = ${printName(apex)} order by d.version, d.removed desc`.execute(db);
  const replayed = new Set(content);
  for (const [i, step] of steps.entries()) {
    if (i > 0) expect(step.before).toBe(steps[i - 1]?.version);
    if (step.rows > 0) expect(isNewer(step.serialAfter as number, step.serialBefore as number)).toBe(true);
    for (const { version, removed, owner, ...row } of rows) {
      if (version !== step.version) continue;
      const key = keyOf({ owner: decodeNameColumn(owner), ...row });
      expect(replayed.has(key), `${removed ? 'removed' : 'added'} ${key}`).toBe(removed);
      if (removed) replayed.delete(key);
      else replayed.add(key);
    }
  }
  const present = await sql<{
    version: number;
  }>`select version from zones where name = ${printName(apex)}`.execute(db);
  expect(steps.at(-1)?.version).toBe(present.rows[0]?.version);
  expect([...replayed].sort()).toEqual([...(await contentOf(db, apex))].sort());
  return steps;
}
