// The challenge that visitors solve, and the cookie that shows they have: signed, for one client and one host.

import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { Answer, Visit } from '../proxy/visit.ts';

export const CHALLENGE_PATH = '/.edge/challenge';
const COOKIE = 'edge_pass';
const SOLVE_MS = 300_000;

export class Challenges {
  readonly #now: () => number;
  readonly #secret = randomBytes(32);

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the visitor has solved one and it still counts. */
  hasPassed({ headers, client, host }: Visit): boolean {
    const cookie = (headers.cookie ?? '').split(/;\s*/).find((each) => each.startsWith(`${COOKIE}=`));
    const [, until, mac] = /^(\d+)\.([\w-]+)$/.exec(cookie?.slice(COOKIE.length + 1) ?? '') ?? [];
    if (until === undefined || mac === undefined || Number(until) <= this.#now()) return false;
    return isSame(mac, this.#sign('pass', client, host, until));
  }

  /** The page; a script finds `answer` out by itself, a person types what the image shows. */
  page(mode: 'js' | 'image', validSeconds: number, { client, host, path, query }: Visit): Answer {
    const nonce = mode === 'js' ? randomBytes(8).toString('hex') : String(randomInt(100_000, 1_000_000));
    const wanted = mode === 'js' ? createHash('sha256').update(nonce).digest('hex') : nonce;
    const until = String(this.#now() + SOLVE_MS);
    const token = [
      until,
      validSeconds,
      this.#sign('ask', client, host, until, `${validSeconds}`, wanted),
    ].join('.');
    const to = encodeURIComponent(query === '' ? path : `${path}?${query}`);
    const form = `<form action="${CHALLENGE_PATH}"><input name="token" value="${token}"><input name="to" value="${to}">`;
    const task =
      mode === 'js'
        ? `<script data-nonce="${nonce}"></script>`
        : `<svg role="img"><text>${nonce}</text></svg>`;
    return {
      status: 403,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-challenge': mode,
      },
      body: `<!doctype html><title>One moment</title>${task}${form}<input name="answer"></form>\n`,
    };
  }

  /** Undefined: not solved, or too late. */
  solve({ client, host, query }: Visit): Answer | undefined {
    const given = new URLSearchParams(query);
    const [until = '', validSeconds = '', mac = ''] = (given.get('token') ?? '').split('.');
    if (!(Number(until) > this.#now())) return undefined;
    if (!isSame(mac, this.#sign('ask', client, host, until, validSeconds, given.get('answer') ?? '')))
      return undefined;
    const passed = String(this.#now() + Number(validSeconds) * 1_000);
    const value = `${passed}.${this.#sign('pass', client, host, passed)}`;
    // A path of this host only: `//elsewhere` would lead away from it.
    const to = decodeURIComponent(given.get('to') ?? '/').replace(/^[/\\]*/, '/');
    return {
      status: 303,
      headers: {
        location: to,
        'set-cookie': `${COOKIE}=${value}; Path=/; HttpOnly; Max-Age=${validSeconds}`,
      },
      body: '',
    };
  }

  #sign(...parts: readonly string[]): string {
    return createHmac('sha256', this.#secret).update(JSON.stringify(parts)).digest('base64url');
  }
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
