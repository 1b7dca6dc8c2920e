// An answer as the records of a message: each set with its signatures behind it.

import type { MessageRecord } from '../../../src/dns/message/message.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import type { Answer } from '../../../src/zone/find-answer.ts';
import type { RecordSet } from '../../../src/zone/zone.ts';
import type { Reply } from './judge-signed-reply.ts';

export function replyOf({ rcode, authoritative, answer, authority }: Answer): Reply {
  return {
    rcode,
    aa: authoritative,
    answers: answer.flatMap(recordsOfSet),
    authorities: authority.flatMap(recordsOfSet),
  };
}

function recordsOfSet({ owner, type, ttl, rdata, signatures = [] }: RecordSet): MessageRecord[] {
  const record = (ofType: number) => (octets: Uint8Array) => ({
    owner,
    type: ofType,
    class: CLASS.IN,
    ttl,
    rdata: octets,
  });
  return [...rdata.map(record(type)), ...signatures.map(record(TYPE.RRSIG))];
}
