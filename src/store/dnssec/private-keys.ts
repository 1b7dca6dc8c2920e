// Imports and exports the private keys of a domain that moves to another operator. With the same keys at both operators its
// DS record stays valid (RFC 6781 §4.3.5.1).

import { sql } from 'kysely';
import {
  adopt,
  adoptAgain,
  keysWithDs,
  newMachine,
  share,
  sharedInPlace,
} from '../../checks/dnssec/goals.ts';
import { type Machine, wantedIds } from '../../checks/dnssec/machine.ts';
import type { KeyId } from '../../checks/dnssec/machine-key.ts';
import { RULES } from '../../checks/dnssec/rules.ts';
import { isSameSet } from '../../checks/dnssec/serving.ts';
import { delegatedTo } from '../../checks/dnssec/told/dnssec-findings.ts';
import { MAX_TTL_SECONDS } from '../../zone/records/customer-types.ts';
import { hasRoomForHashes } from '../../zone/signing/denial-records.ts';
import type { ImportedKey } from '../../zone/signing/private-key.ts';
import type { DomainLock } from '../change/lock-domain.ts';
import { provingSets } from '../domains/nameserver-sets.ts';
import { readPrivateParts } from '../keys/key-store.ts';
import { type DnssecKey, isSameKey, loadKeys, machineKey, storeImported } from '../keys/zone-keys.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { DenialKind, KeyRole } from '../postgres/tables/schema.ts';
import { findUnableNodes, NO_ROOM_FOR_HASHES } from '../signing/enable-signing.ts';
import {
  type ChangedGoal,
  changeGoal,
  type GoalOrder,
  hasManyKeys,
  MANY_KEYS,
  refuseDomain,
  refused,
} from './change-goal.ts';
import type { StoredDnssec } from './dnssec-state.ts';
import { saveWishes, wishesOf } from './dnssec-state.ts';

const OTHER_ALGORITHM =
  'the foreign keys of the domain have another algorithm than the imported ones: remove them from the list first';
const NO_KEYS = refused('wrong_state', 'the domain has no such key with a stored private part');

interface ImportOrder extends GoalOrder {
  readonly keys: readonly ImportedKey[];
  readonly denial?: DenialKind | undefined;
  /** True if the keys may replace others that were imported or exported. */
  readonly replace?: boolean | undefined;
}

/** Signs the domain with keys read by `readPrivateKeys` instead of new ones. */
export async function importPrivateKeys(db: Database, order: ImportOrder): Promise<ChangedGoal> {
  const { keys } = order;
  return await changeGoal(db, order, async (trx, lock, stored) => {
    const refusal = refuseDomain(lock);
    if (refusal !== undefined) return refusal;
    const known = (stored?.keys ?? []).filter((key) => keys.some((one) => isSameKey(one, key)));
    const knownIds = known.map(({ id }) => String(id));
    const { machine } = stored ?? {};
    const usable = known.filter(({ isUsable }) => isUsable).map(({ id }) => String(id));
    if (machine?.goal === 'signed' && usable.length === keys.length && isSameSet(wantedIds(machine), usable))
      return adoptAgain(machine, usable);
    const problem = stored && refuseKeys(stored, knownIds, order);
    if (problem !== undefined) return problem;
    const apex = decodeNameColumn(lock.row.name);
    const algorithm = (keys[0] as ImportedKey).algorithm;
    const wishes = wishesOf({ denial: order.denial, algorithm, split: keys.length > 1 }, stored);
    if (wishes.denial === 'nsec3' && !hasRoomForHashes(apex))
      return refused('wrong_state', NO_ROOM_FOR_HASHES);
    if (hasManyKeys(lock, stored)) return MANY_KEYS;
    const unable = await findUnableNodes(trx);
    if (unable !== undefined) return refused('dnssec_unavailable', unable);
    const { id } = await saveWishes(trx, lock.row.id, wishes);
    // The DS record determines the next step.
    await sql`update signed_zones set ds_due = true where id = ${id}`.execute(trx);
    const ids = await storeImported(trx, id, keys, { isSigning: false, known });
    const imported = (await loadKeys(trx, id)).filter((key) => ids.includes(key.id));
    return adopt(
      machine ?? newMachine(lock.now.getTime(), MAX_TTL_SECONDS),
      imported.map((key) => machineKey(apex, key)),
      knownIds,
    );
  });
}

