// Public keys of another operator in a domain's DNSKEY set: the owner's list, and imports from the operator's servers.

import { sql } from 'kysely';
import {
  type ForeignKeyFields,
  foreignDnskey,
  judgeForeignKeys,
  MOST_FOREIGN_KEYS,
} from '../../checks/dnssec/foreign-key.ts';
import { askImport, endImport, setForeign, withPastImport } from '../../checks/dnssec/goals.ts';
import { foreignKeys, type Machine, sharedKeys } from '../../checks/dnssec/machine.ts';
import type { KeyId } from '../../checks/dnssec/machine-key.ts';
import { union } from '../../checks/dnssec/serving.ts';
import { DIGEST } from '../../dns/dnssec/ds-digest.ts';
import { keyTag } from '../../dns/dnssec/key-tag.ts';
import { dsOf } from '../keys/signed-zone.ts';
import { type DnssecKey, loadKeys, machineKey } from '../keys/zone-keys.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import {
  type ChangedGoal,
  changeGoal,
  type GoalOrder,
  hasManyKeys,
  MANY_KEYS,
  NOT_SIGNED,
  refuseDomain,
  refused,
} from './change-goal.ts';
import type { KeyWork, StoredDnssec } from './dnssec-state.ts';

const SEP = 1;
const IMPORT_AGAIN_MS = 300_000;
const NOT_SIGNED_YET = refused(
  'wrong_state',
  'the domain is not signed: enable DNSSEC first, with the algorithm of the foreign keys',
);

export async function replaceForeignKeys(
  db: Database,
  order: GoalOrder & { readonly keys: readonly ForeignKeyFields[] },
): Promise<ChangedGoal> {
  return await changeGoal(db, order, async (trx, lock, stored) => {
    const refusal = refuseDomain(lock);
    if (refusal !== undefined) return refusal;
    const { machine } = stored ?? {};
    if (!stored || !machine) return NOT_SIGNED;
    if (order.keys.length > 0 && machine.goal !== 'signed') return NOT_SIGNED_YET;
    const fault = faultOf(stored, order.keys);
    if (fault !== undefined) return fault;
    const apex = decodeNameColumn(lock.row.name);
    const isNew = order.keys.some((key) => rowOf(stored.keys, key) === undefined);
    if (isNew && hasManyKeys(lock, stored)) return MANY_KEYS;
    const rows = await ensureRows(trx, stored, order.keys);
    const ids = rows.map(({ id }) => String(id)).sort();
    const present = machine.foreign?.wanted ?? [];
    if (ids.join() === present.join()) return withPastImport(machine);
    const crowd = crowdOf(machine, ids);
    if (crowd !== undefined) return refused('dnssec_busy', crowd);
    return setForeign(
      machine,
      rows.map((row) => machineKey(apex, row)),
    );
  });
}

/** Requests an import: a worker fetches the keys and replaces the list with them. */
export async function importForeignKeys(db: Database, order: GoalOrder): Promise<ChangedGoal> {
  return await changeGoal(db, order, async (_, lock, stored) => {
    const refusal = refuseDomain(lock);
    if (refusal !== undefined) return refusal;
    const { machine } = stored ?? {};
    if (!machine || machine.goal !== 'signed') return NOT_SIGNED_YET;
    const { importAskedAt = null, imported = null } = machine.foreign ?? {};
    if (importAskedAt !== null) return machine; // already running
    const again = (imported?.at ?? 0) + IMPORT_AGAIN_MS;
    if (lock.now.getTime() < again)
      return refused('dnssec_busy', 'the keys were imported less than five minutes ago');
    return askImport(machine, lock.now.getTime());
  });
}

export type Imported =
  | { readonly kind: 'found'; readonly keys: readonly ForeignKeyFields[] }
  | { readonly kind: 'failed'; readonly message: string };

