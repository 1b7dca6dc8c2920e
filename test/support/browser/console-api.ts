// The API in a separate process with the built console, a browser, and users who sign in with it.

import { hash } from '@node-rs/argon2';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { setPassword } from '../../../src/store/people/credentials.ts';
import { createDatabase, type TestDatabase } from '../database/database.ts';
import { type ApiProcess, startApi } from '../processes/api-process.ts';
import { openBrowser, openPage, type WatchedPage } from './browser.ts';
import { builtConsole } from './built-console.ts';

export const PASSWORD = 'correct horse battery';

type PageOptions = BrowserContextOptions & { mayFail?: boolean };

interface ConsoleApi {
  readonly api: ApiProcess;
  readonly database: TestDatabase;
  /** Creates an account with `PASSWORD`. */
  makePerson(email: string, account?: { isAdmin?: boolean }): Promise<number>;
  /** Opens a page that is closed after the test. */
  open(options?: PageOptions): Promise<WatchedPage>;
  openAs(email: string, options?: PageOptions): Promise<WatchedPage>;
}

/** Starts an API and a browser before the tests of a file or `describe`, and stops them afterwards. */
export function ownConsole(env: () => Record<string, string> = () => ({})): ConsoleApi {
  let own: Awaited<ReturnType<typeof startConsole>> | undefined;
  beforeAll(async () => {
    own = await startConsole(env());
  });
  afterEach(() => own?.closePages());
  afterAll(() => own?.stop());
  return new Proxy({} as ConsoleApi, { get: (_, member) => own?.[member as keyof ConsoleApi] });
}

async function startConsole(env: Record<string, string>) {
  const folder = await builtConsole();
  const database = await createDatabase();
  const api = await startApi(database.url, { env: { CONSOLE_FILES: folder, ...env } });
  const browser = await openBrowser();
  const opened: WatchedPage[] = [];
  const open: ConsoleApi['open'] = async (options) => {
    const watched = await openPage(browser, api.url, options);
    opened.push(watched);
    return watched;
  };
  return {
    api,
    database,
    async makePerson(email: string, { isAdmin = false } = {}) {
      const created = await createAccount(database.db, { email, isAdmin });
      if (created.kind !== 'created') throw new Error(created.message);
      const { id } = created.account;
      const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
      await setPassword(database.db, id, await hash(PASSWORD, cost));
      return id;
    },
    open,
    async openAs(email: string, options?: PageOptions) {
      const watched = await open(options);
      const data = { email, password: PASSWORD };
      const answer = await watched.context.request.post('/auth/login', { data });
      if (answer.status() !== 200) throw new Error(`${email} is not signed in: ${await answer.text()}`);
      return watched;
    },
    async closePages() {
      for (const { context } of opened.splice(0)) await context.close();
    },
    async stop() {
      await browser.close();
      await api.stop();
      await database.drop();
    },
  };
}
