// Queries a zone's servers one after the other until one gives a useful answer. Addresses that the delegation did not
// include are looked up only when needed, and only a few of them (NXNS).

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Message } from '../../dns/message/message.ts';
import { printName } from '../../dns/name.ts';
import type { Question } from '../exchange/exchange.ts';
import type { ClassifiedReply, UsefulReply } from '../replies/classify-reply.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { SharedTask } from '../state/shared-tasks.ts';
import type { Work } from '../state/work.ts';
import { askServer, isUseful } from './ask-server.ts';
import { Lookups } from './lookups.ts';
import { pickAddresses } from './pick-addresses.ts';

export type ZoneResult =
  | {
      readonly kind: 'answered';
      readonly reply: UsefulReply;
      readonly from: ZoneAddress;
    }
  | { readonly kind: 'failed'; readonly failure: WalkFailure };

/** Throws Stopped. A reply that `counts` rejects is treated like a lame one. */
export async function askZone(
  state: ResolverState,
  zone: KnownZone,
  question: Question,
  { work, within }: { work: Work; within: SharedTask | undefined },
  counts: (reply: UsefulReply, message: Message) => boolean = () => true,
): Promise<ZoneResult> {
  const { hasIpv6, now } = state.around;
  const lookups = new Lookups(state, zone, { work, within });
  const tried = new Set<string>();
  const useless: ClassifiedReply[] = [];
  for (;;) {
    const left = zone.addresses(now(), hasIpv6()).filter(({ address }) => !tried.has(address));
    const isFull = tried.size >= work.limits.addressesPerQuestion;
    const [best] = isFull ? [] : pickAddresses(left, 1, { now: now(), random: state.around.random });
    const mayLookUp = !isFull && lookups.left() > 0;
    if (mayLookUp && (best === undefined || best.shunnedUntil > now())) {
      await lookups.next();
      continue;
    }
    if (best === undefined) return { kind: 'failed', failure: failureOf(zone, useless, lookups) };
    tried.add(best.address);
    const { reply, message } = await askServer(state, work, zone, best, question);
    if (isUseful(reply) && message !== undefined && counts(reply, message))
      return { kind: 'answered', reply, from: best };
    useless.push(reply);
  }
}

function failureOf({ zone }: KnownZone, useless: readonly ClassifiedReply[], lookups: Lookups): WalkFailure {
  const text = printName(zone);
  if (useless.length === 0) return lookups.failure();
  const silent = useless.filter(({ kind }) => kind === 'timeout').length;
  if (silent === useless.length) {
    const message = `no reply from ${silent} of the addresses of ${text}`;
    return { zone, reason: 'unreachable', message };
  }
  const kinds = [...new Set(useless.map(({ kind }) => kind))].join(', ');
  return { zone, reason: 'lame', message: `no useful reply from the servers of ${text}: ${kinds}` };
}
