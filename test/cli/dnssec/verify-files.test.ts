import { afterEach, beforeEach, expect, it } from 'vitest';
import { verifyFiles } from '../../../src/cli/dnssec/verify-files.ts';
import { signZoneText } from '../../support/dnssec/sign-zone-text.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import { captureOutput } from '../../support/tests/captured-output.ts';
import { makeZoneFolder, smallZone, type ZoneFolder } from '../../support/zone/zone-folder.ts';

const NOW = 1_800_000_000;
const DAY = 86_400;
const key = makeKey(13);
const ZONE = {
  apex: 'signed.example.',
  text: 'signed.example. 60 SOA ns h 1 2 3 4 5\nsigned.example. 60 NS ns.signed.example.\nns.signed.example. 60 A 192.0.2.1',
};
const signed = signZoneText(ZONE, key, { inception: NOW - DAY, expiration: NOW + DAY }).text;

let folder: ZoneFolder;
beforeEach(() => {
  folder = makeZoneFolder();
});
afterEach(() => folder.remove());

async function verify(paths = [folder.path], { at = NOW, json = false } = {}) {
  const captured = captureOutput(json);
  const order = { paths, at, signal: new AbortController().signal };
  const code = await verifyFiles(order, captured.output);
  return { code, out: captured.out, err: captured.err };
}

it('prints for each file whether it verifies, with NSEC or NSEC3', async () => {
  const other = { ...ZONE, apex: 'hashed.example.', text: ZONE.text.replaceAll('signed.', 'hashed.') };
  const time = { inception: NOW - DAY, expiration: NOW + DAY };
  const denial = { kind: 'nsec3', iterations: 0, salt: new Uint8Array(), optOut: false } as const;
  folder.write('a.zone', signed);
  folder.write('b.zone', signZoneText(other, key, time, denial).text);
  expect(await verify()).toEqual({
    code: 0,
    out: 'verified signed.example.\nverified hashed.example.\n',
    err: '',
  });
});

it.each([
  ['a changed record', (text: string) => text.replace('192.0.2.1', '192.0.2.2'), / A: .*signature/],
  ['an unsigned record', (text: string) => `${text}\nsigned.example. 60 TXT "x"`, /TXT has no signature/],
  ['a missing denial', (text: string) => text.replace(/^ns\S+ \d+ NSEC .*$/m, ''), /ns\.signed\.example\./],
  [
    'a signature without a record set',
    (text: string) => text.replace(/^ns\S+ \d+ A .*$/m, ''),
    /RRSIG covers a record set that does not exist/,
  ],
  ['no signature at all', () => smallZone('signed.example.'), /is not signed/],
])('reports %s', async (_, change, fault) => {
  folder.write('a.zone', change(signed));
  const { code, out, err } = await verify();
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(fault);
});

it('reports expired signatures', async () => {
  folder.write('a.zone', signed);
  const { code, err } = await verify(undefined, { at: NOW + 2 * DAY });
  expect(code).toBe(1);
  expect(err).toMatch(/a\.zone: .*expired/);
});

it('reports invalid lines and missing files, as text and as JSON', async () => {
  folder.write('a.zone', `${signed}\nx.signed.example. 60 A 192.0.2\n`);
  const { code, err } = await verify([folder.path, `${folder.path}/none.zone`]);
  expect(code).toBe(1);
  expect(err).toMatch(/a\.zone:\d+:\d+: /);
  expect(err).toMatch(/none\.zone: no such file/);
  folder.write('a.zone', signed.replace('192.0.2.1', '192.0.2.2'));
  const again = await verify(undefined, { json: true });
  expect(again.code).toBe(1);
  expect(JSON.parse(again.out).files).toEqual([
    expect.objectContaining({ zone: 'signed.example.', outcome: 'faulty', faults: [expect.any(String)] }),
  ]);
});
