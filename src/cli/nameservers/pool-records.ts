// The address records of the names of a pool, as lines of a zone file.

import { printWithoutDot } from '../../zone/name-text.ts';
import type { NameserverPool } from '../../zone/pool/pool.ts';

interface ListRecords {
  /** Without final dots. */
  readonly names: readonly string[];
  readonly addresses: readonly string[];
  /** The lines, with absolute names. */
  readonly records: readonly string[];
}

/** An hour: addresses of nameservers seldom change, and a change has to be over within a day. */
const TTL_SECONDS = 3600;

export function poolRecords({ lists, addresses }: NameserverPool): ListRecords[] {
  return lists.map((list, at) => {
    const own = addresses[at] as readonly string[];
    const names = list.map(printWithoutDot);
    const records = names.flatMap((name) =>
      own.map((address) => `${name}. ${TTL_SECONDS} IN ${address.includes(':') ? 'AAAA' : 'A'} ${address}`),
    );
    return { names, addresses: own, records };
  });
}
