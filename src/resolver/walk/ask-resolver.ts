// Queries one public resolver. Its answer proves nothing: it shows what users see, and substitutes for a zone's own servers
// if they cannot be queried.

import type { Question } from '../exchange/exchange.ts';
import { classifyResolverReply, type ResolverReply } from '../replies/classify-resolver-reply.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { sendQuestion } from './send-question.ts';

/** Throws Stopped. `address` is one of `publicResolvers.addresses`. The query name is folded. */
export async function askResolver(
  state: ResolverState,
  work: Work,
  address: string,
  question: Question,
): Promise<ResolverReply> {
  const { publicResolvers } = state.around;
  if (publicResolvers === undefined) return { kind: 'failed', error: 'no public resolvers are configured' };
  const result = await sendQuestion(state, work, publicResolvers, { address, question });
  switch (result.kind) {
    case 'reply':
      return classifyResolverReply(result.message, question);
    case 'timeout':
      return { kind: 'failed', error: 'no reply' };
    case 'bad':
      return { kind: 'failed', error: result.error };
    default:
      return result satisfies never;
  }
}

/** Returns the public resolvers in turn, or undefined if there are none. */
export function nextResolver(state: ResolverState): string | undefined {
  const { addresses = [] } = state.around.publicResolvers ?? {};
  return addresses[state.resolverTurn++ % addresses.length];
}
