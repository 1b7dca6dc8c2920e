// Keys for tests of the key machine. Their DS records have a realistic format but no computed digests.

import type { KeyRole, MachineKey } from '../../../../src/checks/dnssec/machine-key.ts';

/** The end of `id` determines the tag. */
export function madeKey(id: string, role: KeyRole, algorithm: number): MachineKey {
  const hex = Buffer.from(id).toString('hex').toUpperCase();
  const keyTag = [...id].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 65_536, 7);
  const ds = [1, 2, 4].map((type) => `${keyTag} ${algorithm} ${type} ${hex.padStart(32 + type * 8, '0')}`);
  return { id, role, algorithm, keyTag, ds: role === 'zsk' ? [] : ds };
}

/** The requested DS (SHA-256). */
export function dsOf(key: MachineKey): string {
  return key.ds[1] as string;
}

const RDATA = new Map<string, Uint8Array>();

/** Parses the rdata of a DS that `dsText` formatted. */
export function dsRdata(text: string): Uint8Array {
  const known = RDATA.get(text) ?? madeRdata(text);
  RDATA.set(text, known);
  return known;
}

function madeRdata(text: string): Uint8Array {
  const [tag, algorithm, type, digest = ''] = text.split(' ');
  const fixed = [Number(tag) >>> 8, Number(tag) & 255, Number(algorithm), Number(type)];
  return Uint8Array.from([...fixed, ...Buffer.from(digest, 'hex')]);
}
