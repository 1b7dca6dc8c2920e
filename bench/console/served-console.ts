// The console on an API as an operator runs it, with an account that has many domains, one of them with many records.

import { hash } from '@node-rs/argon2';
import type { Browser } from 'playwright-core';
import { generateKey } from '../../src/store/accounts/api-keys.ts';
import { ensureFirstAdmin } from '../../src/store/accounts/first-admin.ts';
import { setEmail, setPassword } from '../../src/store/people/credentials.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { openPage, type WatchedPage } from '../../test/support/browser/browser.ts';
import { builtConsole } from '../../test/support/browser/built-console.ts';
import { call } from '../api/api-under-test.ts';
import { runZonefleetApi } from '../api/zonefleet-api.ts';
import { runOn } from '../postgres/cluster.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';

const OWNER = 'owner@shop.example';
const PASSWORD = 'correct horse battery';
const PLAIN = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** More than the list shows at once. */
const DOMAINS = 60;

export const LARGE = 'large.example';

export interface ServedConsole {
  readonly url: string;
  /** Opens a page as the account's owner, who is also an admin. */
  open(browser: Browser): Promise<WatchedPage>;
  stop(): Promise<void>;
}

/** @param records number of records in the domain `LARGE` */
export async function serveConsoleWith(records: number): Promise<ServedConsole> {
  const databaseUrl = await zonefleetDatabase({ name: 'console', zones: [], records: 0 });
  await runOn(databaseUrl, 'update plans set max_records = null, max_domains = null');
  await prepareOwner(databaseUrl);
  const key = generateKey();
  const env = { CONSOLE_FILES: await builtConsole() };
  const { base, program } = await runZonefleetApi({ databaseUrl, key, cpu: undefined, env });
  const headers = { 'x-api-key': key };
  const post = (path: string, body: object) => call(base + path, { headers, method: 'POST', body });
  const names = [LARGE, ...Array.from({ length: DOMAINS }, (_, i) => `shop-${i}.example`)];
  for (const name of names) await post('/domains/', { name, scan: false });
  await post(`/domains/${LARGE}/records/import`, {
    records: Array.from({ length: records }, (_, i) => ({
      name: `host-${String(i).padStart(5, '0')}`,
      type: i % 5 === 0 ? 'TXT' : 'A',
      destination: i % 5 === 0 ? `the text of host ${i}` : `198.51.${(i >> 8) & 255}.${i & 255}`,
    })),
  });
  return {
    url: base,
    async open(browser) {
      const watched = await openPage(browser, base, {
        viewport: { width: 1280, height: 800 },
        mayFail: true, // analytics are off, and no node runs
      });
      const data = { email: OWNER, password: PASSWORD };
      const answer = await watched.context.request.post('/auth/login', { data });
      if (answer.status() !== 200) throw new Error(`no user is signed in: ${await answer.text()}`);
      // Like the browser of a person who signed in before.
      await watched.context.addInitScript("localStorage.setItem('session', '1')");
      return watched;
    },
    stop: () => program.stop(),
  };
}

/** Returns the account of the key that the API creates when it starts. */
async function prepareOwner(databaseUrl: string): Promise<void> {
  const db = openDatabase(databaseUrl);
  try {
    const id = await ensureFirstAdmin(db);
    await setPassword(db, id, await hash(PASSWORD, PLAIN));
    await setEmail(db, id, OWNER);
  } finally {
    await db.destroy();
  }
}
