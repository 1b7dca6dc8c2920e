// Finds the delegation of a domain and its glue, from one server of the parent. It is only a starting point: the delegation
// check decides which delegation counts.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { namesIn } from '../replies/classify-reply.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { askZone } from '../walk/ask-zone.ts';
import { Journey, keepReferral, walk } from '../walk/walk.ts';

export interface Delegation {
  readonly ns: readonly Name[];
  readonly glue: readonly { readonly name: Name; readonly address: string }[];
}

type DelegationResult =
  | { readonly kind: 'found'; readonly parent: Name; readonly delegation: Delegation }
  | { readonly kind: 'failed'; readonly message: string };

/** Throws Stopped. */
export async function findDelegation(
  state: ResolverState,
  domain: Name,
  work: Work,
): Promise<DelegationResult> {
  const journey = new Journey(state, state.root);
  const options = { work, within: undefined };
  for (;;) {
    const arrival = await walk(state, domain, journey, options);
    if (arrival.kind === 'failed') return { kind: 'failed', message: arrival.failure.message };
    const { zone: above } = arrival;
    const result = await askZone(state, above, { name: domain, type: TYPE.NS }, options);
    if (result.kind === 'failed') return { kind: 'failed', message: result.failure.message };
    const { reply } = result;
    switch (reply.kind) {
      case 'referral':
        if (reply.cut === domain) {
          return { kind: 'found', parent: above.zone, delegation: { ns: reply.ns, glue: reply.glue } };
        }
        journey.learn(reply.cut, keepReferral(state, reply, work), above.zone);
        break;
      case 'answer': {
        // The same servers serve both zones.
        const ns = namesIn(reply.rdata);
        const glue = [...reply.glue, ...above.addressesOf(ns)];
        return { kind: 'found', parent: above.zone, delegation: { ns, glue } };
      }
      case 'alias':
      case 'nodata':
      case 'nxdomain':
        return { kind: 'failed', message: 'the parent does not delegate the domain' };
      default:
        return reply satisfies never;
    }
  }
}
