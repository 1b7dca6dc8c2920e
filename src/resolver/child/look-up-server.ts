// Looks up a nameserver's addresses of both families at the servers of its zone, starting at the root, or at the delegated
// zone's own servers if it is inside that zone. Also detects aliases, which are not allowed for nameservers.

import type { FoundAddresses } from '../../checks/child/evidence.ts';
import { isWithin, type Name, ROOT } from '../../dns/name.ts';
import { printAddress } from '../../dns/record/ip-address.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { KnownZone } from '../state/known-zone.ts';
import { Stopped } from '../state/work.ts';
import { askAuthority } from '../walk/ask-authority.ts';
import { findAddresses } from '../walk/find-addresses.ts';
import { Journey } from '../walk/walk.ts';
import type { Asking } from './probe-address.ts';

/** `zone`: the delegated zone. Returns kind `unknown` if a limit was reached first. */
export async function lookUpServer(asking: Asking, zone: KnownZone, name: Name): Promise<FoundAddresses> {
  if (name === ROOT) return { kind: 'none' };
  try {
    return await lookUp(asking, zone, name);
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return { kind: 'unknown', message: error.message };
  }
}

async function lookUp({ state, work }: Asking, zone: KnownZone, name: Name): Promise<FoundAddresses> {
  const journey = new Journey(state, isWithin(name, zone.zone) ? zone : state.root);
  const options = { work, within: undefined };
  const addresses: string[] = [];
  for (const type of [TYPE.A, TYPE.AAAA]) {
    const result = await askAuthority(state, journey, { name, type }, options);
    if (result.kind === 'failed') return { kind: 'unknown', message: result.failure.message };
    const { reply } = result;
    if (reply.kind === 'answer') addresses.push(...reply.rdata.map(printAddress));
    else if (reply.kind === 'nxdomain') break;
    else if (reply.kind === 'alias') {
      const { outcome } = await findAddresses(state, name, options);
      return { kind: 'alias', addresses: outcome.kind === 'found' ? outcome.addresses : [] };
    }
  }
  return addresses.length > 0 ? { kind: 'found', addresses: [...new Set(addresses)] } : { kind: 'none' };
}
