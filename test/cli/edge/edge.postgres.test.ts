import { beforeEach, describe, expect, it } from 'vitest';
import { addEdgeCommands } from '../../../src/cli/edge/edge.ts';
import { hashSecret } from '../../../src/store/accounts/hashed-secrets.ts';
import { findEdges, listEdges, noteEdgeCall, saveEdgeHealth } from '../../../src/store/edges/edges.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db, url, query } = keptDatabase();
beforeEach(async () => {
  await query`truncate edges, edge_countries, audit_log cascade`;
});

const run = (...args: string[]) => runCommands(addEdgeCommands, ['edge', ...args], url);
const create = (name: string, ...addresses: string[]) =>
  run('create', name, '--region', 'eu', '--address', ...addresses);
const audit = async () =>
  await query<{ action: string; target_name: string }>`
      select action, target_name, before, after from audit_log order by id`;

describe('edge create', () => {
  it('prints only the token on stdout, stores its hash, and rejects a duplicate name or address', async () => {
    const { code, stdout, stderr } = await create('paris-1', '203.0.113.10', '2001:DB8::0:1');
    expect([code, stderr]).toEqual([0, 'the token of paris-1; it will not be shown again\n']);
    expect(stdout).toMatch(/^edge_[0-9A-Za-z]{43}\n$/);
    const found = await findEdges(db, [hashSecret(stdout.trim())]);
    expect([...found.values()]).toMatchObject([{ name: 'paris-1', region: 'eu', state: 'valid' }]);
    expect(await listEdges(db)).toMatchObject([{ v4: ['203.0.113.10'], v6: ['2001:db8::1'] }]);
    expect(await audit()).toMatchObject([
      {
        action: 'edge.create',
        target_name: 'paris-1',
        after: { region: 'eu', addresses: ['203.0.113.10', '2001:db8::1'] },
      },
    ]);
    expect(JSON.stringify(await audit())).not.toContain(stdout.slice(11, -1));
    await create('paris-1', '203.0.113.10');
    expect(await create('paris-1', '203.0.113.11')).toMatchObject({
      code: 1,
      stderr: 'paris-1: already exists\n',
    });
    expect(await create('rome-1', '2001:db8::5', '203.0.113.10')).toMatchObject({
      code: 1,
      stderr: 'rome-1: 203.0.113.10 is already an address of paris-1\n',
    });
    expect(await listEdges(db)).toHaveLength(1);
    expect(await audit()).toHaveLength(1);
  });

  it('accepts loopback addresses with --allow-loopback, and warns about addresses that are not public', async () => {
    const loopback = await create('lab', '127.0.0.1', '--allow-loopback');
    expect([loopback.code, loopback.stderr.split('\n')[0]]).toEqual([
      0,
      '127.0.0.1 is not public: visitors cannot reach it, but it will be published',
    ]);
    const inside = await create('inside', '10.0.0.1', 'fd00::1', '203.0.113.1');
    expect(inside.code).toBe(0);
    expect(inside.stderr).toContain('10.0.0.1 is not public');
    expect(inside.stderr).toContain('fd00::1 is not public');
    expect(inside.stderr).not.toContain('203.0.113.1 is');
  });

  it.each([
    [['Paris', '--region', 'eu', '--address', '203.0.113.1'], 'Paris: a name is'],
    [['paris', '--region', 'E U', '--address', '203.0.113.1'], 'E U: a region is'],
    [['paris', '--region', 'eu', '--address', '203.0.113'], '--address 203.0.113: not an IP address'],
    [['paris', '--region', 'eu', '--address', '::ffff:203.0.113.1'], 'not an IP address'],
    [['paris', '--region', 'eu', '--address', '0.0.0.0'], '--address 0.0.0.0: visitors cannot'],
    [['paris', '--region', 'eu', '--address', 'ff02::1'], '--address ff02::1: visitors cannot'],
    [
      ['paris', '--region', 'eu', '--address', 'fe80::1', '--allow-loopback'],
      '--address fe80::1: visitors cannot',
    ],
    [
      ['paris', '--region', 'eu', '--address', '127.0.0.1'],
      '--address 127.0.0.1: visitors cannot reach a loopback address',
    ],
    [
      ['paris', '--region', 'eu', '--address', '203.0.113.1', '::1'],
      '--address ::1: visitors cannot reach a loopback address',
    ],
    [['paris', '--region', 'eu', '--address', '2001:db8::1', '2001:db8:0::1'], 'is given twice'],
    [['paris', '--region', 'eu'], '--address'],
    [['paris', '--address', '203.0.113.1'], '--region'],
  ])('rejects %j', async (args, words) => {
    const { code, stderr } = await run('create', ...args);
    expect([code, stderr.includes(words)]).toEqual([2, true]);
    expect(await listEdges(db)).toEqual([]);
  });
});

