// lego with its provider `httpreq` and pebble, as documented in docs/tools/lego.md. pebble queries a node immediately after the
// API responds.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../../src/store/accounts/api-keys.ts';
import { LEGO_NEEDS, legoNames, runLego } from '../../support/certificates/lego.ts';
import { type Pebble, startPebble } from '../../support/certificates/pebble.ts';
import { startToolFleet, type ToolFleet } from '../../support/processes/tool-fleet.ts';
import { commandIn, fileIn } from '../../support/tests/documented.ts';

describe.skipIf(LEGO_NEEDS !== '')(`lego 4.9 with httpreq${LEGO_NEEDS}`, () => {
  let fleet: ToolFleet;
  let pebble: Pebble;
  let key: string;
  let dns: string;

  beforeAll(async () => {
    fleet = await startToolFleet(['one', 'two']);
    const [{ address = '', port = 0 } = {}] = fleet.nodes.map((node) => node.address);
    dns = `${address}:${port}`;
    pebble = await startPebble(dns, { reusesAuthorizations: false });
    key = await fleet.cli(commandIn('lego', 'Create'));
    for (const record of [
      { name: '_acme-challenge', type: 'TXT', destination: 'of another client' },
      { name: '_acme-challenge.cdn', type: 'CNAME', destination: 'cdn.acme.shop.example' },
    ])
      expect((await fleet.ask('POST', '/domains/shop.example/records/', record)).status).toBe(200);
  });
  afterAll(async () => {
    await pebble?.stop();
    await fleet?.stop();
  });

  const run = (command: string, env: Record<string, string> = {}) => {
    const config = fileIn('lego', 'lego.env').replace('https://api.example.net', fleet.api.url);
    const line = `${config.replace('svc_your_key', env.KEY ?? key)}${command}`;
    return runLego(line, { pebble, dns, folder: fleet.folder, env });
  };
  const of = (...names: string[]) =>
    `lego --accept-tos --email ann@shop.example --dns httpreq ${names.map((name) => `--domains '${name}'`).join(' ')} run`;

  it.each([
    {},
    { HTTPREQ_MODE: 'RAW' },
  ])('issues and renews a certificate for a name and its wildcard %j', async (env) => {
    const command = commandIn('lego', 'Run');
    const { code, text } = await run(command, env);
    expect([code, text]).toEqual([0, expect.stringContaining('Server responded with a certificate.')]);
    const renewed = await run(command.replace(/run$/, 'renew --days 10000 --no-random-sleep'), env);
    expect([renewed.code, renewed.text]).toEqual([
      0,
      expect.stringContaining('Server responded with a certificate.'),
    ]);
    expect(legoNames(fleet.folder, 'shop.example')).toEqual(['DNS:*.shop.example', 'DNS:shop.example']);
    expect(await fleet.records('TXT')).toEqual(['_acme-challenge of another client']);
  });

  it('writes at the target of a CNAME with a key that is restricted to it', async () => {
    const options = '--domains shop.example --names cdn.acme.shop.example --types TXT';
    const KEY = await fleet.cli(`npx zonefleet key create ann@shop.example ${options}`);
    const { code, text } = await run(of('cdn.shop.example'), { KEY });
    expect([code, text]).toEqual([0, expect.stringContaining('Server responded with a certificate.')]);
  });

  it.each([
    [
      'a key for another name',
      'www.shop.example',
      {},
      '403: request failed: this API key may not write records at that name',
    ],
    [
      'a wrong key',
      'shop.example',
      { KEY: generateKey() },
      '401: request failed: a valid API key is required',
    ],
    [
      'the name of another account',
      'other.example',
      {},
      '404: request failed: no domain of this API key contains _acme-challenge.other.example',
    ],
  ])('prints the reason if it has %s', async (_, name, env, reason) => {
    const { code, text } = await run(of(name), env);
    expect([code, text]).toEqual([1, expect.stringContaining(reason)]);
    expect(await fleet.records('TXT')).toEqual(['_acme-challenge of another client']);
  });
});
