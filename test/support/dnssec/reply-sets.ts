// Groups the records of a section into sets in the order of their arrival, each with the signatures that follow it.

import type { MessageRecord } from '../../../src/dns/message/message.ts';
import { foldCase, type Name } from '../../../src/dns/name.ts';
import { RRSIG } from '../../../src/dns/record/types/dnssec.ts';
import { WireReader } from '../../../src/dns/record/wire-reader.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { Bogus } from './bogus.ts';

export type ReadSignature = ReturnType<typeof RRSIG.decode>;

export interface ReplySet {
  /** Folded. */
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: readonly Uint8Array[];
  readonly signatures: readonly ReadSignature[];
}

interface GrowingSet {
  readonly owner: Name;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Uint8Array[];
  readonly signatures: ReadSignature[];
}

/** `asksSignatures`: the query is for RRSIG, so that signatures may appear without the set that they cover. Throws Bogus. */
export function groupSection(section: readonly MessageRecord[], asksSignatures = false): readonly ReplySet[] {
  const sets: GrowingSet[] = [];
  for (const { owner: written, type, ttl, rdata } of section) {
    const owner = foldCase(written);
    const last = sets.at(-1);
    if (type === TYPE.RRSIG) {
      const signature = RRSIG.decode(new WireReader(rdata));
      if (last?.owner === owner && last.type === signature.typeCovered) {
        if (last.ttl !== ttl) throw new Bogus('a signature has another TTL than its set'); // RFC 4034 §3
        last.signatures.push(signature);
        continue;
      }
      if (!asksSignatures) throw new Bogus('a signature does not follow its set');
    }
    if (last?.owner === owner && last.type === type) {
      if (last.signatures.length > 0) throw new Bogus('a record follows the signatures of its set');
      if (last.ttl !== ttl) throw new Bogus('the records of a set have two TTLs');
      last.rdata.push(rdata);
      continue;
    }
    if (sets.some((set) => set.owner === owner && set.type === type)) throw new Bogus('a set occurs twice');
    sets.push({ owner, type, ttl, rdata: [rdata], signatures: [] });
  }
  return sets;
}
