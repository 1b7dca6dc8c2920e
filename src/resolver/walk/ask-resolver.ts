// Asks one public resolver. Its answer proves nothing: it shows what others see, and stands in where a zone's own
// servers cannot be asked.

import type { Question } from '../exchange/exchange.ts';
import { classifyResolverReply, type ResolverReply } from '../replies/classify-resolver-reply.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { sendQuestion } from './send-question.ts';

/** Throws Stopped. `address` is one of `publicResolvers.addresses`; the question's name is folded. */
export async function askResolver(
  state: ResolverState,
  work: Work,
  address: string,
  question: Question,
): Promise<ResolverReply> {
  const { publicResolvers } = state.around;
  if (publicResolvers === undefined) return { kind: 'failed', error: 'there are no resolvers to ask' };
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

/** Gives the public resolvers in turn. Undefined where there are none. */
export function nextResolver(state: ResolverState): string | undefined {
  const { addresses = [] } = state.around.publicResolvers ?? {};
  return addresses[state.resolverTurn++ % addresses.length];
}
