import { describe, expect, it } from 'vitest';
import { setServedRegions } from '../../../src/store/edges/edge-regions.ts';
import { revokeEdge, rotateEdgeToken } from '../../../src/store/edges/edges.ts';
import { ownApi } from '../../support/api/api.ts';
import { startEdgeApi } from '../../support/edge/edge-api.ts';
import type { ConfigLine } from '../../support/edge/follow-config.ts';
import { until } from '../../support/tests/until.ts';

const api = ownApi(() => startEdgeApi());

const proxied = (name: string, destination = '198.51.100.9') => ({
  name,
  type: 'A',
  destination,
  proxied: true,
});

async function add(domain: string, record: object): Promise<number> {
  const { status, body } = await api.ask('POST', `/domains/${domain}/records/`, { body: record });
  expect([status, body]).toEqual([200, expect.anything()]);
  return body.id;
}

describe('the configuration stream', () => {
  it('sends all domains with proxied records between begin and end, then each change', async () => {
    await api.makeDomain('first.example.com');
    await add('first.example.com', proxied('www'));
    const lines: ConfigLine[] = [];
    const edge = api.follow(await api.makeEdge('stream-1'), { onLine: (line) => lines.push(line) });
    await until(() => lines.some((line) => 'snapshot' in line && line.snapshot === 'end'));
    expect(lines[0]).toMatchObject({ snapshot: 'begin' });
    expect(edge.configFor('www.first.example.com')).toMatchObject({
      domain: 'first.example.com',
      suspended: false,
      hosts: [{ host: 'www.first.example.com', origins: [{ destination: '198.51.100.9', port: 443 }] }],
    });
    await add('first.example.com', proxied('shop', '198.51.100.10'));
    await until(() => edge.configFor('first.example.com')?.hosts.length === 2);
  });

  it('sends null when edges of the region no longer serve the domain, and its configuration when they do again', async () => {
    const domain = await api.makeDomain('regions.example.com');
    await add('regions.example.com', proxied('www'));
    const eu = api.follow(await api.makeEdge('regions-eu', 'eu'));
    const us = api.follow(await api.makeEdge('regions-us', 'us'));
    await until(() => eu.held.has('regions.example.com') && us.held.has('regions.example.com'));
    await setServedRegions(api.db, domain.id, ['us']);
    await until(() => !eu.held.has('regions.example.com'));
    const fresh = api.follow(await api.makeEdge('regions-eu-2', 'eu'));
    await until(() => fresh.held.has('first.example.com'));
    expect(fresh.held.has('regions.example.com')).toBe(false);
    await setServedRegions(api.db, domain.id, null);
    await until(() => eu.held.has('regions.example.com') && fresh.held.has('regions.example.com'));
  });

  it('is one of at most four per edge: the oldest ends', async () => {
    const headers = { authorization: `Bearer ${await api.makeEdge('greedy')}` };
    const hasEnded: boolean[] = [];
    for (let i = 0; i < 6; i++) {
      const { body } = await fetch(`${api.url}/edge/v1/config`, { headers });
      hasEnded.push(false);
      void body?.pipeTo(new WritableStream()).then(() => (hasEnded[i] = true));
    }
    await until(() => hasEnded.filter(Boolean).length === 2);
    expect(hasEnded).toEqual([true, true, false, false, false, false]);
    await revokeEdge(api.db, 'greedy');
    await until(() => hasEnded.every(Boolean));
  });

  it('ends when the token is rotated, and the previous token is refused', async () => {
    const edge = api.follow(await api.makeEdge('rotated'));
    await until(() => edge.snapshots === 1);
    await rotateEdgeToken(api.db, 'rotated');
    await until(() => edge.statuses.at(-1) === 401);
  });
});
