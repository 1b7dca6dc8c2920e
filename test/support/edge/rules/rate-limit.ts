// Counts requests in windows, a window for each key; above the limit a visitor is refused, challenged or slowed down.

import { type Deed, plainAnswer, type RuleOf, type Visit } from '../proxy/visit.ts';

interface Window {
  endsAt: number;
  count: number;
  blockedUntil: number;
}

/** As many keys as one client could make up are forgotten, the oldest first. */
const MAX_KEYS = 10_000;
const CHALLENGE_SECONDS = 300;

export class RateLimits {
  readonly #now: () => number;
  readonly #windows = new Map<string, Window>();

  constructor(now: () => number) {
    this.#now = now;
  }

  judge(rule: RuleOf<'rate_limit'>, visit: Visit): Deed | undefined {
    const now = this.#now();
    const window = this.#windowOf(`${rule.id} ${keyOf(rule, visit)}`, now);
    if (now >= window.endsAt) {
      window.endsAt = now + rule.period_seconds * 1_000;
      window.count = 0;
    }
    if (now < window.blockedUntil) return refusal(window.blockedUntil - now);
    window.count++;
    if (window.count <= rule.requests) return undefined;
    if (rule.action === 'captcha') {
      return { kind: 'challenge', mode: 'js', validSeconds: Math.max(rule.block_seconds, CHALLENGE_SECONDS) };
    }
    if (rule.action === 'delay') return { kind: 'delay', ms: window.endsAt - now };
    window.blockedUntil = Math.max(window.endsAt, now + rule.block_seconds * 1_000);
    return refusal(window.blockedUntil - now);
  }

  #windowOf(key: string, now: number): Window {
    const window = this.#windows.get(key) ?? { endsAt: now, count: 0, blockedUntil: 0 };
    this.#windows.delete(key); // the newest stands last
    this.#windows.set(key, window);
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= MAX_KEYS) break;
      this.#windows.delete(oldest);
    }
    return window;
  }
}

function keyOf(rule: RuleOf<'rate_limit'>, { client, plainPath, headers }: Visit): string {
  if (rule.key === 'ip_path') return `${client} ${plainPath}`;
  if (rule.key === 'header') return `${headers[rule.header?.toLowerCase() ?? ''] ?? ''}`;
  return client;
}

function refusal(ms: number): Deed {
  const answer = plainAnswer(429, 'Too Many Requests');
  answer.headers['retry-after'] = String(Math.ceil(ms / 1_000));
  return { kind: 'answer', answer };
}
