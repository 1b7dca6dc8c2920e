// The addresses of a webhook's host, asked from the servers of its zones and of no cache: what is judged is what is called.

import { type Name, parseName } from '../../src/dns/name.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';

/** More addresses of one name are not judged: the name is not called then. */
const MOST_ADDRESSES = 16;

export function findReceiver(resolver: Pick<Resolver, 'observeAddresses'>) {
  return async (host: string, signal: AbortSignal): Promise<readonly string[] | undefined> => {
    const name = nameOf(host);
    if (name === undefined) return undefined;
    const { v4, v6 } = await resolver.observeAddresses(name, { signal });
    const found = [v4, v6].flatMap((family) => (family.kind === 'found' ? family.addresses : []));
    return found.length > MOST_ADDRESSES ? undefined : found;
  };
}

function nameOf(host: string): Name | undefined {
  try {
    return parseName(`${host}.`);
  } catch {
    return undefined;
  }
}
