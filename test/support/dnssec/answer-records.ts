// Converts an answer to the records of a message: each set is followed by its signatures.

import { TYPE } from '../../../src/dns/type-codes.ts';
import type { RecordSet } from '../../../src/zone/zone.ts';
import type { Answer } from '../reference/find-answer.ts';
import { recordsIn } from '../world/zone-exchange.ts';
import type { Reply } from './judge-signed-reply.ts';

export function replyOf({ rcode, authoritative, answer, authority }: Answer): Reply {
  const signed = (set: RecordSet) =>
    recordsIn([set, { owner: set.owner, type: TYPE.RRSIG, ttl: set.ttl, rdata: set.signatures ?? [] }]);
  return {
    rcode,
    aa: authoritative,
    answers: answer.flatMap(signed),
    authorities: authority.flatMap(signed),
  };
}
