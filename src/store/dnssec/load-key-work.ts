// Loads what a look at a key machine begins with.

import { sql } from 'kysely';
import type { Machine } from '../../checks/dnssec/machine.ts';
import { delegatedTo } from '../../checks/dnssec/told/dnssec-findings.ts';
import type { DelegatedTo } from '../../checks/dnssec/told/foreign-findings.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import {
  DOMAIN_COLUMNS,
  DOMAIN_TABLES,
  type DomainRow,
  nameserversOf,
  provingSets,
} from '../domains/domain.ts';
import type { DnssecKey } from '../keys/load-keys.ts';
import { decodePublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { loadDnssecOf, type StoredDnssec } from './load-dnssec.ts';

export interface KeyWork extends StoredDnssec {
  readonly machine: Machine;
  readonly domainId: number;
  readonly accountId: number;
  readonly name: Name;
  /** Null: nodes serve nothing of it. */
  readonly zoneId: number | null;
  /** Those that its zone shows. */
  readonly nameservers: readonly Name[];
  /** Somebody asks for a look at the parent, whenever it was asked last. */
  readonly isDsDue: boolean;
  readonly delegatedTo: DelegatedTo;
  /** Since when the owner has something to do at the registrar. */
  readonly wantedSince: Date | null;
  readonly remindedAt: Date | null;
}

interface WorkRow extends DomainRow, Pick<KeyWork, 'isDsDue' | 'wantedSince' | 'remindedAt'> {
  readonly settings: string | null;
  readonly currentNs: readonly string[] | null;
}

/** Undefined: the domain is deleted, or has no machine. */
export async function loadKeyWork(db: Database, signedZoneId: number): Promise<KeyWork | undefined> {
  const { rows } = await sql<WorkRow>`
    select ${DOMAIN_COLUMNS}, ${SETTINGS_TEXT} as settings, s.ds_due as "isDsDue", s.wanted_since as "wantedSince",
      s.reminded_at as "remindedAt", (select c.current_ns from domain_checks c where c.domain_id = d.id) as "currentNs"
    from ${DOMAIN_TABLES} join signed_zones s on s.domain_id = d.id
    where s.id = ${signedZoneId} and d.deleted_at is null`.execute(db);
  const [row] = rows;
  const stored = await loadDnssecOf(db, signedZoneId);
  if (row === undefined || stored === undefined || stored.machine === null) return undefined;
  const settings = decodePublishSettings(row.settings);
  const { isDsDue, wantedSince, remindedAt, currentNs } = row;
  return {
    ...stored,
    machine: withoutDestroyed(stored.machine, stored.keys),
    domainId: row.id,
    accountId: row.accountId,
    name: decodeNameColumn(row.name),
    zoneId: row.zoneId,
    nameservers: nameserversOf(row, settings).map(foldCase),
    isDsDue,
    wantedSince,
    remindedAt,
    delegatedTo: delegatedTo(currentNs?.map(decodeNameColumn) ?? null, provingSets(row, settings).flat()),
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
