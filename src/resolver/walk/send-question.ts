// Sends one query to one address within the limits of the work and of the address, and counts packets and results. Used for
// zones' servers and public resolvers.

import type { Name } from '../../dns/name.ts';
import type { AskedWay, QueryResult, Question } from '../exchange/exchange.ts';
import type { Asked, Entry } from '../state/address-gate.ts';
import type { ResolverState, Surroundings } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';

interface AddressedQuestion {
  readonly address: string;
  readonly question: Question;
  /** Zone of the server. Undefined for a public resolver. */
  readonly zone?: Name;
}

const BARRED: QueryResult = {
  kind: 'timeout',
  error: 'it did not answer recently and is not queried again yet',
};

/** Throws Stopped. Calls `onSent` immediately before the query is sent. */
export async function sendQuestion(
  { packets, around: { gate } }: ResolverState,
  work: Work,
  { rates, exchange }: Pick<Surroundings, 'rates' | 'exchange'>,
  { address, question, zone, ...way }: AddressedQuestion & AskedWay,
  onSent?: () => void,
): Promise<QueryResult> {
  const { signal } = work;
  work.check();
  let result: QueryResult | undefined;
  let entry: Entry | undefined;
  let isSent = false;
  work.waits++;
  try {
    if (zone !== undefined) entry = await gate?.enter(address, { zone, fresh: work.fresh, signal });
    if (entry?.kind === 'barred') {
      packets.barred++;
      return BARRED;
    }
    await rates.take(address, signal);
    work.checkPackets();
    isSent = true;
    onSent?.();
    const onPacket = () => {
      if (work.countPacket()) packets.sent++;
    };
    result = await exchange.ask(address, question, { signal, onPacket, ...way });
  } catch (error) {
    work.check(); // the awaited promise rejects with the signal's reason
    throw error;
  } finally {
    work.waits--;
    if (entry?.kind === 'open') entry.done(askedOf(result, isSent));
  }
  if (result.kind !== 'reply') work.check();
  packets[COUNTER_OF[result.kind]]++;
  return result;
}

function askedOf(result: QueryResult | undefined, isSent: boolean): Asked {
  if (result === undefined) return isSent ? 'given_up' : 'not_sent';
  return result.kind === 'reply' ? 'replied' : 'silent';
}

const COUNTER_OF = { reply: 'replies', timeout: 'timeouts', bad: 'bad' } as const;
