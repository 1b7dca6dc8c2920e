// Measures the list of all records for external-dns: its duration, and the memory that the API needs for it.

import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../api/api-under-test.ts';
import { pssBytes } from '../process-tree.ts';

const SETS = 10_000;
const POLL_MS = 20;

interface Listed {
  readonly sets: number;
  readonly seconds: number;
  readonly addedMib: number;
}

export async function measureExternalDns({
  base,
  headers,
  apiPid,
  zones,
}: {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly apiPid: number;
  readonly zones: readonly string[];
}): Promise<Listed> {
  const [zone] = zones as [string];
  const records = Array.from({ length: SETS }, (_, i) => ({
    name: `listed${i}`,
    type: 'A',
    destination: `192.0.${i >> 8}.${i & 255}`,
  }));
  await call(`${base}/domains/${zone}/records/import`, { headers, method: 'POST', body: { records } });
  const list = async () => JSON.parse(await call(`${base}/external-dns/records`, { headers })) as unknown[];
  await list();
  const before = pssBytes(apiPid);
  let most = before;
  const watching = new AbortController();
  const watch = (async () => {
    while (!watching.signal.aborted) {
      most = Math.max(most, pssBytes(apiPid));
      await pause(POLL_MS);
    }
  })();
  const startedMs = performance.now();
  const sets = (await list()).length;
  const seconds = (performance.now() - startedMs) / 1000;
  watching.abort();
  await watch;
  return { sets, seconds, addedMib: (most - before) / 2 ** 20 };
}
