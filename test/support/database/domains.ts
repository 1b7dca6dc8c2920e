// Accounts and domains for tests of the store, and their state as text.

import { sql } from 'kysely';
import { expect } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import type { Actor } from '../../../src/store/accounts/actor.ts';
import { createDomain, type NewDomain } from '../../../src/store/change/save-domain.ts';
import { type SavedEdit, saveEdit } from '../../../src/store/change/save-edit.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { checkPublished } from '../../../src/store/housekeeping/check-published.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { streamRecords } from '../../../src/store/records/load-records.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import type { Edit } from '../../../src/zone/edit/edit.ts';
import { printRecordName } from '../../../src/zone/records/record-name.ts';
import { timedSerial } from '../../../src/zone/serial.ts';
import { isUnprovenMark } from '../../../src/zone/zone.ts';
import { APEX, type EditLines, edit, showRecord } from '../zone/customer-records.ts';

export const BY: { by: Actor; source: 'api' } = {
  by: { kind: 'key', keyId: 7, accountId: 1 },
  source: 'api',
};

export async function newAccount(db: Database, email: string, isAdmin = false): Promise<number> {
  const created = await createAccount(db, { email, isAdmin, planSlug: 'pro' });
  if (created.kind !== 'created') throw new Error(created.message);
  return created.account.id;
}

export function wantedDomain(accountId: number, name: string, rest: Partial<NewDomain> = {}): NewDomain {
  return {
    ...BY,
    accountId,
    name: parseName(name),
    unicode: name.slice(0, -1),
    dnsMode: 'managed',
    exempt: false,
    ...rest,
  };
}

/** Creates a domain like an operator: its whole zone is answered immediately. */
export async function newDomain(
  db: Database,
  accountId: number,
  name = 'example.com.',
  rest: Partial<NewDomain> = {},
): Promise<Domain> {
  const created = await createDomain(db, wantedDomain(accountId, name, { exempt: true, ...rest }));
  if (created.kind !== 'created') throw new Error(created.message);
  return created.domain;
}

/** Saves an edit of example.com, given as lines, or as lines to create. It must make a change. */
export async function saved(
  db: Database,
  domainId: number,
  change: Edit | EditLines | string[],
): Promise<Extract<SavedEdit, { kind: 'saved' }>> {
  const lines = Array.isArray(change) ? { create: change } : change;
  const given = 'creates' in lines ? lines : edit(lines);
  const result = await saveEdit(db, { ...BY, domainId, edit: given });
  if (result.kind !== 'saved') throw new Error(JSON.stringify(result));
  return result;
}

/** Returns what is served, without the SOA's timers and the marker of an unproven zone: `www 300 A 192.0.2.1`. */
export async function published(db: Database, apex: Name = APEX): Promise<string[] | undefined> {
  const records = (await loadZone(db, apex))?.records.filter((record) => !isUnprovenMark(record, apex));
  return records?.map(({ owner, type, ttl, rdata }) => {
    const text = printRdata(type, rdata);
    const shown = type === 6 ? `serial ${text.split(' ')[2]}` : text;
    return `${printRecordName(owner, apex)} ${ttl} ${typeMnemonic(type)} ${shown}`;
  });
}

/** Returns the customer's own records, by name. */
export async function listed(db: Database, domainId: number, apex: Name = APEX): Promise<string[]> {
  const lines: string[] = [];
  for await (const record of streamRecords(db, domainId, {}, { sort: 'name', descending: false })) {
    if (!record.managed) lines.push(showRecord(record, apex));
  }
  return lines;
}

export async function expectPublished(db: Database, ...domainIds: number[]): Promise<void> {
  for (const id of domainIds) expect(await checkPublished(db, id)).toEqual([]);
}

/** Checks that each logged change of a domain, which must all concern its zone, raised the serial exactly once. */
export async function expectSerials(db: Database, domainId: number): Promise<void> {
  const log = (await listDomainChanges(db, domainId, { limit: 100_000 })).reverse();
  const serials = log.map(({ serial }) => serial);
  expect(serials).toEqual(log.map(({ at }, i) => timedSerial(serials[i - 1] ?? 0, at)));
}

/** Sets the limit of waiting domains in every plan. The returned function restores the plans. */
export async function limitClaims(db: Database, limit: number): Promise<() => Promise<void>> {
  const plans = await db.selectFrom('plans').select(['id', 'max_claims']).execute();
  await db.updateTable('plans').set({ max_claims: limit }).execute();
  return async () => {
    for (const { id, max_claims } of plans)
      await db.updateTable('plans').set({ max_claims }).where('id', '=', id).execute();
  };
}

/** Empties tables and those that refer to them, even if privileges or triggers forbid it. */
export async function emptyTables(db: Database, ...tables: readonly string[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx); // without triggers
    await sql`truncate ${sql.join(tables.map((table) => sql.table(table)))} cascade`.execute(trx);
  });
}
