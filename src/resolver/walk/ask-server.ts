// Sends one question to one address of a zone, within the limits of the check and of the address, and records how the
// address behaved.

import type { Message } from '../../dns/message/message.ts';
import type { Exchanged, Question } from '../exchange/exchange.ts';
import { type Reading, readReply, type Told } from '../replies/read-reply.ts';
import { type KnownZone, noteMiss, noteReply, noteUse, type ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';

export interface Heard {
  readonly reading: Reading;
  readonly askedAt: number;
  /** The reply's message, if there was a reply. */
  readonly message: Message | undefined;
  readonly transport: 'udp' | 'tcp';
  readonly rttMs: number | undefined;
}

/** Throws Stopped. `onSent` is called when the question is about to leave. */
export async function askServer(
  state: ResolverState,
  work: Work,
  zone: KnownZone,
  to: ZoneAddress,
  question: Question,
  onSent?: (askedAt: number) => void,
): Promise<Heard> {
  const { rates, exchange, now } = state.around;
  const { signal } = work;
  work.check();
  let exchanged: Exchanged;
  let askedAt: number;
  try {
    await rates.take(to.address, signal);
    work.checkPackets();
    askedAt = now();
    noteUse(to, askedAt);
    work.unanswered++;
    onSent?.(askedAt);
    const onPacket = () => {
      if (work.countPacket()) state.packets.sent++;
    };
    exchanged = await exchange.ask(to.address, question, { signal, onPacket });
  } catch (error) {
    work.check(); // what was waited for rejects with the signal's reason
    throw error;
  }
  if (exchanged.kind !== 'reply') {
    work.check();
    noteMiss(to, now());
    const reading: Reading =
      exchanged.kind === 'timeout' ? { kind: 'timeout' } : { kind: 'bad', error: exchanged.error };
    state.packets[exchanged.kind === 'timeout' ? 'timeouts' : 'bad']++;
    return { reading, askedAt, message: undefined, transport: 'udp', rttMs: undefined };
  }
  state.packets.replies++;
  work.unanswered = 0;
  const { message, transport, rttMs } = exchanged;
  const reading = readReply(message, question, zone.zone);
  if (isTold(reading)) noteReply(to, rttMs);
  else noteMiss(to, now());
  return { reading, askedAt, message, transport, rttMs };
}

export function isTold(reading: Reading): reading is Told {
  switch (reading.kind) {
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
      return reading satisfies never;
  }
}
