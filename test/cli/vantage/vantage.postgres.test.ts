import { beforeEach, describe, expect, it } from 'vitest';
import { addVantageCommands } from '../../../src/cli/vantage/vantage.ts';
import { publicKeyOf, readPrivateKey } from '../../../src/process/vantage-signature.ts';
import { listVantages, noteVantageSeen } from '../../../src/store/vantage/vantages.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db, url, query } = keptDatabase();
beforeEach(async () => {
  await query`truncate vantages cascade`;
});

const run = (...args: string[]) => runCommands(addVantageCommands, ['vantage', ...args], url);
const add = (name: string, network: string, ...more: string[]) =>
  run('add', name, '--network', network, ...more);

describe('vantage add', () => {
  it('prints only the private key on stdout, stores the public key, and rejects an existing name', async () => {
    const { code, stdout, stderr } = await add('paris', 'provider-a');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^zfv_[\w-]{43}\n$/);
    expect(stderr).toMatch(/^the key of paris \(([0-9a-f]{4}:?){8}\); it will not be shown again\n/);
    const key = readPrivateKey(stdout.trim());
    const [stored] = await listVantages(db);
    expect(stored).toMatchObject({ name: 'paris', network: 'provider-a', address: null, seenAt: null });
    expect(stored?.publicKey).toBe(key && publicKeyOf(key));
    expect(await add('paris', 'provider-b')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'paris: already exists\n',
    });
    expect(await listVantages(db)).toMatchObject([{ publicKey: stored?.publicKey }]);
  });

  it('reports that an observer counts from its first request on, and that two networks are required', async () => {
    const { stderr } = await add('paris', 'provider-a');
    expect(stderr).toContain('paris has not run yet: an observer counts from its first request on');
    expect(stderr).toContain('status changes are not confirmed');
    expect((await add('rome', 'provider-b')).stderr).toMatch(
      /paris, rome have not run yet.*\nstatus changes are not confirmed/,
    );
    for (const name of ['paris', 'rome']) await noteVantageSeen(db, name, null);
    const third = (await add('oslo', 'provider-c')).stderr;
    expect(third).toContain('oslo has not run yet');
    expect(third).not.toContain('status changes are not confirmed');
  });

  it.each([
    [['Paris', '--network', 'a'], 'Paris: a name is'],
    [['paris', '--network', 'a b'], '--network a b: a label is'],
    [['paris', '--network', 'a', '--address', '192.0.2'], '--address 192.0.2: not an IP address'],
    [['paris'], '--network'],
  ])('rejects %j', async (args, words) => {
    const { code, stderr } = await run('add', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(await listVantages(db)).toEqual([]);
  });
});

describe('vantage list', () => {
  it('prints network, voice, last request and answers, but never a private key', async () => {
    const key = (await add('paris', 'provider-a', '--address', '2001:DB8:0::1')).stdout.trim();
    await add('rome', 'provider-b');
    await noteVantageSeen(db, 'paris', null);
    const told = await run('list', '--json');
    expect(JSON.parse(told.stdout)).toMatchObject({
      vantages: [
        {
          name: 'paris',
          network: 'provider-a',
          voice: 'provider-a',
          address: '2001:db8::1',
          answers: 0,
          dropped: 0,
        },
        { name: 'rome', voice: null, address: null, seen_at: null },
      ],
      voices: 1,
      asked: false,
      hints: [
        expect.stringContaining('rome has not run yet'),
        expect.stringContaining('status changes are not confirmed'),
      ],
    });
    const text = (await run('list')).stdout;
    expect(text).toMatch(/^paris +provider-a +provider-a +\d+ s ago +2001:db8::1 +0 +0 /m);
    expect(text).toMatch(/^rome +provider-b +- +never +- +0 +0 /m);
    expect(told.stdout + text).not.toContain(key);
  });

  it('reports which observers count as one, and the consequence', async () => {
    await add('paris', 'provider-a', '--address', '192.0.2.1');
    await add('rome', 'provider-b', '--address', '192.0.2.2');
    for (const name of ['paris', 'rome']) await noteVantageSeen(db, name, null);
    const { stdout, stderr } = await run('list');
    expect(stdout).toMatch(/^paris +provider-a +provider-a\+provider-b/m);
    expect(stderr).toContain('paris, rome count as one');
    expect(stderr).toContain('changes wait');
  });
});

it('vantage remove removes an observer, and reports the consequence', async () => {
  await add('paris', 'provider-a');
  await add('rome', 'provider-b');
  for (const name of ['paris', 'rome']) await noteVantageSeen(db, name, null);
  const { code, stdout, stderr } = await run('remove', 'rome');
  expect([code, stdout]).toEqual([0, 'removed rome\n']);
  expect(stderr).toContain('status changes are not confirmed');
  expect(await run('remove', 'rome')).toMatchObject({ code: 1, stderr: 'rome: no such observer\n' });
});
