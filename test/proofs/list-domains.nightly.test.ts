// A whole list of very many domains is streamed: memory holds a few pages of it, for any length and any speed of its reader.

import { expect, it } from 'vitest';
import { listenHttp } from '../../src/api/http/listen.ts';
import { startTestApi } from '../support/api/api.ts';
import { makeManyDomains } from '../support/database/many-domains.ts';
import { heapOctets } from '../support/tests/heap-octets.ts';
import { scale } from '../support/tests/scale.ts';

it('holds a few pages in memory', async () => {
  const api = await startTestApi();
  const listeners = await listenHttp(api.app, [{ address: '127.0.0.1', port: 0 }]);
  try {
    const count = scale(300_000, 15_000);
    await makeManyDomains(api.db, api.accountIds.owner, count);
    const url = `http://127.0.0.1:${listeners.addresses[0]?.port}/domains/`;
    const before = heapOctets();
    const { body } = await fetch(url, { headers: { 'x-api-key': api.keys.owner } });
    let items = 0;
    let octets = 0;
    let most = 0;
    let pieces = 0;
    let depth = 0;
    for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
      octets += piece.length;
      for (const octet of piece) {
        if (octet === 0x7b && depth++ === 0) items++; // {
        if (octet === 0x7d) depth--; // }
      }
      if (pieces++ % 50 === 0) most = Math.max(most, heapOctets());
    }
    expect(items).toBe(count);
    expect(octets).toBeGreaterThan(count * 500);
    expect(most - before).toBeLessThan(32 * 1024 * 1024);
  } finally {
    await listeners.close(0);
    await api.stop();
  }
});
