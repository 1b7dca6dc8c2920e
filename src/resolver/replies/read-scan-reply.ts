// Reads the reply to a scan's query: the contents of `UsefulReply`, and details that only a scan needs.

import type { Message } from '../../dns/message/message.ts';
import { RCODE } from '../../dns/message/rcodes.ts';
import { foldCase, isWithin, type Name } from '../../dns/name.ts';
import { NSEC } from '../../dns/record/types/dnssec.ts';
import { WireReader } from '../../dns/record/wire-reader.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import type { Question } from '../exchange/exchange.ts';
import { MAX_RECORDS, recordsOf, type UsefulReply } from './classify-reply.ts';
import type { ResolverReply } from './classify-resolver-reply.ts';

/** Names are folded. */
export type ScanReply =
  | { readonly kind: 'records'; readonly rdata: readonly Uint8Array[]; readonly ttl: number }
  | { readonly kind: 'alias'; readonly target: Name; readonly ttl: number }
  /** The DNAME is at the name or above it, and applies to all names below `owner`. */
  | { readonly kind: 'dname'; readonly owner: Name; readonly rdata: Uint8Array; readonly ttl: number }
  | Extract<UsefulReply, { kind: 'referral' }>
  /** `soa`: the responsible zone, or undefined for a resolver's reply. `neighbours`: existing names, from NSEC records. */
  | {
      readonly kind: 'nodata' | 'nxdomain';
      readonly soa: Name | undefined;
      readonly neighbours: readonly Name[];
    }
  /** There are more records than the limit. */
  | { readonly kind: 'excessive' }
  | { readonly kind: 'unanswered' };

/** The type in a bitmap that means that the name does not exist (RFC 9824 §3.1). */
const NXNAME = 128;

export function readScanReply(name: Name, reply: UsefulReply, message: Message): ScanReply {
  switch (reply.kind) {
    case 'referral':
      return reply;
    case 'answer':
      return { kind: 'records', rdata: reply.rdata, ttl: reply.ttl };
    case 'alias':
      return readAlias(name, reply, message);
    case 'nodata':
    case 'nxdomain': {
      const nsec = nsecOf(message);
      const isNothing = nsec.some(({ owner, types }) => owner === name && types.includes(NXNAME));
      return {
        kind: isNothing ? 'nxdomain' : reply.kind,
        soa: reply.soa,
        neighbours: nsec.flatMap(({ owner, next }) => [owner, next]).filter((each) => each !== name),
      };
    }
    default:
      return reply satisfies never;
  }
}

/** True if the answer is unusable only because it has too many records. Other servers would return the same. */
export function isExcessive({ answers, aa, tc, rcode }: Message, { name, type }: Question): boolean {
  return aa && !tc && rcode === RCODE.NOERROR && recordsOf(answers, name, type).length > MAX_RECORDS;
}

/** The CNAME generated from a DNAME is not a record of the zone (RFC 6672 §3.1). */
function readAlias(name: Name, reply: Extract<UsefulReply, { kind: 'alias' }>, message: Message): ScanReply {
  const dname = message.answers.find(
    ({ type, class: classCode, owner, rdata }) =>
      type === TYPE.DNAME && classCode === CLASS.IN && rdata.length > 0 && isWithin(name, foldCase(owner)),
  );
  if (dname !== undefined) {
    const { owner, rdata, ttl } = dname;
    return { kind: 'dname', owner: foldCase(owner), rdata, ttl };
  }
  return reply.target === undefined
    ? { kind: 'unanswered' }
    : { kind: 'alias', target: reply.target, ttl: reply.ttl };
}

/** The bitmaps are well-formed: rdata was validated with its message. */
function nsecOf({ authorities }: Message): { owner: Name; next: Name; types: readonly number[] }[] {
  return authorities
    .filter(({ type, class: code, rdata }) => type === TYPE.NSEC && code === CLASS.IN && rdata.length > 0)
    .map(({ owner, rdata }) => {
      const { nextName, types } = NSEC.decode(new WireReader(rdata));
      return { owner: foldCase(owner), next: foldCase(nextName), types };
    });
}

/** Reads a resolver's reply, which does not show zone cuts and has remaining TTLs. */
export function readScanReplyOfResolver(name: Name, answer: ResolverReply): ScanReply {
  if (answer.kind === 'failed') return { kind: 'unanswered' };
  const [alias] = answer.aliases;
  if (alias !== undefined && alias.name === name) {
    return { kind: 'alias', target: alias.target, ttl: alias.ttl };
  }
  if (answer.kind === 'answer') return { kind: 'records', rdata: answer.rdata, ttl: answer.ttl };
  return { kind: answer.kind, soa: undefined, neighbours: [] };
}
