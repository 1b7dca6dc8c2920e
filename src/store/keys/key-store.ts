// The private keys of a signing process: sealed in Postgres, opened once, and cached as key objects.

import { sql } from 'kysely';
import {
  flagsOf,
  KEY_FLAGS,
  type MadeKey,
  makeKey,
  readSigningKey,
  type SigningAlgorithm,
  type SigningKey,
} from '../../zone/signing/signing-key.ts';
import type { Database } from '../postgres/database.ts';
import { inOneTrip, sendWithNext } from '../postgres/pool-driver.ts';
import type { KeyRole, KeySigns } from '../postgres/tables/schema.ts';
import type { About, KeyBoxes } from '../secrets/key-boxes.ts';
import { keyBoxesOf } from '../secrets/key-boxes.ts';
import type { StoredKey } from './signed-zone.ts';
import { DnssecUnavailable } from './signed-zone.ts';

const MOST_OPEN_KEYS = 10_000;

const openKeysOf = new WeakMap<KeyBoxes, LeastRecent<number, SigningKey>>();

/** Throws DnssecUnavailable if the process has no KEY_SECRETS. */
function requireBoxes(db: Database): KeyBoxes {
  const boxes = keyBoxesOf(db);
  if (boxes !== undefined) return boxes;
  throw new DnssecUnavailable(
    'KEY_SECRETS is not set in this process, and signed zones cannot be written without it',
  );
}

/** Throws DnssecUnavailable or StartFault if domains are signed and this process cannot write them. */
export async function requireSigner(trx: Database): Promise<void> {
  const { rows } = await sql`
    select from signed_zones where domain_id is not null and phase <> 'off' limit 1`.execute(trx);
  if (rows.length > 0) await requireBoxes(trx).check(trx);
}

type KeyToOpen = Pick<StoredKey, 'id' | 'tag' | 'dnskey'>;

/** Returns the opened keys by id. Throws DnssecUnavailable if one cannot be opened. */
export async function openKeys(db: Database, keys: readonly KeyToOpen[]): Promise<Map<number, SigningKey>> {
  const boxes = requireBoxes(db);
  let kept = openKeysOf.get(boxes);
  if (kept === undefined) {
    kept = new LeastRecent(MOST_OPEN_KEYS);
    openKeysOf.set(boxes, kept);
  }
  const open = new Map<number, SigningKey>();
  const sealed: KeyToOpen[] = [];
  for (const key of keys) {
    const ready = kept.get(key.id);
    if (ready === undefined) sealed.push(key);
    else open.set(key.id, ready);
  }
  if (sealed.length === 0) return open;
  for (const [id, secret] of await unsealKeys(db, boxes, sealed)) {
    const key = sealed.find((one) => one.id === id) as KeyToOpen;
    const ready = readSigningKey(key.dnskey, secret);
    kept.set(id, ready);
    open.set(id, ready);
  }
  return open;
}

interface SealedRow {
  readonly id: number;
  readonly zoneId: number;
  readonly boxId: number | null;
  readonly sealed: Buffer | null;
}

