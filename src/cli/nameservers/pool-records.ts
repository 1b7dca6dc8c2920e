// Prints the address records of a pool's names as zone file lines.

import { printWithoutDot } from '../../zone/name-text.ts';
import type { NameserverPool } from '../../zone/pool/pool.ts';

interface ListRecords {
  /** Names without final dots. */
  readonly names: readonly string[];
  readonly addresses: readonly string[];
  /** Lines with absolute names. */
  readonly records: readonly string[];
}

/** One hour: nameserver addresses rarely change, and a change must take effect within a day. */
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
