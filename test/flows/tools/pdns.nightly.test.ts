// lego with its provider `pdns`, dehydrated with the hook of lexicon, and lexicon, as documented in docs/tools.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../../src/store/accounts/api-keys.ts';
import { LEGO_NEEDS, legoNames, runLego } from '../../support/certificates/lego.ts';
import { type Pebble, startPebble } from '../../support/certificates/pebble.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { startToolFleet, type ToolFleet } from '../../support/processes/tool-fleet.ts';
import { commandIn, fileIn, runShell } from '../../support/tests/documented.ts';

const LEXICON_NEEDS = isInstalled('lexicon') ? '' : ' (skipped: needs lexicon)';
const DEHYDRATED_NEEDS = ['dehydrated', 'lexicon', 'pebble'].every(isInstalled)
  ? ''
  : ' (skipped: needs dehydrated, lexicon and pebble)';

let fleet: ToolFleet;
let pebble: Pebble | undefined;
let dns: string;
beforeAll(async () => {
  fleet = await startToolFleet(['one']);
  const [{ address = '', port = 0 } = {}] = fleet.nodes.map((node) => node.address);
  dns = `${address}:${port}`;
  await fleet.cli('npx zonefleet domain create shop.net --account ann@shop.example');
  if (isInstalled('pebble'))
    pebble = await startPebble(dns, { reusesAuthorizations: false, rejectsNonces: false });
});
afterAll(async () => {
  await pebble?.stop();
  await fleet?.stop();
});

/** Returns the TXT records of shop.net. */
async function texts(): Promise<string[]> {
  const { body } = await fleet.ask('GET', '/domains/shop.net/records/?type=TXT');
  return body.map((one: Record<string, string>) => `${one.name} ${one.destination}`).sort();
}

/** Returns the documented file with the API and the key of the fleet. */
const configured = (page: string, file: string, key: string) =>
  fileIn(page, file).replace('https://api.example.net', fleet.api.url).replace('svc_your_key', key);

it('PATCH, PUT and POST accept large bodies, and each is one change', async () => {
  const zone = '/api/v1/servers/localhost/zones/shop.net.';
  const before = (await fleet.ask('GET', zone)).body.serial;
  const rrsets = Array.from({ length: 3000 }, (_, i) => ({
    ...{ name: `h${i}.shop.net.`, type: 'A', ttl: 60, changetype: 'REPLACE' },
    records: [{ content: '192.0.2.1', disabled: false }],
  }));
  const { status, headers } = await fleet.ask('PATCH', zone, { rrsets });
  expect([status, headers['x-pdns-old-serial'], headers['x-pdns-new-serial']]).toEqual([
    204,
    String(before),
    String((await fleet.ask('GET', zone)).body.serial),
  ]);
  const refused = await fleet.ask('PATCH', zone, {
    rrsets: [...rrsets, { ...rrsets[0], type: 'CNAME', records: [{ content: 'x.example.' }] }],
  });
  expect([refused.status, refused.body.error]).toEqual([
    422,
    expect.stringContaining('RRset h0.shop.net. IN '),
  ]);
  const empty = { kind: 'Native', rrsets: [], padding: 'x'.repeat(200_000) };
  expect((await fleet.ask('PUT', zone, empty)).status).toBe(204);
  expect((await fleet.ask('GET', zone)).body.rrsets).toHaveLength(2);
  const large = rrsets.map((rrset) => ({ ...rrset, name: rrset.name.replace('shop.net.', 'large.net.') }));
  const made = await fleet.ask('POST', zone.replace(/[^/]+$/, '').slice(0, -1), {
    name: 'large.net.',
    rrsets: large,
  });
  expect([made.status, made.body.rrsets.length]).toEqual([201, 3002]);
});