async function unsealKeys(
  db: Database,
  boxes: KeyBoxes,
  keys: readonly KeyToOpen[],
): Promise<Map<number, Buffer>> {
  const { rows } = await sql<SealedRow>`
    select id, signed_zone_id as "zoneId", box_id as "boxId", sealed from signing_keys
    where id = any(${keys.map(({ id }) => id)}::bigint[])`.execute(db);
  const secrets = new Map<number, Buffer>();
  for (const { id, dnskey, tag } of keys) {
    const row = rows.find((one) => one.id === id);
    if (row === undefined || row.sealed === null || row.boxId === null) {
      throw new DnssecUnavailable(`the private part of key ${id} (tag ${tag}) is missing`);
    }
    const about = aboutKey(id, row.zoneId, dnskey);
    try {
      secrets.set(id, await boxes.unseal(db, { boxId: row.boxId, sealed: row.sealed }, about));
    } catch (error) {
      throw new DnssecUnavailable(`key ${id} (tag ${tag}) cannot be opened: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return secrets;
}

function aboutKey(id: number, zoneId: number, dnskey: Uint8Array): About {
  return ['signing key', String(id), String(zoneId), Buffer.from(dnskey).toString('base64')];
}

interface KeyUse {
  readonly role: KeyRole;
  readonly signs: KeySigns;
}

interface WantedKey extends KeyUse {
  readonly algorithm: SigningAlgorithm;
}

const MOST_TRIES = 20;

/**
 * Creates and stores a key. A key that signs is published immediately. Its tag avoids `tags`, so that resolvers need to
 * try only one key per signature (RFC 4034 §5.2).
 */
export async function makeZoneKey(
  trx: Database,
  signedZoneId: number,
  { algorithm, role, signs }: WantedKey,
  tags: ReadonlySet<number>,
): Promise<MadeKey & { readonly id: number }> {
  requireBoxes(trx);
  const flags = role === 'zsk' ? KEY_FLAGS.ZONE : KEY_FLAGS.ENTRY;
  let made = makeKey(algorithm, flags);
  for (let tries = 1; tags.has(made.tag) && tries < MOST_TRIES; tries++) made = makeKey(algorithm, flags);
  return { ...made, id: await storeZoneKey(trx, signedZoneId, made, { role, signs }) };
}

/** Seals and stores a created or imported key. A key that signs is published immediately. Returns its id. */
export async function storeZoneKey(
  trx: Database,
  signedZoneId: number,
  { algorithm, tag, dnskey, secret }: MadeKey,
  { role, signs }: KeyUse,
): Promise<number> {
  const boxes = requireBoxes(trx);
  const trip = inOneTrip(trx);
  const [{ rows }, boxId] = await Promise.all([
    sql<{ id: number }>`select nextval('signing_keys_id_seq') as id`.execute(trip),
    boxes.takeBox(trip),
  ]);
  const { id } = rows[0] as { id: number };
  const { sealed } = await boxes.sealIn(trx, boxId, aboutKey(id, signedZoneId, dnskey), secret);
  const inserted = sql`
    insert into signing_keys (id, signed_zone_id, role, algorithm, flags, key_tag, public_key, box_id, sealed, signs,
      published_at)
    values (${id}, ${signedZoneId}, ${role}, ${algorithm}, ${flagsOf(dnskey)}, ${tag},
      ${Buffer.from(dnskey.subarray(4))}, ${boxId}, ${sealed}, ${signs},
      ${signs === 'none' ? sql`null` : sql`clock_timestamp()`})`;
  await sendWithNext(trx, inserted);
  return id;
}

/** Returns the private parts of keys for an export, by id. Throws DnssecUnavailable if one cannot be opened. */
export async function readPrivateParts(
  db: Database,
  keys: readonly KeyToOpen[],
): Promise<Map<number, Uint8Array>> {
  return await unsealKeys(db, requireBoxes(db), keys);
}

/** Destroys the private parts of keys that were retired 30 days ago. The rows are kept as history. */
export async function destroyRetiredKeys(db: Database): Promise<number> {
  const { numAffectedRows } = await sql`
    update signing_keys set sealed = null, box_id = null
    where sealed is not null and retired_at < clock_timestamp() - interval '30 days'`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

interface UnreadableKey {
  readonly id: number;
  readonly zone: string;
  readonly message: string;
}

const CHECKED_AT_ONCE = 1000;

/** Opens every key that may still be needed, and returns those that cannot be opened. */
export async function checkKeys(db: Database): Promise<{ keys: number; unreadable: UnreadableKey[] }> {
  const boxes = requireBoxes(db);
  const unreadable: UnreadableKey[] = [];
  let keys = 0;
  for (let after = 0; ; ) {
    const rows = await loadSealed(db, after);
    for (const row of rows) {
      try {
        const dnskey = Buffer.from(row.dnskey, 'base64');
        const sealed = { boxId: row.boxId as number, sealed: row.sealed as Buffer };
        readSigningKey(dnskey, await boxes.unseal(db, sealed, aboutKey(row.id, row.zoneId, dnskey)));
      } catch (error) {
        unreadable.push({ id: row.id, zone: row.zone, message: (error as Error).message });
      }
    }
    keys += rows.length;
    const last = rows.at(-1);
    if (last === undefined) return { keys, unreadable };
    after = last.id;
  }
}

async function loadSealed(
  db: Database,
  after: number,
): Promise<(SealedRow & { readonly dnskey: string; readonly zone: string })[]> {
  const { rows } = await sql<SealedRow & { dnskey: string; zone: string }>`
    select k.id, k.signed_zone_id as "zoneId", k.box_id as "boxId", k.sealed,
      encode(decode(lpad(to_hex(k.flags), 4, '0') || '03' || lpad(to_hex(k.algorithm), 2, '0'), 'hex')
        || k.public_key, 'base64') as dnskey,
      coalesce(s.zone_name, d.name) as zone
    from signing_keys k join signed_zones s on s.id = k.signed_zone_id left join domains d on d.id = s.domain_id
    where k.id > ${after} and k.sealed is not null order by k.id limit ${CHECKED_AT_ONCE}`.execute(db);
  return rows;
}

/** A map of limited size, which drops the least recently used entry. */
class LeastRecent<K, V> {
  readonly #most: number;
  readonly #entries = new Map<K, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#most) return;
      this.#entries.delete(oldest);
    }
  }
}
