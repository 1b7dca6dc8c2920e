// Attaches the signatures of a zone to the sets that they cover. Each takes the TTL of its set, whatever its own was
// (RFC 4034 §3).

import { TYPE } from '../dns/type-codes.ts';
import type { CollectedRecords } from './collect-records.ts';
import type { RecordSet } from './zone.ts';

interface AttachedSignatures {
  /** Number of signatures that have a set. */
  readonly count: number;
  /** Signatures without a set that they cover. No answer can contain them. */
  readonly stray: readonly RecordSet[];
}

export function attachSignatures({
  nodes,
  hashed,
  signatures,
}: Pick<CollectedRecords, 'nodes' | 'hashed' | 'signatures'>): AttachedSignatures {
  const stray: RecordSet[] = [];
  let count = 0;
  for (const [owner, ofOwner] of signatures) {
    const sets = nodes.get(owner)?.sets;
    for (const [type, { rdata, ...signature }] of ofOwner) {
      const set = type === TYPE.NSEC3 ? hashed.get(owner) : sets?.get(type);
      if (set === undefined) stray.push({ ...signature, rdata });
      else {
        set.signatures = rdata;
        count += rdata.length;
      }
    }
  }
  return { count, stray };
}
