// Sends one question to one address, within the limits of the work and of the address, and counts packets and results.
// A zone's server and a public resolver are asked in the same way.

import type { AskedWay, QueryResult, Question } from '../exchange/exchange.ts';
import type { ResolverState, Surroundings } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';

/** Throws Stopped. `onSent` is called when the question is about to leave. */
export async function sendQuestion(
  { packets }: ResolverState,
  work: Work,
  { rates, exchange }: Pick<Surroundings, 'rates' | 'exchange'>,
  { address, question, ...way }: { readonly address: string; readonly question: Question } & AskedWay,
  onSent?: () => void,
): Promise<QueryResult> {
  const { signal } = work;
  work.check();
  let result: QueryResult;
  work.waits++;
  try {
    await rates.take(address, signal);
    work.checkPackets();
    onSent?.();
    const onPacket = () => {
      if (work.countPacket()) packets.sent++;
    };
    result = await exchange.ask(address, question, { signal, onPacket, ...way });
  } catch (error) {
    work.check(); // what was waited for rejects with the signal's reason
    throw error;
  } finally {
    work.waits--;
  }
  if (result.kind !== 'reply') work.check();
  packets[COUNTER_OF[result.kind]]++;
  return result;
}

const COUNTER_OF = { reply: 'replies', timeout: 'timeouts', bad: 'bad' } as const;
