import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkZoneFiles } from '../../../src/cli/zone/check-zone-files.ts';
import { captureOutput } from '../../support/tests/captured-output.ts';
import { makeZoneFolder, smallZone, type ZoneFolder } from '../../support/zone/zone-folder.ts';

let folder: ZoneFolder;

beforeAll(() => {
  folder = makeZoneFolder();
});
afterAll(() => folder.remove());

async function check(json: boolean) {
  const captured = captureOutput(json);
  const order = { paths: [folder.path], origin: undefined, signal: new AbortController().signal };
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
