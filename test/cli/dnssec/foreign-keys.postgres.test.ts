// Operators can set the keys of another operator in a domain's zone, like its owner.

import { beforeAll, expect, it } from 'vitest';
import { addDnssecCommands } from '../../../src/cli/dnssec/dnssec.ts';
import { makeKey, SIGNING_ALGORITHM } from '../../../src/zone/signing/signing-key.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const keySecrets = [{ name: 'k1', secret: Buffer.alloc(32, 1) }];

const database = keptDatabase();
beforeAll(async () => {
  await newDomain(database.db, await newAccount(database.db, 'ann@example.org'));
});

const run = (...args: string[]) =>
  runCommands(addDnssecCommands, ['dnssec', ...args], database.url, { keySecrets });

function keyText(flags: number): string {
  const { dnskey } = makeKey(SIGNING_ALGORITHM.ECDSAP256SHA256, flags);
  return `${flags} 3 13 ${Buffer.from(dnskey.subarray(4)).toString('base64')}`;
}

it('shows, sets, fetches and removes the keys of another operator', async () => {
  const [entry, data] = [keyText(257), keyText(256)];
  const set = ['foreign-keys', 'example.com', '--set', entry, '--set', data];
  expect(await run(...set)).toMatchObject({ code: 1, stderr: /is not signed/ });
  expect((await run('enable', 'example.com')).code).toBe(0);
  expect((await run(...set)).stdout).toContain('changed example.com.');
  expect((await run(...set)).stdout).toContain('unchanged example.com.');
  expect((await run('foreign-keys', 'example.com')).stdout).toBe(`${entry}\n${data}\n`);
  expect((await run('foreign-keys', 'example.com', '--import')).stdout).toContain('importing example.com.');
  expect((await run('foreign-keys', 'example.com', '--none')).stdout).toContain('changed example.com.');
  expect((await run('foreign-keys', 'example.com')).stdout).toBe('');
  expect(await run('foreign-keys', 'example.com', '--set', '257 3 13 ***')).toMatchObject({ code: 2 });
  expect(await run('foreign-keys', 'example.com', '--set', `257 3 8 ${'A'.repeat(600)}`)).toMatchObject({
    code: 1,
    stderr: /its algorithm is 8/,
  });
});
