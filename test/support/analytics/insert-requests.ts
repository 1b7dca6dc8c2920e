// Inserts request lines into the analytics store, as after edges have reported them.

import { openAnalytics } from '../../../src/analytics/open-analytics.ts';

interface Line {
  readonly at: Date;
  readonly status: number;
  readonly cache?: string;
  readonly reason?: string;
}

let batches = 0;

export async function insertRequests(
  url: string,
  {
    domainId,
    host,
    lines,
  }: { readonly domainId: number; readonly host: string; readonly lines: readonly Line[] },
): Promise<void> {
  const store = openAnalytics(url);
  const rows = lines.map(({ at, ...line }) => ({
    at: at.toISOString().slice(0, -1).replace('T', ' '),
    domain_id: domainId,
    edge_id: 1,
    host,
    method: 'GET',
    uri: '/',
    octets: 1,
    ms: 1,
    client: '192.0.2.0',
    visitor: '1',
    ...line,
  }));
  await store.insert('requests', rows, `${url} ${batches++}`);
  await store.close();
}