/** Returns the DS records of the listed keys, and of keys that their operator shares with this fleet, as rdata. */
export function wantedDs({ name, keys, machine }: Pick<KeyWork, 'name' | 'keys' | 'machine'>): Uint8Array[] {
  const ids = [...(machine.foreign?.wanted ?? []), ...sharedKeys(machine).map(({ id }) => id)];
  return keys.filter(({ id }) => ids.includes(String(id))).map((key) => dsOf(name, key, DIGEST.SHA256));
}

/** Ends an import, as a worker does. */
export async function saveImport(db: Database, domainId: number, imported: Imported): Promise<ChangedGoal> {
  const order = { by: { kind: 'system' }, source: 'status', domainId } as const;
  return await changeGoal(db, order, async (trx, lock, stored) => {
    const { machine } = stored ?? {};
    if (!stored || !machine || (machine.foreign?.importAskedAt ?? null) === null) return undefined;
    const end = (of: Machine, failure?: string) => endImport(of, lock.now.getTime(), failure);
    if (imported.kind === 'failed') return end(machine, imported.message);
    const fault = faultOf(stored, imported.keys);
    if (fault !== undefined) return end(machine, fault.message);
    const isNew = imported.keys.some((key) => rowOf(stored.keys, key) === undefined);
    if (isNew && hasManyKeys(lock, stored)) return end(machine, MANY_KEYS.message);
    const apex = decodeNameColumn(lock.row.name);
    const rows = await ensureRows(trx, stored, imported.keys);
    const crowd = crowdOf(
      machine,
      rows.map(({ id }) => String(id)),
    );
    if (crowd !== undefined) return end(machine, crowd);
    return end(
      setForeign(
        machine,
        rows.map((row) => machineKey(apex, row)),
      ),
    );
  });
}

/** Returns an error message if these keys and those still in the zone would exceed the maximum. */
function crowdOf(machine: Machine, ids: readonly KeyId[]): string | undefined {
  const standing = foreignKeys(machine).filter(({ id }) => machine.serving.keys.includes(id));
  const all = union(
    ids,
    standing.map(({ id }) => id),
  );
  if (ids.length === 0 || all.length <= MOST_FOREIGN_KEYS) return undefined;
  return `keys removed from the list are still in the zone: with these there would be ${all.length}, but ${MOST_FOREIGN_KEYS} is the maximum`;
}

function faultOf({ signed, keys }: StoredDnssec, list: readonly ForeignKeyFields[]) {
  const ours = keys.filter(({ origin }) => origin === 'ours').map(({ dnskey }) => dnskey);
  const fault = judgeForeignKeys(list, { algorithm: signed.algorithm, ours });
  if (fault === undefined) return undefined;
  const field = `keys[${fault.index}]`;
  const message = `${field}: ${fault.message}`;
  if (fault.kind === 'algorithm') return refused('dnssec_algorithm', message);
  return { ...refused('validation_failed', message), field };
}

function rowOf(keys: readonly DnssecKey[], key: ForeignKeyFields): DnssecKey | undefined {
  const dnskey = foreignDnskey(key);
  return keys.find((row) => row.origin === 'foreign' && Buffer.compare(row.dnskey, dnskey) === 0);
}

/** A key that is added again reuses its row. */
async function ensureRows(
  trx: Database,
  { signed, keys }: StoredDnssec,
  list: readonly ForeignKeyFields[],
): Promise<DnssecKey[]> {
  for (const key of list) {
    if (rowOf(keys, key) !== undefined) continue;
    const { flags, algorithm, publicKey } = key;
    const role = (flags & SEP) === 0 ? 'zsk' : 'ksk';
    await sql`
      insert into signing_keys (signed_zone_id, role, algorithm, flags, key_tag, public_key, origin)
      values (${signed.id}, ${role}, ${algorithm}, ${flags}, ${keyTag(foreignDnskey(key))}, ${Buffer.from(publicKey)},
        'foreign')`.execute(trx);
  }
  const all = await loadKeys(trx, signed.id);
  return list.map((key) => rowOf(all, key) as DnssecKey);
}
