// Key sets of zones signed by Zonefleet's signer, in the steady state and during rollovers.

import type { Name } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import {
  KEY_FLAGS,
  makeKey,
  readSigningKey,
  type SigningAlgorithm,
  type SigningKey,
  type ZoneKeys,
} from '../../../src/zone/signing/signing-key.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';

export interface TestKey extends SigningKey {
  readonly dnskey: Uint8Array;
}

export function testKey(algorithm: SigningAlgorithm = 13, flags: number = KEY_FLAGS.ENTRY): TestKey {
  const { dnskey, secret } = makeKey(algorithm, flags);
  return { ...readSigningKey(dnskey, secret), dnskey };
}

export function dnskeyRecords(apex: Name, keys: readonly TestKey[]): ZoneRecord[] {
  return keys.map(({ dnskey }) => ({ owner: apex, type: TYPE.DNSKEY, ttl: 3600, rdata: dnskey }));
}

export interface KeySetting {
  readonly keys: ZoneKeys;
  readonly published: readonly TestKey[];
}

const csk = (key: TestKey): KeySetting => ({ keys: { entry: [key], data: [key] }, published: [key] });
const zsk = (algorithm: SigningAlgorithm = 13) => testKey(algorithm, KEY_FLAGS.ZONE);

export function keySettings(): Readonly<Record<string, KeySetting>> {
  const [ksk, next, first, second] = [testKey(), testKey(), zsk(), zsk()];
  const [otherKsk, otherZsk] = [testKey(15), zsk(15)];
  return {
    'one key of algorithm 13': csk(testKey(13)),
    'one key of algorithm 15': csk(testKey(15)),
    'a KSK and a ZSK': { keys: { entry: [ksk], data: [first] }, published: [ksk, first] },
    'two KSK, and a ZSK that signs nothing yet': {
      keys: { entry: [ksk, next], data: [first] },
      published: [ksk, next, first, second],
    },
    'a KSK and a ZSK of two algorithms': {
      keys: { entry: [ksk, otherKsk], data: [first, otherZsk] },
      published: [ksk, otherKsk, first, otherZsk],
    },
  };
}