describe('edge rotate, drain and revoke', () => {
  it('rotate replaces the token', async () => {
    const before = (await create('paris', '203.0.113.1')).stdout.trim();
    const after = (await run('rotate', 'paris')).stdout.trim();
    expect(after).toMatch(/^edge_/);
    expect((await findEdges(db, [hashSecret(before)])).size).toBe(0);
    expect((await findEdges(db, [hashSecret(after)])).size).toBe(1);
    expect((await run('rotate', 'nobody')).code).toBe(1);
    expect((await audit()).map(({ action }) => action)).toEqual(['edge.create', 'edge.rotate']);
  });

  it('drain and its undo report what they changed', async () => {
    await create('paris', '203.0.113.1');
    expect((await run('drain', 'paris')).stdout).toBe('paris: drained\n');
    expect((await run('drain', 'paris')).stdout).toBe('paris: unchanged\n');
    expect((await listEdges(db))[0]?.drainedAt).not.toBeNull();
    expect((await run('drain', 'paris', '--undo')).stdout).toBe('paris: undrained\n');
    expect((await run('drain', 'nobody')).code).toBe(1);
    expect((await audit()).map(({ action }) => action)).toEqual(['edge.create', 'edge.drain', 'edge.drain']);
  });

  it('revoke invalidates the token, and its name and addresses can be used again', async () => {
    const before = (await create('paris', '203.0.113.1')).stdout.trim();
    expect((await run('revoke', 'paris')).stdout).toBe('paris: revoked\n');
    expect((await run('revoke', 'paris')).code).toBe(1);
    expect([...(await findEdges(db, [hashSecret(before)])).values()]).toMatchObject([{ state: 'revoked' }]);
    expect((await run('rotate', 'paris')).code).toBe(1);
    expect((await create('rome', '203.0.113.1')).code).toBe(0);
    expect((await create('paris', '203.0.113.2')).code).toBe(0);
  });
});

it('edge list prints the last request of any kind, the health report, and unsupported rules', async () => {
  const token = (await create('paris', '203.0.113.1')).stdout.trim();
  const [edge] = [...(await findEdges(db, [hashSecret(token)])).values()];
  if (edge === undefined) throw new Error('the edge is not there');
  expect((await run('list')).stdout).toMatch(/paris +eu +new +never/);
  await noteEdgeCall(db, edge.id);
  expect((await run('list')).stdout).toMatch(/paris +eu +new +\d+ s ago/);
  const [listed] = JSON.parse((await run('list', '--json')).stdout).edges;
  expect(listed).toMatchObject({ state: 'new', seen_at: expect.any(String), health_at: null });
  await saveEdgeHealth(db, edge, {
    load: 0.5,
    software: 'proxy 1',
    cursor: undefined,
    unsupported: [{ rule_id: 4, why: 'no WAF here' }],
    address: '203.0.113.99',
  });
  const { stdout, stderr } = await run('list');
  expect(stdout).toMatch(/paris +eu +live +\d+ s ago +0\.5 +proxy 1 +203\.0\.113\.1 +edge_\w{6}…/);
  expect(stderr).toBe('paris: rule 4: no WAF here\n');
  const { edges } = JSON.parse((await run('list', '--json')).stdout);
  expect(edges).toMatchObject([
    {
      name: 'paris',
      state: 'live',
      addresses: ['203.0.113.1'],
      seen_address: '203.0.113.99',
      unsupported: [{ rule_id: 4, why: 'no WAF here' }],
    },
  ]);
  expect(JSON.stringify(edges)).not.toContain(token.slice(11));
});

describe('edge region', () => {
  it('sets, lists and removes the region of countries', async () => {
    const set = await run('region', 'se', 'NO', 'nordic');
    expect([set.code, set.stdout, set.stderr]).toEqual([
      0,
      'nordic: NO SE\n',
      'nordic: no edge is in this region\n',
    ]);
    expect((await run('region', 'SE', 'nordic')).stdout).toBe('nordic: unchanged\n');
    expect((await run('region', 'list')).stdout).toContain('NO');
    expect(await run('region', 'remove', 'NO', 'DK')).toMatchObject({
      code: 1,
      stdout: 'removed NO\n',
      stderr: 'DK: has no region\n',
    });
    expect((await audit()).map(({ action }) => action)).toEqual(['edge.region', 'edge.region']);
  });

  it.each([[['SE']], [['SWE', 'eu']], [['SE', 'E U']], [[]]])('rejects %j', async (words) => {
    expect((await run('region', ...words)).code).toBe(2);
  });
});

it('edge serve sets the regions of a domain', async () => {
  await newDomain(db, await newAccount(db, 'ann@zonefleet.test'), 'served.example.com.');
  const regions = async () => (await query<{ r: unknown }>`select edge_regions as r from domains`)[0]?.r;
  const set = await run('serve', 'served.example.com', '--regions', 'us,eu');
  expect([set.code, set.stdout]).toEqual([0, 'served.example.com: served in eu, us\n']);
  expect(await regions()).toEqual(['eu', 'us']);
  expect((await run('serve', 'served.example.com', '--all')).stdout).toContain('every region');
  expect(await regions()).toBeNull();
  expect((await run('serve', 'served.example.com')).code).toBe(2);
  expect((await run('serve', 'absent.example.com', '--all')).code).toBe(1);
  expect((await audit()).filter(({ action }) => action === 'edge.serve')).toMatchObject([
    {
      target_name: 'served.example.com',
      before: { edge_regions: null },
      after: { edge_regions: ['eu', 'us'] },
    },
    { after: { edge_regions: null } },
  ]);
});
