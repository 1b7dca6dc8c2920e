// Loads what a look at a key machine begins with.

import { sql } from 'kysely';
import type { Machine } from '../../checks/dnssec/machine.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import { DOMAIN_COLUMNS, DOMAIN_TABLES, type DomainRow, nameserversOf } from '../domains/domain.ts';
import { decodePublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { type DnssecKey, loadDnssecOf, type StoredDnssec } from './load-dnssec.ts';

export interface KeyWork extends StoredDnssec {
  readonly machine: Machine;
  readonly domainId: number;
  readonly name: Name;
  /** Null: nodes serve nothing of it. */
  readonly zoneId: number | null;
  /** Those that its zone shows. */
  readonly nameservers: readonly Name[];
}

/** Undefined: the domain is deleted, or has no machine. */
export async function loadKeyWork(db: Database, signedZoneId: number): Promise<KeyWork | undefined> {
  const { rows } = await sql<DomainRow & { settings: string | null }>`
    select ${DOMAIN_COLUMNS}, ${SETTINGS_TEXT} as settings from ${DOMAIN_TABLES}
    where d.id = (select domain_id from signed_zones where id = ${signedZoneId}) and d.deleted_at is null`.execute(
    db,
  );
  const [row] = rows;
  const stored = await loadDnssecOf(db, signedZoneId);
  if (row === undefined || stored === undefined || stored.machine === null) return undefined;
  return {
    ...stored,
    machine: withoutDestroyed(stored.machine, stored.keys),
    domainId: row.id,
    name: decodeNameColumn(row.name),
    zoneId: row.zoneId,
    nameservers: nameserversOf(row, decodePublishSettings(row.settings)).map(foldCase),
  };
}

/** A key without its private part signs nothing more, whatever DS comes back. */
function withoutDestroyed(machine: Machine, keys: readonly DnssecKey[]): Machine {
  const usable = new Set(keys.filter(({ isUsable }) => isUsable).map(({ id }) => String(id)));
  const { serving, wanted, goal } = machine;
  const needed = new Set([...serving.keys, ...serving.dataSigners]);
  if (goal === 'signed' && wanted !== null) needed.add(wanted.sep).add(wanted.data);
  return {
    ...machine,
    keys: machine.keys.filter(({ id, isForeign }) => isForeign === true || usable.has(id) || needed.has(id)),
  };
}
