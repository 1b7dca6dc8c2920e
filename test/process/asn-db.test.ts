import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openAsnDb } from '../../src/process/asn-db.ts';

test('a file that cannot be read or has a bad line names the setting; without one nothing is known', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'zonefleet-asn-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'asn.txt');
  await expect(openAsnDb(path)).rejects.toThrow(/^ASN_DB: .*asn\.txt cannot be read: ENOENT/);
  await writeFile(path, 'x\n');
  await expect(openAsnDb(path)).rejects.toThrow(/^ASN_DB: .*line 1: "x"/);
  await writeFile(path, '5.0.0.0/8 64500\n');
  expect((await openAsnDb(path))?.('5.1.1.1')).toBe(64500);
  expect(await openAsnDb(undefined)).toBeUndefined();
});
