// Makes the keys that a goal needs, in its transaction. They are neither published nor sign before a step says so.

import { dsText } from '../../checks/dnssec/ds-evidence.ts';
import type { Machine } from '../../checks/dnssec/machine.ts';
import type { MachineKey } from '../../checks/dnssec/machine-key.ts';
import { DIGEST } from '../../dns/dnssec/ds-digest.ts';
import type { Name } from '../../dns/name.ts';
import type { SigningAlgorithm } from '../../zone/signing/signing-key.ts';
import { dsOf } from '../keys/apex-keys.ts';
import { makeZoneKey } from '../keys/key-store.ts';
import { type DnssecKey, loadKeys } from '../keys/load-keys.ts';
import type { Database } from '../postgres/database.ts';
import type { KeyRole } from '../postgres/tables/schema.ts';

/** Every digest type that a DS of ours may be shown in. */
const DIGESTS = [DIGEST.SHA1, DIGEST.SHA256, DIGEST.SHA384] as const;

interface MakeOrder {
  readonly signedZoneId: number;
  readonly apex: Name;
  readonly algorithm: SigningAlgorithm;
  readonly split: boolean;
  /** Of a split zone, the one that is made; undefined: both. */
  readonly only?: KeyRole | undefined;
}

/** Throws DnssecUnavailable. Their tags are none that the zone or the parent's DS set ever had here. */
export async function makeMachineKeys(
  trx: Database,
  machine: Machine,
  { signedZoneId, apex, algorithm, split, only }: MakeOrder,
): Promise<MachineKey[]> {
  const before = await loadKeys(trx, signedZoneId);
  const tags = new Set([...before.map(({ tag }) => tag), ...tagsShown(machine)]);
  const ids: number[] = [];
  const roles = split ? (['ksk', 'zsk'] as const) : (['csk'] as const);
  for (const role of roles.filter((one) => only === undefined || one === only)) {
    const { id, tag } = await makeZoneKey(trx, signedZoneId, { algorithm, role, signs: 'none' }, tags);
    tags.add(tag);
    ids.push(id);
  }
  const all = await loadKeys(trx, signedZoneId);
  return all.filter(({ id }) => ids.includes(id)).map((key) => machineKey(apex, key));
}

export function machineKey(apex: Name, key: DnssecKey): MachineKey {
  const { id, role, algorithm, tag } = key;
  const ds = role === 'zsk' ? [] : DIGESTS.map((digest) => dsText(dsOf(apex, key, digest)));
  const made = { id: String(id), role, algorithm, keyTag: tag, ds };
  return key.origin === 'foreign' ? { ...made, isForeign: true } : made;
}

function tagsShown({ parent }: Machine): number[] {
  const shown = Object.values(parent.addresses).flatMap((address) => address.shown?.ds ?? []);
  return shown.map((text) => Number.parseInt(text, 10));
}
