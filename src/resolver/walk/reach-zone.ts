// Finds the servers of the zone that contains a domain's records from its parent's answer. Does not query the domain's own
// servers.

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { namesIn } from '../replies/classify-reply.ts';
import type { KnownZone } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { askZone } from './ask-zone.ts';
import { Journey, keepReferral, walk } from './walk.ts';

export type ReachResult =
  /**
   * The domain's own zone, or the zone above that contains its names. `isDenied`: the zone above answers that the domain
   * does not exist.
   */
  | { readonly kind: 'zone'; readonly zone: KnownZone; readonly isDenied?: true }
  | { readonly kind: 'failed'; readonly failure: WalkFailure };

/** Throws Stopped. */
export async function reachZone(state: ResolverState, domain: Name, work: Work): Promise<ReachResult> {
  const journey = new Journey(state, state.root);
  const options = { work, within: undefined };
  for (;;) {
    const arrival = await walk(state, domain, journey, options);
    if (arrival.kind === 'failed') return arrival;
    const { zone: above } = arrival;
    const result = await askZone(state, above, { name: domain, type: TYPE.NS }, options);
    if (result.kind === 'failed') return result;
    const { reply, from } = result;
    switch (reply.kind) {
      case 'referral': {
        const cut = keepReferral(state, reply, work);
        if (reply.cut === domain && cut.kind === 'cut') return { kind: 'zone', zone: cut.zone };
        journey.learn(reply.cut, cut, above.zone);
        break;
      }
      case 'answer': {
        // The same servers serve both zones: names in the domain's set that also serve the parent have the same addresses.
        const names = namesIn(reply.rdata);
        const glue = [...reply.glue, ...above.addressesOf(names)];
        const spare = { name: from.server, address: from.address };
        return { kind: 'zone', zone: state.knownZone(domain, { names, glue, spare }) };
      }
      case 'alias':
      case 'nodata':
        return { kind: 'zone', zone: above };
      case 'nxdomain':
        return { kind: 'zone', zone: above, isDenied: true };
      default:
        return reply satisfies never;
    }
  }
}
