// Where the demo may run: without conflicting settings, and on a database without domains that may be real.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { judgeDemoSettings, openDemo } from '../../src/start/keep-demo.ts';
import { createDomain, deleteDomain } from '../../src/store/change/save-domain.ts';
import { findRealDomains, loadDemoState } from '../../src/store/migrate/demo-state.ts';
import { newAccount, wantedDomain } from '../support/database/domains.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';

const FORBIDDEN = 'ROOT_HINTS DNS_PORT_OUT RESOLVER_ALLOW NAMESERVER_SETS NAMESERVER_POOL TRUST_ANCHORS';
it.each(FORBIDDEN.split(' '))('--demo rejects %s, which would point to other servers', (name) => {
  expect(() => judgeDemoSettings({ [name]: 'x' })).toThrow(`--demo: expected ${name} to be unset`);
  judgeDemoSettings({ [name]: ' ', DATA_DIR: 'x', DNS_LISTEN: 'x' });
});

describe('the database of the demo', () => {
  const database = sharedDatabase();

  it('is rejected if it has domains that may be real, which are listed, and nothing is written', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'zf-demo-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const accountId = await newAccount(database.db, 'a@example.org');
    for (const name of ['shop.example.com.', 'real.dev.', 'nottest.', 'a.latest.'])
      await createDomain(database.db, wantedDomain(accountId, name));
    const options = {
      url: database.url,
      keySecrets: [],
      dataDirectory: directory,
      user: undefined,
      env: {},
      log,
    };
    const open = () => openDemo(options);
    await expect(open()).rejects.toThrow(
      /--demo: .*\(a\.latest, nottest, real\.dev\).*would treat them as lost/,
    );
    expect(await loadDemoState(database.db)).toEqual({ done: [] });
  });

  it('may have deleted domains', async () => {
    const accountId = await newAccount(database.db, 'a@example.org');
    const created = await createDomain(database.db, wantedDomain(accountId, 'real.dev.'));
    if (created.kind !== 'created') throw new Error(created.kind);
    expect(await findRealDomains(database.db, 2)).toEqual(['real.dev.']);
    await deleteDomain(database.db, { domainId: created.domain.id, by: { kind: 'cli' }, source: 'test' });
    expect(await findRealDomains(database.db, 2)).toEqual([]);
  });
});
