// DS records as a parent has them: at cuts only, where signers want them, and at every other one.

import type { Name } from '../../../src/dns/name.ts';
import { DS } from '../../../src/dns/record/types/ds.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import type { Random } from '../random/random-zones.ts';

export function signHalfTheCuts(random: Random, apex: Name, records: readonly ZoneRecord[]): ZoneRecord[] {
  const cuts = new Set(
    records.filter(({ type, owner }) => type === TYPE.NS && owner !== apex).map(({ owner }) => owner),
  );
  const others = records.filter(({ type }) => type !== TYPE.DS);
  const digest = new Uint8Array(32);
  const rdata = Uint8Array.from(DS.encode({ keyTag: 1, algorithm: 13, digestType: 2, digest }));
  const ds = [...cuts]
    .filter(() => random() < 0.5)
    .map((owner) => ({ owner, type: TYPE.DS, ttl: 300, rdata }));
  return [...others, ...ds];
}
