// Carries out a dynamic update of a customer's domain. Prerequisites, grants and earlier transmissions are checked under
// the domain's lock, in the transaction that saves the edit.

import { sql } from 'kysely';
import { RCODE } from '../../dns/message/rcodes.ts';
import { refuseUpdate, type Update, type UpdateRefusal } from '../../dns/message/update.ts';
import type { Network } from '../../dns/record/network.ts';
import { CLASS } from '../../dns/type-codes.ts';
import type { CountryOf } from '../../zone/records/country.ts';
import { editOfChanges, runUpdate } from '../../zone/update/run-update.ts';
import { ownersOf } from '../../zone/update/sets-by-name.ts';
import { customersZone } from '../../zone/update/updated-zone.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Actor } from '../accounts/actor.ts';
import { type EditMaker, type SavedEdit, saveEdit } from '../change/save-edit.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { recordsAt } from '../records/load-touched-records.ts';
import { decodeRecord, newRecordIds, RECORD_JSON, type RecordJson } from '../records/record-row.ts';
import { isPast, TOO_LATE } from './deadline.ts';
import { decodeGrants, type GrantsJson, grantsOfKey } from './load-target.ts';
import { decodeSeen, recordSeen, type SeenJson, seenUpdate, type UpdateOutcome } from './seen.ts';

/** A verified message. */
export interface SignedUpdate {
  readonly update: Update;
  readonly keyId: number;
  readonly mac: Uint8Array;
  /** When the node stops waiting: a timestamp of the database's clock, as text. */
  readonly deadline: string;
  readonly by: Actor;
}

interface DomainUpdate extends SignedUpdate {
  readonly domain: { readonly id: number; readonly accountId: number };
  readonly zoneId: number;
  readonly countryOf: CountryOf | undefined;
  readonly originAllow: readonly Network[];
}

export interface SavedUpdate extends UpdateOutcome {
  /** Number of changed records. */
  readonly records: number;
}

export async function saveDomainUpdate(db: Database, order: DomainUpdate): Promise<SavedUpdate> {
  const { update, domain, mac, by, countryOf, originAllow } = order;
  let refused: UpdateRefusal | undefined;
  let seen: UpdateOutcome | undefined;
  const edit: EditMaker = async ({ trx }) => {
    const loaded = await loadUnderLock(trx, order);
    seen = loaded.seen;
    if (seen !== undefined) return { kind: 'problems', problems: [] };
    const zone = customersZone({ apex: update.zone, ...loaded });
    const result = loaded.isLate ? TOO_LATE : runUpdate(zone, update, loaded.grants);
    if (result.kind === 'changes') {
      // The service's own NS records are published from settings.
      const records = loaded.records.filter(({ managed, type }) => managed !== true || type !== 'NS');
      const { names, ids } = loaded;
      return { kind: 'loaded', edit: editOfChanges(zone, result.sets), names, records, ids };
    }
    refused = result;
    return { kind: 'problems', problems: [] };
  };
  const outcomeOf = (saved: SavedEdit): SavedUpdate => {
    if (seen !== undefined) return { ...seen, records: 0 };
    const { rcode, message } = refused ?? refusalOf(saved) ?? { rcode: RCODE.NOERROR };
    if (saved.kind !== 'saved')
      return { rcode, change: undefined, records: 0, ...(message !== undefined && { message }) };
    return { rcode, change: { apex: update.zone, serial: saved.serial }, records: saved.ops.length };
  };
  const saved = await saveEdit(db, {
    ...{ domainId: domain.id, ownerId: domain.accountId, by, source: 'update' },
    ...{ countryOf, originAllow, edit },
    async settle(trx, saved) {
      if (seen === undefined && refused !== TOO_LATE && saved.kind !== 'refused')
        await recordSeen(trx, mac, outcomeOf(saved));
    },
  });
  return outcomeOf(saved);
}

/** Returns undefined if the edit was saved, or changed nothing. */
function refusalOf(saved: SavedEdit): UpdateRefusal | undefined {
  if (saved.kind === 'problems') {
    const [first] = saved.problems;
    return refuseUpdate(RCODE.REFUSED, first?.message ?? 'the update is not possible');
  }
  if (saved.kind !== 'refused') return undefined;
  const isSecondary = saved.code === 'domain_secondary';
  return refuseUpdate(isSecondary ? RCODE.REFUSED : RCODE.NOTAUTH, saved.message);
}

type RecordColumns = readonly [owner: string, type: number, ttl: number, rdata: string];

interface LoadedRow {
  readonly seen: SeenJson | null;
  readonly isLate: boolean;
  readonly grants: GrantsJson;
  readonly records: readonly RecordJson[] | null;
  readonly published: PublishedJson;
  readonly ids: readonly number[];
}

/** Maximum number of ids that are allocated ahead. More are allocated when they are needed. */
const MOST_IDS = 16;

async function loadUnderLock(trx: Database, order: DomainUpdate) {
  const { update, keyId, mac, deadline, domain, zoneId } = order;
  const names = [...new Set([...ownersOf(update), update.zone])];
  const columns = names.map(encodeNameColumn);
  const added = update.updates.filter(({ class: recordClass }) => recordClass === CLASS.IN).length;
  const { rows } = await sql<LoadedRow>`
    select ${seenUpdate(mac)} as seen, ${isPast(deadline)} as "isLate",
      ${grantsOfKey(keyId, { domainId: domain.id })} as grants,
      (select json_agg(${RECORD_JSON} order by r.id)
        from ${recordsAt(sql`${domain.id}`, sql`${columns}::text[]`)}) as records,
      ${publishedAt(zoneId, columns)} as published,
      ${newRecordIds(Math.min(added, MOST_IDS))} as ids`.execute(trx);
  const [{ seen, isLate, grants, records, published, ids }] = rows as [LoadedRow];
  return {
    seen: decodeSeen(seen),
    isLate,
    grants: decodeGrants(grants),
    records: (records ?? []).map(decodeRecord),
    published: decodePublished(published),
    names,
    ids,
  };
}

/**
 * SQL expression: the records that nodes serve at these names as JSON for `decodePublished`, or null. If a type is given,
 * only the records of that type.
 */
export function publishedAt(zoneId: number, names: readonly string[], type?: number): ReturnType<typeof sql> {
  const isOfType = type === undefined ? sql`` : sql`and p.type = ${type}`;
  return sql`(select json_agg(json_build_array(p.owner, p.type, p.ttl, encode(p.rdata, 'hex')))
    from zone_records p
    where p.zone_id = ${zoneId} and p.owner = any(${[...names]}::text[]) and not p.removed ${isOfType})`;
}

export type PublishedJson = readonly RecordColumns[] | null;

export function decodePublished(columns: PublishedJson): ZoneRecord[] {
  return (columns ?? []).map(([owner, type, ttl, rdata]) => ({
    owner: decodeNameColumn(owner),
    type,
    ttl,
    rdata: Buffer.from(rdata, 'hex'),
  }));
}
