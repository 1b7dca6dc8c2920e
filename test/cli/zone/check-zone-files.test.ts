import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkZoneFiles } from '../../../src/cli/zone/check-zone-files.ts';
import { signZoneText } from '../../support/dnssec/sign-zone-text.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import { captureOutput } from '../../support/tests/captured-output.ts';
import { makeZoneFolder, smallZone, type ZoneFolder } from '../../support/zone/zone-folder.ts';

let folder: ZoneFolder;

beforeAll(() => {
  folder = makeZoneFolder();
});
afterAll(() => folder.remove());

const NOW = 1_800_000_000;

async function check(json: boolean) {
  const captured = captureOutput(json);
  const { signal } = new AbortController();
  const order = { paths: [folder.path], origin: undefined, at: NOW, signal };
  const code = await checkZoneFiles(order, captured.output);
  return { code, out: captured.out, err: captured.err };
}

it('good files are said to be good', async () => {
  folder.write('a.zone', smallZone('a.example.'));
  expect(await check(false)).toEqual({
    code: 0,
    out: 'good a.example. records 3\nfiles 1 good 1 records 3 refused 0\n',
    err: '',
  });
});

it('a bad file makes the answer no, with its problems', async () => {
  const bad = folder.write('b.zone', smallZone('b.example.', 'x A nowhere\n'));
  const text = await check(false);
  expect(text).toMatchObject({ code: 1, err: expect.stringContaining(`${bad}:6:5: address: `) });
  const { code, out } = await check(true);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    files: [
      { file: bad, outcome: 'refused', problems: [{ line: 6, column: 5 }] },
      { outcome: 'good', zone: 'a.example.', records: 3 },
    ],
    summary: { files: 2, good: 1, refused: 1, records: 3, complete: true },
  });
});

it('a signed file is good, and what is doubtful about it is told as warnings', async () => {
  const key = makeKey(13);
  const time = { inception: NOW - 1000, expiration: NOW + 3600 };
  const zone = {
    apex: 'signed.example.',
    text: 'signed.example. 60 SOA ns h 1 2 3 4 5\nsigned.example. 60 NS ns.signed.example.',
  };
  folder.write('b.zone', signZoneText(zone, key, time).text);
  const people = await check(false);
  expect(people.code).toBe(0);
  expect(people.out).toMatch(/^good signed\.example\. records 8$/m);
  expect(people.err.split('\n')[0]).toMatch(
    /b\.zone:\d+:1: warning: signed\.example\. SOA: a signature ends in 1 hours$/,
  );
  const { files } = JSON.parse((await check(true)).out);
  const [first] = files.find(({ zone }: { zone: string }) => zone === 'signed.example.').warnings;
  expect(first).toEqual({
    file: expect.stringMatching(/b\.zone$/),
    line: expect.any(Number),
    column: 1,
    code: 'EXPIRES_SOON',
    message: 'signed.example. SOA: a signature ends in 1 hours',
  });
});