/** Returns a refusal if the keys must not be imported. `knownIds` are the zone's keys that the order contains. */
function refuseKeys(
  { machine, keys: stored }: StoredDnssec,
  knownIds: readonly KeyId[],
  { keys, replace }: ImportOrder,
) {
  if (machine === null) return undefined;
  const idOf = ({ id }: DnssecKey) => String(id);
  const tagsOf = (ids: readonly KeyId[]) => namesOf(stored.filter((key) => ids.includes(idOf(key))));
  const withDs = keysWithDs(machine, knownIds, RULES);
  if (withDs.length > 0)
    return refused(
      'dnssec_busy',
      `the parent has a DS record of ${tagsOf(withDs)}, or it was requested: disable DNSSEC, and import the keys when its status is off`,
    );
  const replaced = sharedInPlace(machine, knownIds).map(({ id }) => id);
  if (replaced.length > 0 && replace !== true)
    return refused(
      'dnssec_imported',
      `the domain already has ${tagsOf(replaced)}, with which another operator may sign: to sign with the given keys instead, set "replace" (dnssec import-key --replace)`,
    );
  const unseen = stored.filter(
    (key) => replaced.includes(idOf(key)) && key.role !== 'zsk' && !isSeenSince(machine, key.madeAt),
  );
  if (unseen.length > 0)
    return refused(
      'dnssec_busy',
      `it is not yet known whether the parent has a DS record of ${namesOf(unseen)}: try again in a minute`,
    );
  const signing = stored.filter((key) => key.origin === 'ours' && machine.serving.keys.includes(idOf(key)));
  // Signatures are renewed by key tag, so two signing keys must not share one.
  const sameTag = signing.find(
    (key) => !knownIds.includes(idOf(key)) && keys.some(({ tag }) => tag === key.tag),
  );
  if (sameTag !== undefined)
    return refused(
      'dnssec_busy',
      `the zone is signed with another key that also has the tag ${sameTag.tag}: disable DNSSEC, and import the keys when its status is off`,
    );
  const listed = stored.filter((key) => machine.foreign?.wanted.includes(idOf(key)));
  if (listed.some(({ algorithm }) => algorithm !== keys[0]?.algorithm))
    return refused('dnssec_algorithm', OTHER_ALGORITHM);
  return undefined;
}

function isSeenSince({ parent }: Machine, time: Date): boolean {
  return parent.observedAt !== null && parent.observedAt >= time.getTime();
}

function namesOf(keys: readonly DnssecKey[]): string {
  const tags = [...new Set(keys.map(({ tag }) => tag))];
  return `${tags.length === 1 ? 'the key with tag' : 'the keys with tags'} ${tags.join(' and ')}`;
}

export interface PublicPart {
  readonly tag: number;
  readonly dnskey: Uint8Array;
}

export interface PrivateKey extends PublicPart {
  readonly id: number;
  readonly role: KeyRole;
  readonly secret: Uint8Array;
}

type ExportedKeys =
  | { readonly kind: 'exported'; readonly keys: readonly PrivateKey[] }
  | Exclude<ChangedGoal, { readonly kind: 'updated' }>;

interface ExportOrder extends GoalOrder {
  readonly keyId?: number | undefined;
  /** Returns a message if these keys must not be exported. Then, or if it throws, nothing is exported or recorded. */
  readonly refuse?: (keys: readonly PublicPart[]) => string | undefined;
}

/** Returns the signing keys of the domain, or one of its keys, and records that another operator may sign with them. */
export async function exportPrivateKeys(db: Database, order: ExportOrder): Promise<ExportedKeys> {
  let keys: PrivateKey[] = [];
  const changed = await changeGoal(db, order, async (trx, lock, stored) => {
    const { machine } = stored ?? {};
    if (!stored || !machine) return NO_KEYS;
    const used = [...wantedIds(machine), ...machine.serving.keys].map(Number);
    const wanted = order.keyId === undefined ? used : [order.keyId];
    const chosen = stored.keys.filter((key) => key.isUsable && wanted.includes(key.id));
    if (chosen.length === 0) return NO_KEYS;
    const refusal = order.refuse?.(chosen);
    if (refusal !== undefined) return refused('wrong_state', refusal);
    keys = await withPrivateParts(trx, chosen);
    const ids = chosen.map(({ id }) => String(id));
    return share(machine, ids, await isDelegatedHere(trx, lock));
  });
  return changed.kind === 'updated' ? { kind: 'exported', keys } : changed;
}

async function isDelegatedHere(trx: Database, { row, settings }: DomainLock): Promise<boolean> {
  const { rows } = await sql<{ currentNs: string[] | null }>`
    select current_ns as "currentNs" from domain_checks where domain_id = ${row.id}`.execute(trx);
  const currentNs = rows[0]?.currentNs?.map(decodeNameColumn) ?? null;
  return delegatedTo(currentNs, provingSets(row, settings).flat()) === 'ours';
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
