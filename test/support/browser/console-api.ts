// The API in a process of its own with the built console, and people who sign in with a browser.

import { hash } from '@node-rs/argon2';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { setPassword } from '../../../src/store/people/credentials.ts';
import { createDatabase, type TestDatabase } from '../database/database.ts';
import { type ApiProcess, startApi } from '../processes/api-process.ts';
import { openPage, type WatchedPage } from './browser.ts';
import { builtConsole } from './built-console.ts';

export const PASSWORD = 'correct horse battery';

export interface ConsoleApi {
  readonly api: ApiProcess;
  readonly database: TestDatabase;
  /** Makes an account with `PASSWORD`. */
  makePerson(email: string, account?: { isAdmin?: boolean }): Promise<number>;
  /** A page of who is signed in. */
  openAs(
    browser: Browser,
    email: string,
    options?: BrowserContextOptions & { mayFail?: boolean },
  ): Promise<WatchedPage>;
  stop(): Promise<void>;
}

export async function startConsoleApi(env: Record<string, string> = {}): Promise<ConsoleApi> {
  const folder = await builtConsole();
  const database = await createDatabase();
  const api = await startApi(database.url, { env: { CONSOLE_FILES: folder, ...env } });
  return {
    api,
    database,
    async makePerson(email, { isAdmin = false } = {}) {
      const created = await createAccount(database.db, { email, isAdmin });
      if (created.kind !== 'created') throw new Error(created.message);
      const id = created.account.id;
      await setPassword(
        database.db,
        id,
        await hash(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }),
      );
      return id;
    },
    async openAs(browser, email, options = {}) {
      const watched = await openPage(browser, api.url, options);
      const answer = await watched.context.request.post('/auth/login', {
        data: { email, password: PASSWORD },
      });
      if (answer.status() !== 200) throw new Error(`${email} is not signed in: ${await answer.text()}`);
      return watched;
    },
    async stop() {
      await api.stop();
      await database.drop();
    },
  };
}
