// People of a test API: accounts with passwords, browsers with cookies, programs with tokens, authenticator apps.

import { createHmac } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { setPassword } from '../../../src/store/people/credentials.ts';
import { type Answer, PUBLIC_URL, type TestAccount, type TestApi } from './api.ts';

export const PASSWORD = 'correct horse battery';

export async function givePassword(api: TestApi, account: TestAccount, password = PASSWORD): Promise<void> {
  // The hash determines the cost of verifying it. The lowest cost keeps tests that sign in fast.
  const options = { memoryCost: 8, timeCost: 1, parallelism: 1 };
  await setPassword(api.db, api.accountIds[account], await hash(password, options));
}

export const emailOf = (account: TestAccount) => `${account}@zonefleet.test`;

/** Client address, sent by a proxy that the API must trust. */
let hosts = 0;
export const anotherAddress = () => `10.1.${++hosts >> 8}.${hosts & 255}`;

/** Keeps cookies, and sends its own origin with writes, as browsers do. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly address = anotherAddress();
  readonly #api: Pick<TestApi, 'ask'>;
  readonly #origin: string;

  constructor(api: Pick<TestApi, 'ask'>, origin = PUBLIC_URL) {
    this.#api = api;
    this.#origin = origin;
  }

  async ask(
    method: string,
    url: string,
    body?: object,
    {
      origin = this.#origin,
      headers = {},
    }: { origin?: string | null; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await this.#api.ask(method, url, {
      as: null,
      ...(body !== undefined && { body }),
      headers: {
        'x-forwarded-for': this.address,
        'user-agent': 'a browser',
        ...(cookie !== '' && { cookie }),
        ...(origin !== null && method !== 'GET' && { origin }),
        ...headers,
      },
    });
    for (const set of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(set) ?? [];
      if (/Max-Age=0\b/.test(rest)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  async login(account: TestAccount, more: object = {}): Promise<Answer> {
    return await this.ask('POST', '/auth/login', { email: emailOf(account), password: PASSWORD, ...more });
  }
}

/** Sets a password for the account, and signs in with it. */
export async function signIn(api: TestApi, account: TestAccount): Promise<Browser> {
  await givePassword(api, account);
  const browser = new Browser(api);
  await browser.login(account);
  return browser;
}

/** RFC 6238, implemented independently of the tested code. */
export function appCode(base32Secret: string, atMs = Date.now(), steps = 0): string {
  let bits = '';
  for (const letter of base32Secret)
    bits += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0');
  const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)));
  const counter = Buffer.alloc(8);
  counter.writeUInt32BE(Math.floor(atMs / 30_000) + steps, 4);
  const mac = createHmac('sha1', secret).update(counter).digest();
  const at = (mac.at(-1) as number) & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
