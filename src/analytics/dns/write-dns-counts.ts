// Writes a batch of the nodes' counts. The batch's id makes a repeat harmless, also when only the first table had it.

import type { Analytics } from '../open-analytics.ts';

export interface DnsCountsBatch {
  readonly counts: readonly {
    readonly minute: Date;
    readonly domainId: number;
    readonly type: number;
    readonly rcode: number;
    readonly node: string;
    readonly count: number;
  }[];
  readonly names: readonly {
    /** YYYY-MM-DD. */
    readonly day: string;
    readonly domainId: number;
    readonly name: string;
    readonly count: number;
  }[];
}

export async function writeDnsCounts(store: Analytics, id: string, batch: DnsCountsBatch): Promise<void> {
  const counts = batch.counts.map(({ minute, domainId: domain_id, ...count }) => ({
    minute: minute.getTime() / 1000,
    domain_id,
    ...count,
  }));
  await store.insert('dns_minutely', counts, `dns-${id}`);
  const names = batch.names.map(({ domainId: domain_id, ...name }) => ({ domain_id, ...name }));
  await store.insert('dns_names_daily', names, `dns-names-${id}`);
}
