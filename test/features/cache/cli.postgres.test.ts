import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addCacheCommands } from '../../../src/features/cache/cli.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { type EdgeApi, startEdgeApi } from '../../support/edge/edge-api.ts';
import { storedEntry } from '../../support/edge/stored-entry.ts';

const NAME = 'shop.test';

let api: EdgeApi;
let token: string;
beforeAll(async () => {
  api = await startEdgeApi();
  token = await api.makeEdge('fra');
  await api.makeEdge('nyc');
  await api.makeDomain(NAME);
  const entries = [
    storedEntry(`www.${NAME}`, { path: '/a/1', key_hash: '1', store_path: '/1', size: 7 }),
    storedEntry(`www.${NAME}`, { path: '/a/2', key_hash: '2', store_path: '/2' }),
    storedEntry(`img.${NAME}`, { path: '/b', key_hash: '3', store_path: '/3' }),
  ];
  const reported = await api.ask('POST', '/edge/v1/cache', { as: token, body: { entries } });
  expect(reported.body).toMatchObject({ stored: 3 });
});
afterAll(() => api.stop());
beforeEach(async () => {
  await api.query`truncate cache_purges, cache_purge_edges, audit_log`;
  await api.query`update edges set seen_at = clock_timestamp()`;
});

const run = (...args: string[]) => runCommands(addCacheCommands, ['cache', ...args], api.database.url);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
const audited = async () =>
  await api.query<{ action: string; after: object }>`select action, after from audit_log order by id`;

describe('cache keys', () => {
  it('lists cached entries, filtered and by page', async () => {
    const { code, stdout } = await run('keys', 'SHOP.test', '--host', 'www');
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^HOST +PATH +QUERY +VARIANT +METHOD +NODE +SIZE +CACHED +EXPIRES$/);
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe('2 of 2');
    expect(stdout).toMatch(/^www\.shop\.test +\/a\/1 +- +- +GET +fra +7 /m);
    const all = await json('keys', NAME, '--limit', '2', '--offset', '2');
    expect([all.domain, all.total, all.dropped, all.keys.length]).toEqual([NAME, 3, 0, 1]);
    expect((await json('keys', NAME, '--path', '/a/*')).total).toBe(2);
    expect((await json('keys', NAME, '--node', 'nyc')).total).toBe(0);
  });

  it('reports errors in the command', async () => {
    for (const limit of ['0', '1001', 'x', '-1'])
      expect((await run('keys', NAME, '--limit', limit)).code).toBe(2);
    expect((await run('keys', 'nobody.test')).code).toBe(1);
    const away = await runCommands(addCacheCommands, ['cache', 'keys', NAME], api.database.url, {
      cacheRegistryUrl: 'postgresql://nobody@127.0.0.1:9/none',
    });
    expect([away.code, away.stdout]).toEqual([2, '']);
    expect(away.stderr).toContain('the cache registry cannot answer');
  });
});

describe('cache purge and refresh', () => {
  it('orders a purge of all edges, and writes a row to the audit log', async () => {
    const { outcome, purge } = await json('purge', NAME, '--url', `https://www.${NAME}/a/1?x=1`);
    expect(outcome).toBe('ordered');
    const refreshed = await json('refresh', NAME, `http://img.${NAME}/b`);
    const { code, stdout } = await run('purge', NAME, '--all');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^shop\.test: purge \d+ is ordered; /)]);
    const { purges } = await json('purges', NAME);
    expect(purges.map(({ target }: { target: object }) => target)).toEqual([
      { kind: 'all' },
      { kind: 'url', host: `img.${NAME}`, path: '/b', query: '', refresh: true },
      { kind: 'url', host: `www.${NAME}`, path: '/a/1', query: 'x=1' },
    ]);
    expect(await audited()).toEqual([
      { action: 'cache.purge', after: { purge, url: `https://www.${NAME}/a/1?x=1` } },
      { action: 'cache.refresh', after: { purge: refreshed.purge, url: `http://img.${NAME}/b` } },
      { action: 'cache.purge', after: { purge: expect.any(Number) } },
    ]);
  });

  it('requires a target, and rejects one outside the domain', async () => {
    for (const options of [[], ['--all', '--host', NAME], ['--host', NAME, '--url', 'x']])
      expect((await run('purge', NAME, ...options)).code).toBe(2);
    expect(await run('purge', NAME, '--host', 'other.test')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('does not belong to the domain shop.test'),
    });
    expect(await json('refresh', NAME, 'nonsense')).toMatchObject({ outcome: 'refused' });
    expect(await audited()).toEqual([]);
  });
});

describe('cache purges', () => {
  it('shows which edges have completed a purge', async () => {
    const { purge: replaced } = await json('purge', NAME, '--prefix', `https://www.${NAME}/a/`);
    const { purge } = await json('purge', NAME, '--all');
    expect((await api.ask('POST', `/edge/v1/purges/${purge}`, { as: token, body: {} })).status).toBe(200);
    const shown = await run('purges', NAME, String(purge));
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/what +everything\n/);
    expect(shown.stdout).toMatch(/state +open\n/);
    expect(shown.stdout).toMatch(/^fra +live +\d{4}-.*Z +-$/m);
    expect(shown.stdout).toMatch(/^nyc +live +- +-$/m);
    expect((await json('purges', NAME, String(purge))).purge).toMatchObject({
      edges: 2,
      done: 1,
      finished: false,
    });
    expect((await run('purges', NAME, String(replaced))).stdout).toContain(`replaced by purge ${purge}`);
    expect((await run('purges', NAME)).stdout).toMatch(/ +2 +1 +open +everything\n/);
  });

  it('fails if the purge does not exist', async () => {
    expect(await run('purges', NAME, '999999')).toMatchObject({ code: 1, stdout: '' });
    expect((await run('purges', NAME, 'all')).code).toBe(2);
  });
});
