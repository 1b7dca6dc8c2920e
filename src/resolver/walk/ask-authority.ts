// Finds the zone that contains a name with a separate walk from the root, and queries one of its servers. Does not follow
// aliases.
// followed.

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Question } from '../exchange/exchange.ts';
import type { ReplyOf } from '../replies/classify-reply.ts';
import type { KnownZone } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { SharedTask } from '../state/shared-tasks.ts';
import type { Work } from '../state/work.ts';
import { askZone } from './ask-zone.ts';
import { type Journey, keepReferral, walk } from './walk.ts';

type AuthorityResult =
  | {
      readonly kind: 'answered';
      readonly reply: ReplyOf<'answer' | 'alias' | 'nodata' | 'nxdomain'>;
      readonly zone: KnownZone;
    }
  | { readonly kind: 'failed'; readonly failure: WalkFailure };

/**
 * Throws Stopped. `journey` begins at the root and is used for several queries for one name. The name is folded and not the
 * root.
 */
export async function askAuthority(
  state: ResolverState,
  journey: Journey,
  question: Question,
  options: { readonly work: Work; readonly within: SharedTask | undefined },
): Promise<AuthorityResult> {
  for (;;) {
    const arrival = await walk(state, question.name, journey, { ...options, inclusive: true });
    if (arrival.kind === 'failed') return arrival;
    const { zone } = arrival;
    const result = await askZone(state, zone, question, options);
    if (result.kind === 'failed') return result;
    const { reply } = result;
    if (reply.kind !== 'referral') return { kind: 'answered', reply, zone };
    journey.learn(reply.cut, keepReferral(state, reply, options.work), zone.zone);
  }
}
