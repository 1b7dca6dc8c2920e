// Checks if the servers of a zone agree on a zone that they delegate. A walk trusts the first server that answers, but a
// verification must not depend on one server that is stale or lies.

import type { ServerOutcome } from '../../checks/delegation/evidence.ts';
import type { TxtDelegation, TxtDelegationReply } from '../../checks/txt/txt-evidence.ts';
import { isWithin, type Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { type ClassifiedReply, namesIn } from '../replies/classify-reply.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { findServers } from './ask-every-server.ts';
import { askServer } from './ask-server.ts';
import { pickAddresses } from './pick-addresses.ts';

export interface ConfirmedZone {
  readonly zone: KnownZone;
  readonly delegation: TxtDelegation;
  /** Name of a zone between the two, if a server shows one. */
  readonly between: Name | undefined;
}

/** A few addresses are sufficient for a zone whose servers are professionally operated for many customers. */
const PUBLIC_ADDRESSES = 3;
const MAX_ADDRESSES = 16;

/** `isPublic`: the parent zone is the root or delegated by the root. Throws Stopped. */
export async function confirmZone(
  state: ResolverState,
  work: Work,
  { zone, above, isPublic }: { zone: KnownZone; above: KnownZone; isPublic: boolean },
  silent: ReadonlySet<string>,
): Promise<ConfirmedZone> {
  const { now, random, hasIpv6 } = state.around;
  if (!isPublic) await findServers(state, work, above);
  const addresses = above.addresses(now(), hasIpv6()).filter(({ address }) => !silent.has(address));
  const count = isPublic ? PUBLIC_ADDRESSES : MAX_ADDRESSES;
  const question = { name: zone.zone, type: TYPE.NS };
  let between: Name | undefined;
  const servers = await Promise.all(
    pickAddresses(addresses, count, { now: now(), random }).map(async (to) => {
      const { reply } = await askServer(state, work, above, to, question);
      between ??= zoneBetween(reply, zone.zone, above.zone);
      return delegationReplyOf(reply, to, { zone: zone.zone, above: above.zone });
    }),
  );
  return {
    zone,
    delegation: { zone: zone.zone, nameservers: zone.walked.servers, servers },
    between,
  };
}

function zoneBetween(reply: ClassifiedReply, zone: Name, above: Name): Name | undefined {
  const other = reply.kind === 'referral' ? reply.cut : 'soa' in reply ? reply.soa : zone;
  return other !== zone && other !== above && isWithin(zone, other) ? other : undefined;
}

function delegationReplyOf(
  reply: ClassifiedReply,
  { server, address }: ZoneAddress,
  { zone, above }: { zone: Name; above: Name },
): TxtDelegationReply {
  const isForeign = 'soa' in reply && reply.soa !== above;
  const outcome: ServerOutcome = isForeign ? 'lame' : reply.kind;
  return { server, address, outcome, ns: nameserversIn(reply, zone) };
}

function nameserversIn(reply: ClassifiedReply, zone: Name): readonly Name[] {
  if (reply.kind === 'answer') return namesIn(reply.rdata);
  return reply.kind === 'referral' && reply.cut === zone ? reply.ns : [];
}
