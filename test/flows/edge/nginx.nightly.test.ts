// docs/edge-agent and Debian's nginx behind a fleet: from a customer's call to what a visitor is answered.

import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../../src/store/edges/edges.ts';
import { askEdge, type Visiting } from '../../support/edge/ask-edge.ts';
import { DOMAIN, EdgeFleet, HOST, ORIGINS } from '../../support/edge/edge-fleet.ts';
import { type AgentProcess, startAgent } from '../../support/edge/nginx/agent-process.ts';
import { hasNginx } from '../../support/edge/nginx/served-nginx.ts';
import { until } from '../../support/tests/until.ts';

const COUNTRIES = join(
  dirname(createRequire(import.meta.url).resolve('@ip-location-db/geo-whois-asn-country-mmdb/package.json')),
  'geo-whois-asn-country.mmdb',
);

describe.skipIf(!hasNginx)('nginx behind a fleet', () => {
  let fleet: EdgeFleet;
  let agent: AgentProcess;
  /** Rules, which the end of a test deletes. */
  const made: string[] = [];

  beforeAll(async () => {
    fleet = await EdgeFleet.start();
    const created = await createEdge(fleet.database.db, {
      name: 'nginx1',
      region: 'eu',
      v4: ['198.51.100.11'],
      v6: [],
    });
    if (created.kind !== 'created') throw new Error(created.kind);
    agent = await startAgent({
      api: fleet.api.url,
      token: created.token,
      allowOrigins: [ORIGINS],
      countries: { file: COUNTRIES, field: ['country_code'] },
    });
  });
  afterAll(async () => {
    await agent?.stop();
    await fleet?.stop();
  });
  afterEach(async () => {
    fleet.own.says(undefined);
    for (const path of made.splice(0)) await fleet.ask('DELETE', `/domains/${DOMAIN}${path}`);
  });

  const visit = async (path: string, visiting: Visiting = {}, host = HOST) =>
    await askEdge(agent, `http://${host}${path}`, {
      ...visiting,
      headers: { 'user-agent': 'test', accept: '*/*', ...visiting.headers },
    });
  /** Until a visitor is answered so: the agent takes a moment to reload. */
  const becomes = async (expected: object, path: string, visiting: Visiting = {}) =>
    await until(
      async () => {
        const answer = await visit(path, visiting).catch(() => undefined);
        try {
          expect(answer).toMatchObject(expected);
          return true;
        } catch {
          return false;
        }
      },
      () => `${path} is answered with ${JSON.stringify(expected)}; ${agent.log()}`,
      60_000,
    );
  const rule = async (type: string, fields: object): Promise<{ id: number; drop(): Promise<void> }> => {
    const { id } = await fleet.change('POST', `/rules/${type}/`, fields);
    made.push(`/rules/${type}/${id}`);
    return { id, drop: async () => void (await fleet.change('DELETE', `/rules/${type}/${id}`)) };
  };

  it('serves a proxied record', async () => {
    await becomes(
      { status: 200, json: { name: 'own', url: '/page?a=1', headers: { host: HOST } } },
      '/page?a=1',
    );
  });

  it('redirects, and no more when the rule is gone', async () => {
    const { drop } = await rule('redirect', {
      target: 'https://new.example/x?$host=1',
      path_includes: ['/old*'],
      status_code: 301,
    });
    await becomes({ status: 301, headers: { location: 'https://new.example/x?$host=1&a=1' } }, '/old?a=1');
    await drop();
    await becomes({ status: 200 }, '/old?a=1');
  });

  it('drops by country', async () => {
    await rule('drop', { countries: ['DE'], country_match_type: 'include', path_includes: ['/country'] });
    const from = (client: string): Visiting => ({
      from: '127.0.0.9',
      headers: { 'x-forwarded-for': client },
    });
    await becomes({ status: 403 }, '/country', from('5.9.1.1'));
    await becomes({ status: 200 }, '/country', from('8.8.8.8'));
    // Who is not a trusted proxy does not say whose request it is.
    await becomes({ status: 200 }, '/country', { headers: { 'x-forwarded-for': '5.9.1.1' } });
  });

  it('goes on when the agent and the API are away, and catches up', async () => {
    await agent.kill();
    expect((await visit('/')).status).toBe(200);
    await rule('redirect', { target: '/later', path_includes: ['/while-away'] });
    expect((await visit('/while-away')).status).toBe(200);
    await agent.restart();
    await becomes({ status: 302 }, '/while-away');
    expect(readdirSync(join(agent.state, 'configs'))).toEqual([`${DOMAIN}.json`]);
  });
});
