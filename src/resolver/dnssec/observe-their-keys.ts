// Queries each address of another operator's nameservers, found at the parent of a domain, for the domain's DNSKEY set.

import { readTheirKeys, type TheirEvidence } from '../../checks/dnssec/their-keys.ts';
import { foldCase, type Name, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { findDelegation } from '../child/find-delegation.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { Limits } from '../state/limits.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { findServers } from '../walk/ask-every-server.ts';
import { askServer, type ServerResult } from '../walk/ask-server.ts';

/** One query at each of 16 addresses, possibly repeated over TCP, and the walk. */
const THEIR_LIMITS: Partial<Limits> = { packets: 80, milliseconds: 20_000 };
const MAX_ADDRESSES = 16;

export interface TheirOptions {
  /** Our nameservers, which are not queried. */
  readonly ours: readonly Name[];
  /** DS rdata that must match their keys. */
  readonly ds: readonly Uint8Array[];
  readonly signal?: AbortSignal | undefined;
}

/** Rejects with the signal's reason when that aborts. */
export async function observeTheirKeys(
  state: ResolverState,
  name: Name,
  { ours, ds, signal }: TheirOptions,
): Promise<TheirEvidence> {
  const domain = foldCase(name);
  if (domain === ROOT) throw new RangeError('the root has no parent');
  const { limits } = state.around;
  return runWork(state, { limits: { ...limits, ...THEIR_LIMITS }, signal }, (work) =>
    observe(state, work, domain, { ours, ds }),
  );
}

const nobody = (failure: string): TheirEvidence => ({ servers: [], failure });

async function observe(
  state: ResolverState,
  work: Work,
  domain: Name,
  { ours, ds }: TheirOptions,
): Promise<TheirEvidence> {
  try {
    const found = await findDelegation(state, domain, work);
    if (found.kind === 'failed') return nobody(found.message);
    const { ns, glue } = found.delegation;
    const names = ns.map(foldCase).filter((each) => !ours.includes(each));
    if (names.length === 0) return nobody('the parent lists only our nameservers');
    const zone = state.knownZone(domain, { names, glue });
    await findServers(state, work, zone);
    const { now, hasIpv6 } = state.around;
    const known = zone.addresses(now(), hasIpv6()).slice(0, MAX_ADDRESSES);
    if (known.length === 0) return nobody('their nameservers have no address that can be queried');
    const at = Math.floor(now() / 1000);
    const servers = await Promise.all(
      known.map(async (to) => {
        const message = await ask(state, work, zone, to);
        return readTheirKeys(domain, { address: to.address, message }, ds, at);
      }),
    );
    return { servers, failure: undefined };
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return nobody(error.message);
  }
}

async function ask(
  state: ResolverState,
  work: Work,
  zone: KnownZone,
  to: ZoneAddress,
): Promise<ServerResult['message']> {
  try {
    const { message } = await askServer(state, work, zone, to, { name: zone.zone, type: TYPE.DNSKEY });
    return message;
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return undefined;
  }
}
