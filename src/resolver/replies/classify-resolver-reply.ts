// Reads from a resolver's reply which records a name has at the end of its aliases. A resolver can claim anything about any
// zone, so its reply is never used for other queries.

import type { Message } from '../../dns/message/message.ts';
import { RCODE, rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { foldCase, type Name, nameInRdata, printName } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { Question } from '../exchange/exchange.ts';
import { lowestTtl, MAX_RECORDS, rdataOf, recordsOf } from './classify-reply.ts';

interface Alias {
  readonly name: Name;
  readonly target: Name;
  readonly ttl: number;
}

/** Names are folded, and TTLs are the remaining seconds. `aliases` are in order, starting at the query name. */
export type ResolverReply =
  /** `name` is the query name, or the name where its aliases end. */
  | {
      readonly kind: 'answer';
      readonly rdata: readonly Uint8Array[];
      readonly ttl: number;
      readonly name: Name;
      readonly aliases: readonly Alias[];
    }
  /** Outcome for the name where the aliases end (RFC 6604 §3). */
  | { readonly kind: 'nodata' | 'nxdomain'; readonly aliases: readonly Alias[] }
  /** The reply is not usable. `error` is a human-readable reason. */
  | { readonly kind: 'failed'; readonly error: string };

/** `question.name` is folded. */
export function classifyResolverReply(message: Message, question: Question): ResolverReply {
  const { rcode, answers } = message;
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return failed(rcodeMnemonic(rcode));
  if (message.tc) return failed('the reply is truncated over TCP as well');
  // Otherwise a referral could be mistaken for NODATA.
  if (!message.ra && !message.aa) return failed('it does not resolve names');
  const aliases: Alias[] = [];
  const seen = new Set<Name>();
  let { name } = question;
  for (;;) {
    const records = recordsOf(answers, name, question.type);
    if (records.length > 0) {
      if (rcode !== RCODE.NOERROR) return failed(`an answer with ${rcodeMnemonic(rcode)}`);
      if (records.length > MAX_RECORDS) return failed(`a set of ${records.length} records`);
      return { kind: 'answer', rdata: rdataOf(records), ttl: lowestTtl(records), name, aliases };
    }
    seen.add(name);
    // A CNAME always accompanies the DNAME (RFC 6672 §3.1).
    const targets = new Set(
      recordsOf(answers, name, TYPE.CNAME).map(({ rdata }) => foldCase(nameInRdata(rdata))),
    );
    const [target] = targets;
    if (target === undefined) return { kind: rcode === RCODE.NOERROR ? 'nodata' : 'nxdomain', aliases };
    if (targets.size > 1) return failed(`${printName(name)} is an alias of several names`);
    if (seen.has(target)) return failed(`${printName(question.name)} is an alias that leads to itself`);
    aliases.push({ name, target, ttl: lowestTtl(recordsOf(answers, name, TYPE.CNAME)) });
    name = target;
  }
}

function failed(error: string): ResolverReply {
  return { kind: 'failed', error };
}
