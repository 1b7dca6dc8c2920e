// Finds the zone that holds a name by a walk of its own from the root, and asks one of its servers. Aliases are not
// followed.

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Question } from '../exchange/exchange.ts';
import type { ReplyOf } from '../replies/classify-reply.ts';
import type { Errand } from '../state/errands.ts';
import type { KnownZone } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
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

/** Throws Stopped. `journey` begins at the root and serves several questions for one name. The name is folded, and not the root. */
export async function askAuthority(
  state: ResolverState,
  journey: Journey,
  question: Question,
  options: { readonly work: Work; readonly within: Errand | undefined },
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
