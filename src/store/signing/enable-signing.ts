// Starts to sign a zone: creates its keys and signs it. A small zone is signed in the same transaction. A large one is
// signed in pieces (sign-pieces.ts), and is answered as before until the last piece, its apex, is written.

import { sql } from 'kysely';
import { hasRoomForHashes } from '../../zone/signing/denial-records.ts';
import type { ImportedKey } from '../../zone/signing/private-key.ts';
import type { SigningAlgorithm } from '../../zone/signing/signing-key.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { DNSSEC_ABILITY } from '../feed/nodes.ts';
import { makeZoneKey } from '../keys/key-store.ts';
import { findSignedZone, type SignedZone, wantedDenial } from '../keys/signed-zone.ts';
import { findKnownKey, isSameKey, loadKeys, storeImported } from '../keys/zone-keys.ts';
import type { Database } from '../postgres/database.ts';
import type { DenialKind } from '../postgres/tables/schema.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { type LockedSubject, lockSubject, type Subject, writeSigning } from './write-signing.ts';

export interface EnableOrder {
  readonly denial: DenialKind;
  readonly algorithm: SigningAlgorithm;
  /** True for separate keys: one signs the keys, the other everything else. */
  readonly split: boolean;
  /** Imported keys instead of new ones. The parent's DS records refer to them. */
  readonly imported?: readonly ImportedKey[];
}

export type Enabled =
  /** `signing` is a large zone of which pieces must still be written. */
  | { readonly kind: 'signed' | 'signing' | 'unchanged'; readonly signed: SignedZone }
  | {
      readonly kind: 'refused';
      readonly code:
        | 'not_found'
        | 'dnssec_busy'
        | 'dnssec_verbatim'
        | 'dnssec_unavailable'
        | 'validation_failed';
      readonly message: string;
    };

export const NO_ROOM_FOR_HASHES = 'the name is too long for NSEC3: names with hashes would exceed 255 octets';

/** Rows that one transaction signs, for which edits of the zone wait about 50 ms. */
export const SMALL_ZONE_ROWS = 250;

/** Throws DnssecUnavailable if the process has no KEY_SECRETS. */
export async function enableSigning(
  db: Database,
  subject: Subject,
  order: EnableOrder,
  by: ChangedBy,
): Promise<Enabled> {
  return await inTransaction<Enabled>(db, async (trx) => {
    const locked = await lockSubject(trx, subject);
    if (locked === undefined) return refused('not_found', 'there is no such domain or operator zone');
    const problem = await refuseOrder(trx, locked, subject, order);
    if (problem !== undefined) return problem;
    const { signed: before, zone } = locked;
    if (before !== undefined && before.phase !== 'off') return unchangedOrRefused(before, order);
    const known =
      before === undefined ? undefined : findKnownKey(await loadKeys(trx, before.id), order.imported);
    if (known !== undefined) return refused('validation_failed', known);
    const isServed = zone !== undefined && !zone.deleted;
    const isLarge = isServed && zone.records > SMALL_ZONE_ROWS;
    const id = await saveRow(trx, subject, order, isLarge);
    if (order.imported !== undefined) await storeImported(trx, id, order.imported, { isSigning: true });
    else if (!(await reuseKeys(trx, id, order))) await makeKeys(trx, id, order);
    const signed = (await findSignedZone(trx, sql`s.id = ${id}`)) as SignedZone;
    if (isServed && !isLarge) await writeSigning(trx, locked, { signed, names: 'whole' }, by);
    return { kind: isLarge ? 'signing' : 'signed', signed };
  });
}

function refused(code: Extract<Enabled, { kind: 'refused' }>['code'], message: string): Enabled {
  return { kind: 'refused', code, message };
}

async function refuseOrder(
  trx: Database,
  { apex, zone, signed }: LockedSubject,
  subject: Subject,
  { denial }: EnableOrder,
): Promise<Enabled | undefined> {
  if (await isCopy(trx, subject))
    return refused('dnssec_verbatim', 'the zone is copied from a primary, and only its primary can sign it');
  if (zone !== undefined && (await isCatalog(trx, zone.name)))
    return refused('dnssec_verbatim', 'the zone is a catalog, which is not signed');
  if (denial === 'nsec3' && !hasRoomForHashes(apex)) return refused('validation_failed', NO_ROOM_FOR_HASHES);
  if (signed === undefined && zone !== undefined && (await hasSignedApex(trx, zone.id))) {
    return refused(
      'dnssec_verbatim',
      'the zone was loaded with signatures of another signer: load it without them first',
    );
  }
  const unable = await findUnableNodes(trx);
  return unable === undefined ? undefined : refused('dnssec_unavailable', unable);
}

async function isCopy(trx: Database, subject: Subject): Promise<boolean> {
  const condition =
    'domainId' in subject ? sql`domain_id = ${subject.domainId}` : sql`zone_name = ${subject.zoneName}`;
  const { rows } = await sql`select from secondaries where ${condition}`.execute(trx);
  return rows.length > 0;
}

async function isCatalog(trx: Database, name: string): Promise<boolean> {
  const { rows } = await sql`select from catalogs where name = ${name}`.execute(trx);
  return rows.length > 0;
}

async function hasSignedApex(trx: Database, zoneId: number): Promise<boolean> {
  const { rows } = await sql`
    select from zone_records r join zones z on z.id = r.zone_id
    where r.zone_id = ${zoneId} and r.owner = z.name and r.type in (46, 48) and not r.removed limit 1`.execute(
    trx,
  );
  return rows.length > 0;
}

