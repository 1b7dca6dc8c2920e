// Sends one question to one public resolver, within the limits of the work and of the resolver. Its answer proves
// nothing: it shows what others see, and stands in where a zone's own servers cannot be asked.

import type { Exchanged, Question } from '../exchange/exchange.ts';
import { type Recursive, readRecursive } from '../replies/read-recursive.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';

/** Throws Stopped. `resolver` is one of `publicResolvers.addresses`; the question's name is folded. */
export async function askRecursive(
  state: ResolverState,
  work: Work,
  resolver: string,
  question: Question,
): Promise<Recursive> {
  const { publicResolvers } = state.around;
  if (publicResolvers === undefined) return { kind: 'failed', error: 'there are no resolvers to ask' };
  const { rates, exchange } = publicResolvers;
  const { signal } = work;
  work.check();
  let exchanged: Exchanged;
  try {
    await rates.take(resolver, signal);
    work.checkPackets();
    const onPacket = () => {
      if (work.countPacket()) state.packets.sent++;
    };
    exchanged = await exchange.ask(resolver, question, { signal, onPacket });
  } catch (error) {
    work.check(); // what was waited for rejects with the signal's reason
    throw error;
  }
  if (exchanged.kind !== 'reply') {
    work.check();
    state.packets[exchanged.kind === 'timeout' ? 'timeouts' : 'bad']++;
    return { kind: 'failed', error: exchanged.kind === 'timeout' ? 'no reply' : exchanged.error };
  }
  state.packets.replies++;
  return readRecursive(exchanged.message, question);
}

/** Gives the public resolvers in turn. Undefined where there are none. */
export function nextResolver(state: ResolverState): string | undefined {
  const { addresses = [] } = state.around.publicResolvers ?? {};
  return addresses[state.resolverTurn++ % addresses.length];
}
