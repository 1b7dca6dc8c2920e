// ddclient and inadyn with the protocol dyndns2, as documented in docs/tools.

import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../../src/store/accounts/api-keys.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { startToolFleet, type ToolFleet } from '../../support/processes/tool-fleet.ts';
import { commandIn, fileIn, runShell } from '../../support/tests/documented.ts';

interface Settings {
  readonly key: string;
  readonly host: string;
  readonly address: string;
  /** Folder of the client's cache. */
  readonly cache: string;
}

interface Client {
  readonly page: 'ddclient' | 'inadyn';
  readonly version: string;
  /** Changes the documented configuration so that the client uses HTTP and this address, which a page also prints. */
  readonly local: (config: string, from: { readonly address: string; readonly page: string }) => string;
  readonly options: (cache: string) => string;
  /** Output of the first and the second run, and of runs without a cache, with a wrong key, and for another host. */
  readonly prints: readonly [RegExp, RegExp, RegExp, RegExp, RegExp];
}

const CLIENTS: readonly Client[] = [
  {
    page: 'ddclient',
    version: '3.10',
    local: (config, { page }) => config.replace('ssl=yes', 'ssl=no').replace('web=ipify-ipv4', `web=${page}`),
    options: (cache) => `-cache ${cache}/cache -pid ${cache}/pid`,
    prints: [/good: IP address set to/, /skipped/, /nochg/, /authorization failed/, /nohost/],
  },
  {
    page: 'inadyn',
    version: '2.10',
    local: (config, { address }) =>
      `allow-ipv6 = true\n${config.replace('ddns-server', `ssl = false\n checkip-command = "echo ${address}"\n ddns-server`)}`,
    options: (cache) => `--cache-dir ${cache} --no-pidfile`,
    prints: [
      /Update forced for alias/,
      /^inadyn[^\n]*client\.\n$/,
      /Updating cache/,
      /Authentication failure/,
      /nohost/,
    ],
  },
];

describe.each(CLIENTS)('$page $version', ({ page, local, options, prints }) => {
  const needs = isInstalled(page) ? '' : ` (skipped: needs ${page})`;
  let fleet: ToolFleet;
  let key: string;

  beforeAll(async () => {
    fleet = await startToolFleet();
    key = await fleet.cli(commandIn(page, 'Create'));
  });
  afterAll(() => fleet?.stop());

  async function run({ key, host, address, cache }: Settings): Promise<string> {
    const title = `${page}.conf`;
    const path = join(fleet.folder, title);
    const server = createServer((_, response) => response.end(address));
    const port = await freePort();
    await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
    const config = local(fileIn(page, title), { address, page: `http://127.0.0.1:${port}/` })
      .replace('api.example.net', fleet.api.url.replace('http://', ''))
      .replace('svc_your_key', key)
      .replace('home.shop.example', host);
    writeFileSync(path, config, { mode: 0o600 });
    const command = commandIn(page, 'Run').replace(`/etc/${title}`, path);
    const folder = join(fleet.folder, cache);
    mkdirSync(folder, { recursive: true });
    const { text } = await runShell(`${command} ${options(folder)}`, {});
    server.close();
    return text;
  }

  it.skipIf(needs !== '').each([
    ['A', '192.0.2.1', '192.0.2.2'],
    ['AAAA', '2001:db8::1', '2001:db8::2'],
  ])(`publishes an %s record once, and each new address${needs}`, async (type, one, two) => {
    const given = { key, host: 'home.shop.example', cache: type };
    const changes = async () => (await fleet.ask('GET', '/domains/shop.example/changes')).body.length;
    expect(await run({ ...given, address: one })).toMatch(prints[0]);
    expect(await fleet.records(type)).toEqual([`home ${one}`]);
    const before = await changes();
    const again = await run({ ...given, address: one });
    expect(again).toMatch(prints[1]);
    expect(again).not.toContain('WARNING');
    expect(await run({ ...given, address: one, cache: `${type}-lost` })).toMatch(prints[2]);
    expect(await changes()).toBe(before);
    await run({ ...given, address: two, cache: `${type}-other` });
    expect(await fleet.records(type)).toEqual([`home ${two}`]);
  });

  it.skipIf(needs !== '')(`reports a wrong key, and a host that the key may not write${needs}`, async () => {
    const given = { key, host: 'home.shop.example', address: '192.0.2.9' };
    expect(await run({ ...given, key: generateKey(), cache: 'wrong' })).toMatch(prints[3]);
    expect(await run({ ...given, host: 'www.shop.example', cache: 'foreign' })).toMatch(prints[4]);
    expect((await fleet.records('A')).join()).not.toContain('192.0.2.9');
  });
});
