// Finds the zone that holds a name by a walk of its own from the root, and asks one of its servers. Aliases are not
// followed.

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Question } from '../exchange/exchange.ts';
import type { ToldOf } from '../replies/read-reply.ts';
import type { Errand } from '../state/errands.ts';
import type { KnownZone } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { askZone } from './ask-zone.ts';
import { type Journey, keepReferral, walk } from './walk.ts';

export type Authority =
  | {
      readonly kind: 'told';
      readonly told: ToldOf<'answer' | 'alias' | 'nodata' | 'nxdomain'>;
      readonly zone: KnownZone;
    }
  | { readonly kind: 'failed'; readonly failure: WalkFailure };

/** Throws Stopped. `journey` begins at the root and serves several questions for one name. The name is folded, and not the root. */
export async function askAuthority(
  state: ResolverState,
  journey: Journey,
  question: Question,
  options: { readonly work: Work; readonly within: Errand | undefined },
): Promise<Authority> {
  for (;;) {
    const walked = await walk(state, question.name, journey, { ...options, inclusive: true });
    if (walked.kind === 'failed') return walked;
    const { zone } = walked;
    const asked = await askZone(state, zone, question, options);
    if (asked.kind === 'failed') return asked;
    const { told } = asked;
    if (told.kind !== 'referral') return { kind: 'told', told, zone };
    journey.learn(told.cut, keepReferral(state, told, options.work), zone.zone);
  }
}
