// Queries the zones on the path to a challenge for their primary (the MNAME of their SOA, RFC 1035 §3.3.13). A delegation
// may use any names for our servers, but our servers' answers contain our own names.

import { foldCase, type Name, nameInRdata } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { Stopped, type Work } from '../state/work.ts';
import { askServer } from '../walk/ask-server.ts';

/** Number of addresses queried per zone. Disagreements are detected elsewhere. */
const ADDRESSES_ASKED = 3;

/** Throws Stopped only if the work was aborted. */
export async function askPrimaries(
  state: ResolverState,
  zones: readonly KnownZone[],
  silent: ReadonlySet<string>,
  work: Work,
): Promise<readonly Name[]> {
  const { now, hasIpv6 } = state.around;
  const asked = zones.flatMap((zone) =>
    zone
      .addresses(now(), hasIpv6())
      .filter(({ address }) => !silent.has(address))
      .slice(0, ADDRESSES_ASKED)
      .map((to) => askPrimary(state, work, zone, to)),
  );
  return [...new Set((await Promise.all(asked)).flat())];
}

async function askPrimary(
  state: ResolverState,
  work: Work,
  zone: KnownZone,
  to: ZoneAddress,
): Promise<readonly Name[]> {
  try {
    const { reply } = await askServer(state, work, zone, to, { name: zone.zone, type: TYPE.SOA });
    return reply.kind === 'answer' ? reply.rdata.map((rdata) => foldCase(nameInRdata(rdata))) : [];
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return [];
  }
}
