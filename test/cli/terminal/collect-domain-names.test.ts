import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectDomainNames } from '../../../src/cli/terminal/collect-domain-names.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-names-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('names keep their order and places, those given twice count once', async () => {
  const file = join(folder, 'list');
  writeFileSync(file, '\ufeff# first\nB.com # why\n\n\tbücher.de\r\na.com.\nx y\n#last');
  const found = await collectDomainNames({ names: ['a.com', '_'], file });
  expect(found.map(({ kind, text, place }) => [kind, text, place])).toEqual([
    ['wanted', 'a.com', undefined],
    ['bad', '_', undefined],
    ['wanted', 'B.com', `${file}:2`],
    ['wanted', 'bücher.de', `${file}:4`],
    ['bad', 'x y', `${file}:6`],
  ]);
  expect(found[3]).toMatchObject({ unicode: 'bücher.de' });
});

it('a folder is no list, and nothing at all is wrong usage', async () => {
  await expect(collectDomainNames({ names: [], file: folder })).rejects.toThrow('a folder, not a file');
  await expect(collectDomainNames({ names: [], file: undefined })).rejects.toThrow('--file');
});