describe.skipIf(LEGO_NEEDS !== '')(`lego 4.9 with pdns${LEGO_NEEDS}`, () => {
  const run = (key: string, command = commandIn('lego-pdns', 'Run')) => {
    const line = `${configured('lego-pdns', 'lego.env', key)}${command}`;
    return runLego(line, { pebble: pebble as Pebble, dns, folder: fleet.folder, env: {} });
  };

  it('issues and renews a certificate for a name and its wildcard, and calls notify', async () => {
    const key = await fleet.cli(commandIn('lego-pdns', 'Create'));
    const zone = '/api/v1/servers/localhost/zones/shop.example.';
    expect((await fleet.ask('PUT', zone, { kind: 'Master' })).status).toBe(204);
    for (const step of ['run', 'renew --days 10000 --no-random-sleep']) {
      const { code, text } = await run(key, commandIn('lego-pdns', 'Run').replace(/run$/, step));
      expect([code, text]).toEqual([0, expect.stringContaining('Server responded with a certificate.')]);
    }
    expect(legoNames(fleet.folder, 'shop.example')).toEqual(['DNS:*.shop.example', 'DNS:shop.example']);
    expect(await fleet.records('TXT')).toEqual([]);
  });

  it.each([
    ['a wrong key', generateKey, 'unexpected HTTP status code 401'],
    [
      'a key for another name',
      () =>
        fleet.cli('npx zonefleet key create ann@shop.example --acme www.shop.example --domains shop.example'),
      'unexpected HTTP status code 403',
    ],
  ])('prints the status if it has %s', async (_, makeKey, reason) => {
    const { code, text } = await run(await makeKey());
    expect([code, text]).toEqual([1, expect.stringContaining(reason)]);
    expect(await fleet.records('TXT')).toEqual([]);
  });
});

describe.skipIf(DEHYDRATED_NEEDS !== '')(`dehydrated 0.7${DEHYDRATED_NEEDS}`, () => {
  it('issues a certificate for a name and its wildcard', async () => {
    const { directory, roots } = pebble as Pebble;
    const key = await fleet.cli(commandIn('dehydrated', 'Create'));
    const file = (name: string) => join(fleet.folder, name);
    writeFileSync(file('roots.pem'), roots);
    writeFileSync(file('domains.txt'), 'shop.net *.shop.net\n');
    writeFileSync(
      file('config'),
      `BASEDIR=${fleet.folder}\nCA=${directory}\nCURL_OPTS="--cacert ${file('roots.pem')}"\n${configured('dehydrated', 'config', key)}`,
    );
    const command = commandIn('dehydrated', 'Run').replace('--config config', `--config ${file('config')}`);
    const registered = await runShell(command.replace('--cron', '--register'), { HOME: fleet.folder });
    expect([registered.code, registered.text]).toEqual([0, expect.stringContaining('Done!')]);
    const { code, text } = await runShell(command, { HOME: fleet.folder });
    expect([code, text]).toEqual([0, expect.stringContaining('+ Done!')]);
    expect(await texts()).toEqual([]);
  });
});

describe.skipIf(LEXICON_NEEDS !== '')(`lexicon 3.11${LEXICON_NEEDS}`, () => {
  it('creates, lists, updates and deletes records', async () => {
    const key = await fleet.cli(commandIn('lexicon', 'Create'));
    const create = commandIn('lexicon', 'Run');
    const run = async (command: string) => {
      const { code, text } = await runShell(`${configured('lexicon', 'lexicon.env', key)}${command}`, {
        HOME: fleet.folder,
      });
      expect([command, code, text]).toEqual([command, 0, expect.not.stringContaining('Traceback')]);
      return text;
    };
    const list = async () =>
      JSON.parse(await run('lexicon powerdns list shop.net TXT --output JSON')).filter(
        ({ name }: { name: string }) => name === 'note.shop.net',
      );
    expect(await run(create)).toContain('True');
    await run(create);
    await run(create.replace('hello', 'again'));
    expect(
      (await list()).map(({ content, ttl }: { content: string; ttl: number }) => [content, ttl]),
    ).toEqual([
      ['hello', 300],
      ['again', 300],
    ]);
    const [{ id }] = await list();
    await run(`lexicon powerdns update shop.net TXT --identifier '${id}' --name note --content new`);
    expect(await texts()).toEqual(['note again', 'note new']);
    await run("lexicon powerdns delete shop.net TXT --name note --content 'new'");
    await run('lexicon powerdns delete shop.net TXT --name note');
    expect(await texts()).toEqual([]);
  });
});
