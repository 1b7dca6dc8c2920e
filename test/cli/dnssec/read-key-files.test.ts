import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readKeyFiles } from '../../../src/cli/dnssec/read-key-files.ts';
import { parseName } from '../../../src/dns/name.ts';
import { readPrivateKeys } from '../../../src/zone/signing/private-key.ts';

const APEX = parseName('move.zz.');
/** Created by dnssec-keygen (BIND 9.18). */
const BIND = {
  'Kmove.zz.+013+16805.private': `Private-key-format: v1.3
Algorithm: 13 (ECDSAP256SHA256)
PrivateKey: LHMrfhB5DDTxFUxaF110OVCjOaly2mDFmwr0GbSy0KA=
Created: 20261129160954
`,
  'Kmove.zz.+013+16805.key': `; This is a key-signing key, keyid 16805, for move.zz.
; Created: 20261129160954 (Sun Nov 29 16:09:54 2026)
move.zz. 3600 IN DNSKEY 257 3 13 U+hmHEsKQYxzwGA9pYjT4njDyyvrLQvr2ykVNoaHd/vIYnFP+TUu2W/w o/ow0+GjO2itvJE8VLLrbbcp7s2XCg==
`,
  'Kmove.zz.+013+16805.state': 'Algorithm: 13\n',
  'Kmove.zz.+013+48079.private': `Private-key-format: v1.3
Algorithm: 13 (ECDSAP256SHA256)
PrivateKey: aS4IqBtoMy9mlH+iTY31TOgiyxKZH/NVU7EEoic0LCU=
`,
  'Kmove.zz.+013+48079.key': `move.zz. IN DNSKEY 256 3 13 tDkEhEnS6I/1zLIcOJQp2kTtmFS/BqI+P+CljHqwx6yxn2n6PD4OVmRW c/kO0TPScWaZTlMaZv2vZktpJAL3OA==
`,
};
/** GET /api/v1/servers/localhost/zones/move.zz./cryptokeys/1 of PowerDNS 4.7. */
const POWERDNS = JSON.stringify({
  active: true,
  algorithm: 'ECDSAP256SHA256',
  bits: 256,
  dnskey: '257 3 13 KY2yWnUrNsvawE7i6ebQV2ny6Qyq5y+6msmLQaRckYFmeJN39Rd+7OpWkcbri6wLF/CUr2FP4uwqkZzHC5Cw8g==',
  flags: 257,
  id: 1,
  keytype: 'csk',
  privatekey:
    'Private-key-format: v1.2\nAlgorithm: 13 (ECDSAP256SHA256)\nPrivateKey: eSt0HzJzxvNGhqocIeXNjnR+dglMByz7FmeCPxCt1rY=\n',
  published: true,
  type: 'Cryptokey',
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): string[] {
  return Object.entries(files).map(([name, text]) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  });
}

const read = async (paths: readonly string[], flags: number[] = [], apex = APEX) =>
  readPrivateKeys(await readKeyFiles(paths, apex, { flags, algorithm: undefined }));
const keys = (...tags: number[]) => ({ kind: 'keys', keys: tags.map((tag) => ({ tag })) });

it('files of BIND become one key per private part, with the flags of its record', async () => {
  const paths = write(BIND);
  expect(await read(paths)).toMatchObject(keys(16805, 48079));
  expect(await read([paths[3] as string, paths[0] as string])).toMatchObject(keys(48079, 16805));
});

it('JSON of PowerDNS has flags', async () => {
  expect(await read(write({ 'key.json': POWERDNS }))).toMatchObject(keys(61369));
});

it('a byte order mark is ignored in each kind of file', async () => {
  const marked = Object.entries({ ...BIND, 'key.json': POWERDNS }).map(([name, text]) => [
    name,
    `\ufeff${text}`,
  ]);
  const paths = write(Object.fromEntries(marked));
  expect(await read(paths.slice(0, 2))).toMatchObject(keys(16805));
  expect(await read(paths.slice(-1))).toMatchObject(keys(61369));
});

it('a file named .key may have a private key', async () => {
  const text = BIND['Kmove.zz.+013+16805.private'];
  expect(await read(write({ 'zone.key': text }), [257])).toMatchObject(keys(16805));
});

it('a file without flags uses the option', async () => {
  const [ksk, zsk] = [BIND['Kmove.zz.+013+16805.private'], BIND['Kmove.zz.+013+48079.private']];
  const paths = write({ ksk, zsk });
  expect(await read(paths, [257, 256])).toMatchObject(keys(16805, 48079));
  expect(await read(paths.slice(0, 1), [257])).toMatchObject(keys(16805));
  await expect(read(paths)).rejects.toThrow(/ksk: the flags of the key are unknown: give --flags 257/);
  await expect(read(paths, [257, 256, 256])).rejects.toThrow(/--flags once/);
});

it.each<[string, Record<string, string>, RegExp]>([
  ['JSON without the private part', { 'k.json': '{"id": 1, "secret": "LHMrfhB5"}' }, /no "privatekey"/],
  ['text that begins like JSON', { 'k.json': '{LHMrfhB5' }, /is not valid JSON/],
  [
    'a .key without its .private',
    { 'K.key': BIND['Kmove.zz.+013+16805.key'] },
    /K\.key: this file does not contain the private key: give .*K\.private$/,
  ],
  ['a file that is too large', { k: 'x'.repeat(70_000) }, /too large/],
  [
    'a record of another zone',
    {
      'K.private': BIND['Kmove.zz.+013+16805.private'],
      'K.key': BIND['Kmove.zz.+013+16805.key'].replace(/^move/m, 'shop'),
    },
    /belongs to another zone/,
  ],
  [
    'a .key without a record',
    { 'K.private': BIND['Kmove.zz.+013+16805.private'], 'K.key': '; nothing\n' },
    /no DNSKEY record/,
  ],
])('%s is rejected, and the error does not repeat it', async (_, files, message) => {
  const reading = read(write(files).slice(0, 1), [257]);
  await expect(reading).rejects.toThrow(message);
  await expect(reading).rejects.not.toThrow(/LHMrfhB5/);
});

it('a record of another key is rejected', async () => {
  const paths = write({
    'K.private': BIND['Kmove.zz.+013+48079.private'],
    'K.key': BIND['Kmove.zz.+013+16805.key'],
  });
  expect(await read(paths)).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('does not belong'),
  });
});
