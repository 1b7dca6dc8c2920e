// Queries one address of a zone's servers, classifies its reply, and records how the address behaved.

import type { Need } from '../../checks/delegation/evidence.ts';
import type { Message } from '../../dns/message/message.ts';
import type { Question } from '../exchange/exchange.ts';
import { type ClassifiedReply, classifyReply, type UsefulReply } from '../replies/classify-reply.ts';
import { type KnownZone, noteMiss, noteReply, noteUse, type ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { sendQuestion } from './send-question.ts';

/** Result of querying one address. */
export interface ServerResult {
  readonly reply: ClassifiedReply;
  readonly askedAt: number;
  /** Message of the reply, if there was one. */
  readonly message: Message | undefined;
  readonly transport: 'udp' | 'tcp';
  readonly rttMs: number | undefined;
  /** How the query had to be changed before the server answered it. Absent if it answered the first query. */
  readonly needed?: readonly Need[];
}

/** Throws Stopped. Calls `onSent` immediately before the query is sent. */
export async function askServer(
  state: ResolverState,
  work: Work,
  zone: KnownZone,
  to: ZoneAddress,
  question: Question,
  onSent?: (askedAt: number) => void,
): Promise<ServerResult> {
  const { now } = state.around;
  let askedAt = now();
  const result = await sendQuestion(
    state,
    work,
    state.around,
    { address: to.address, question, zone: zone.zone },
    () => {
      askedAt = now();
      noteUse(to, askedAt);
      work.unanswered++;
      onSent?.(askedAt);
    },
  );
  if (result.kind !== 'reply') {
    noteMiss(to, now());
    const reply: ClassifiedReply = result.kind === 'timeout' ? result : { kind: 'bad', error: result.error };
    return { reply, askedAt, message: undefined, transport: 'udp', rttMs: undefined };
  }
  work.unanswered = 0;
  const { message, transport, rttMs, needed } = result;
  const reply = classifyReply(message, question, zone.zone);
  if (isUseful(reply)) noteReply(to, rttMs);
  else noteMiss(to, now());
  return { reply, askedAt, message, transport, rttMs, ...(needed && { needed }) };
}

export function isUseful(reply: ClassifiedReply): reply is UsefulReply {
  switch (reply.kind) {
    case 'referral':
    case 'answer':
    case 'alias':
    case 'nodata':
    case 'nxdomain':
      return true;
    case 'lame':
    case 'bad':
    case 'refused':
    case 'servfail':
    case 'timeout':
      return false;
    default:
      return reply satisfies never;
  }
}
