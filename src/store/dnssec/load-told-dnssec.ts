// Loads what may be told of how a domain is signed: a database that was restored since the last look asks for less.

import { sql } from 'kysely';
import type { Machine } from '../../checks/dnssec/machine.ts';
import { RULES } from '../../checks/dnssec/rules.ts';
import { asTold } from '../../checks/dnssec/told/as-told.ts';
import { EPOCH_SQL } from '../feed/change-feed.ts';
import type { Database } from '../postgres/database.ts';
import { loadDnssec, loadDnssecOf, type StoredDnssec } from './load-dnssec.ts';

/** Undefined: the domain was never signed. */
export async function loadToldDnssec(db: Database, domainId: number): Promise<StoredDnssec | undefined> {
  return await told(db, await loadDnssec(db, domainId));
}

export async function loadToldDnssecOf(
  db: Database,
  signedZoneId: number,
): Promise<StoredDnssec | undefined> {
  return await told(db, await loadDnssecOf(db, signedZoneId));
}

async function told(db: Database, stored: StoredDnssec | undefined): Promise<StoredDnssec | undefined> {
  const { machine } = stored ?? {};
  if (!stored || !machine || machine.asked.length === 0) return stored;
  return { ...stored, machine: await toldMachine(db, machine) };
}

async function toldMachine(db: Database, machine: Machine): Promise<Machine> {
  const { rows } = await sql<{ epoch: string }>`select ${sql.raw(EPOCH_SQL)} as epoch from feed`.execute(db);
  const [{ epoch }] = rows as [{ epoch: string }];
  return asTold(machine, epoch, RULES);
}
