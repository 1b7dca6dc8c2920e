// Imports and exports the private keys of a domain that moves. With the same keys at both operators its DS stays (RFC 6781
// §4.3.5.1).

import { sql } from 'kysely';
import { adopt, newMachine, share } from '../../checks/dnssec/goals.ts';
import { wantedIds } from '../../checks/dnssec/machine.ts';
import { MAX_TTL_SECONDS } from '../../zone/records/customer-types.ts';
import { hasRoomForHashes } from '../../zone/signing/denial-records.ts';
import type { ImportedKey } from '../../zone/signing/private-key.ts';
import { findKnownKey, isSameKey, storeImported } from '../keys/imported-keys.ts';
import { readPrivateParts } from '../keys/key-store.ts';
import { type DnssecKey, loadKeys } from '../keys/load-keys.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { DenialKind, KeyRole } from '../postgres/tables/signing-tables.ts';
import { NO_ROOM_FOR_HASHES } from '../signing/enable-signing.ts';
import { findUnableNodes } from '../signing/unable-nodes.ts';
import {
  type ChangedGoal,
  changeGoal,
  type GoalOrder,
  hasManyKeys,
  MANY_KEYS,
  refuseDomain,
  refused,
} from './change-goal.ts';
import type { StoredDnssec } from './load-dnssec.ts';
import { machineKey } from './make-machine-keys.ts';
import { saveWishes, wishesOf } from './signing-wishes.ts';

const HAS_DS =
  'a DS of the keys that the domain has here is at its parent, or was requested: disable DNSSEC, and import the keys when its status is off';
const SAME_TAG =
  'a key that signs the zone here has the same key tag: disable DNSSEC, and import the keys when its status is off';
const OTHER_ALGORITHM =
  'the foreign keys of the domain have another algorithm than the imported ones: remove them from the list first';
const NO_KEYS = refused('wrong_state', 'the domain has no such key whose private part is stored');

/** Signs the domain with keys that `readPrivateKeys` has read, instead of new ones. */
export async function importPrivateKeys(
  db: Database,
  order: GoalOrder & { readonly keys: readonly ImportedKey[]; readonly denial?: DenialKind | undefined },
): Promise<ChangedGoal> {
  const { keys } = order;
  return await changeGoal(db, order, async (trx, lock, stored) => {
    const refusal = refuseDomain(lock) ?? refuseKeys(stored, keys);
    if (refusal !== undefined) return refusal;
    const apex = decodeNameColumn(lock.row.name);
    const algorithm = (keys[0] as ImportedKey).algorithm;
    const wishes = wishesOf({ denial: order.denial, algorithm, split: keys.length > 1 }, stored);
    if (wishes.denial === 'nsec3' && !hasRoomForHashes(apex))
      return refused('wrong_state', NO_ROOM_FOR_HASHES);
    if (hasManyKeys(lock, stored)) return MANY_KEYS;
    const unable = await findUnableNodes(trx);
    if (unable !== undefined) return refused('dnssec_unavailable', unable);
    const { id } = await saveWishes(trx, lock.row.id, wishes);
    await sql`update signed_zones set ds_due = true where id = ${id}`.execute(trx); // the DS decides how it goes on
    const ids = await storeImported(trx, id, keys, false);
    const imported = (await loadKeys(trx, id)).filter((key) => ids.includes(key.id));
    const replaced = (stored?.keys ?? []).filter((key) => keys.some((one) => isSameKey(one, key)));
    const adopted = adopt(
      stored?.machine ?? newMachine(lock.now.getTime(), MAX_TTL_SECONDS),
      imported.map((key) => machineKey(apex, key)),
      replaced.map((key) => String(key.id)),
    );
    return typeof adopted === 'string' ? refused('dnssec_busy', HAS_DS) : adopted;
  });
}

function refuseKeys(stored: StoredDnssec | undefined, keys: readonly ImportedKey[]) {
  if (stored === undefined) return undefined;
  const { machine } = stored;
  const known = findKnownKey(stored.keys, keys);
  if (known !== undefined) return refused('wrong_state', known);
  const isSigning = ({ id, origin }: DnssecKey) =>
    origin === 'ours' && machine?.serving.keys.includes(String(id));
  const standing = stored.keys.filter(isSigning);
  // the tag of its key decides whether a signature is made again
  if (standing.some(({ tag }) => keys.some((key) => key.tag === tag)))
    return refused('dnssec_busy', SAME_TAG);
  const listed = stored.keys.filter(({ id }) => machine?.foreign?.wanted.includes(String(id)));
  if (listed.some(({ algorithm }) => algorithm !== keys[0]?.algorithm))
    return refused('dnssec_algorithm', OTHER_ALGORITHM);
  return undefined;
}

export interface PrivateKey {
  readonly id: number;
  readonly role: KeyRole;
  readonly tag: number;
  /** Rdata of the DNSKEY record. */
  readonly dnskey: Uint8Array;
  readonly secret: Uint8Array;
}

type ExportedKeys =
  | { readonly kind: 'exported'; readonly keys: readonly PrivateKey[] }
  | Exclude<ChangedGoal, { readonly kind: 'updated' }>;

/** Returns the keys with which the domain is signed, or one that it has, and records that another operator may sign with them. */
export async function exportPrivateKeys(
  db: Database,
  order: GoalOrder & { readonly keyId?: number | undefined },
): Promise<ExportedKeys> {
  let keys: PrivateKey[] = [];
  const changed = await changeGoal(db, order, async (trx, _, stored) => {
    const { machine } = stored ?? {};
    if (!stored || !machine) return NO_KEYS;
    const used = [...wantedIds(machine), ...machine.serving.keys].map(Number);
    const wanted = order.keyId === undefined ? used : [order.keyId];
    const chosen = stored.keys.filter((key) => key.isUsable && wanted.includes(key.id));
    if (chosen.length === 0) return NO_KEYS;
    keys = await withPrivateParts(trx, chosen);
    return share(
      machine,
      chosen.map(({ id }) => String(id)),
    );
  });
  return changed.kind === 'updated' ? { kind: 'exported', keys } : changed;
}

/** Returns the keys of an operator zone. Throws DnssecUnavailable. */
export async function exportZoneKeys(
  trx: Database,
  signedZoneId: number,
  keyId?: number,
): Promise<PrivateKey[]> {
  const keys = (await loadKeys(trx, signedZoneId)).filter(
    ({ id, isUsable, retiredAt }) => isUsable && (keyId === undefined ? retiredAt === null : id === keyId),
  );
  return await withPrivateParts(trx, keys);
}

async function withPrivateParts(trx: Database, keys: readonly DnssecKey[]): Promise<PrivateKey[]> {
  const secrets = await readPrivateParts(trx, keys);
  return keys.map(({ id, role, tag, dnskey }) => ({
    id,
    role,
    tag,
    dnskey,
    secret: secrets.get(id) as Uint8Array,
  }));
}