function unchangedOrRefused(
  signed: SignedZone,
  { denial, algorithm, split, imported }: EnableOrder,
): Enabled {
  if (signed.phase === 'unsigning') {
    return refused('dnssec_busy', 'the signatures are being removed: try again when that is done');
  }
  const has = (key: ImportedKey) => signed.keys.some((each) => isSameKey(each, key));
  if (imported !== undefined && !(imported.length === signed.keys.length && imported.every(has)))
    return refused(
      'dnssec_busy',
      'the zone is already signed: if its parent shows no DS record of its present keys, remove its signatures first (dnssec disable --now)',
    );
  const isSame = wantedDenial(signed) === denial && signed.algorithm === algorithm && signed.split === split;
  if (imported === undefined && !isSame)
    return refused(
      'dnssec_busy',
      'the zone is already signed with other options: change its denial with dnssec denial',
    );
  return { kind: signed.phase === 'signing' ? 'signing' : 'unchanged', signed };
}

async function saveRow(
  trx: Database,
  subject: Subject,
  { denial, algorithm, split }: EnableOrder,
  isLarge: boolean,
): Promise<number> {
  const phase = isLarge ? 'signing' : 'waiting';
  const domainId = 'domainId' in subject ? subject.domainId : null;
  const zoneName = 'zoneName' in subject ? subject.zoneName : null;
  const key = 'domainId' in subject ? sql`domain_id` : sql`zone_name`;
  const { rows } = await sql<{ id: number }>`
    insert into signed_zones as s (domain_id, account_id, zone_name, goal, denial, algorithm, split, phase, loaded_soa)
    values (${domainId}, (select account_id from domains where id = ${domainId}), ${zoneName}, 'signed', ${denial}, ${algorithm}, ${split}, ${phase}, (
      select r.rdata from zones z join zone_records r on r.zone_id = z.id and r.owner = z.name
      where z.name = ${zoneName} and z.kind = 'operator' and r.type = 6 and not r.removed))
    on conflict (${key}) do update set goal = 'signed', denial = excluded.denial, algorithm = excluded.algorithm,
      split = excluded.split, phase = excluded.phase, seq = s.seq + 1, expires_at = null, resign_at = null,
      denial_change = null, loaded_soa = excluded.loaded_soa, cds_delete = false, verbatim = false
    returning id`.execute(trx);
  const [row] = rows;
  return row === undefined ? rollBackTo(refused('not_found', 'the zone was deleted')) : row.id;
}

/** Reuses the last keys unless they are destroyed, because the parent may still show their DS records. */
async function reuseKeys(trx: Database, id: number, { algorithm, split }: EnableOrder): Promise<boolean> {
  const { rows } = await sql<{ id: number; role: string }>`
    select distinct on (role) id, role from signing_keys
    where signed_zone_id = ${id} and origin = 'ours' and sealed is not null and algorithm = ${algorithm}
    order by role, retired_at desc nulls first, id desc`.execute(trx);
  const roles = split ? ['ksk', 'zsk'] : ['csk'];
  const reused = rows.filter(({ role }) => roles.includes(role));
  if (reused.length < roles.length) return false;
  await sql`
    update signing_keys set retired_at = null, published_at = coalesce(published_at, clock_timestamp()),
      signs = case role when 'csk' then 'both' when 'ksk' then 'keys' else 'data' end
    where id = any(${reused.map((key) => key.id)}::bigint[])`.execute(trx);
  return true;
}

async function makeKeys(trx: Database, id: number, { algorithm, split }: EnableOrder): Promise<void> {
  const { rows } = await sql<{ tag: number }>`
    select key_tag as tag from signing_keys where signed_zone_id = ${id}`.execute(trx);
  const tags = new Set(rows.map(({ tag }) => tag));
  const wanted = split
    ? ([
        ['ksk', 'keys'],
        ['zsk', 'data'],
      ] as const)
    : ([['csk', 'both']] as const);
  for (const [role, signs] of wanted) {
    const made = await makeZoneKey(trx, id, { algorithm, role, signs }, tags);
    tags.add(made.tag);
  }
}

/** No signature lives longer, so validators reject the answers of a node that was silent for this long. */
const SILENT_DAYS = 18;
/** Signatures make images three to four times as large. */
const FULL_SHARE = 0.85;

/**
 * Finds nodes that prevent signing: those that would answer a signed zone wrongly, and those without space for it.
 * Returns a message for operators, or undefined if every node can serve it.
 */
export async function findUnableNodes(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ name: string; isAble: boolean; isFull: boolean }>`
    select name, ${DNSSEC_ABILITY} = any(abilities) as "isAble",
      coalesce(image_octets > image_capacity * ${FULL_SHARE}::float8, false) as "isFull"
    from nodes
    where left_at is null and forgotten_at is null
      and seen_at > clock_timestamp() - make_interval(days => ${SILENT_DAYS}::integer)
    order by name`.execute(db);
  const old = rows.filter(({ isAble }) => !isAble).map(({ name }) => name);
  if (old.length > 0) {
    return `${old.join(', ')}: too old for signed zones, or no report since its start: upgrade it, or remove it (node forget)`;
  }
  const full = rows.filter(({ isFull }) => isFull).map(({ name }) => name);
  return full.length > 0 ? `${full.join(', ')}: not enough space for signatures (IMAGE_BYTES)` : undefined;
}
