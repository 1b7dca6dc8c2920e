// One request as the rules see it, and the ways in which it can be answered.

import type { IncomingHttpHeaders } from 'node:http';
import type { EdgeConfig, EdgeHost, EdgeOrigin } from '../../../../src/edge/edge-config.ts';
import type { EdgeRule } from '../../../../src/edge/edge-rule.ts';

export interface Visit {
  readonly config: EdgeConfig;
  /** The proxied name. */
  readonly place: EdgeHost;
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly method: string;
  /** As it came, still percent-encoded. */
  readonly path: string;
  /** Decoded, dot segments resolved: what rules are matched with, so that `/%61dmin` is `/admin`. */
  readonly plainPath: string;
  /** Without `?`. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly client: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer | string;
}

export type RuleOf<T extends EdgeRule['type']> = Extract<EdgeRule, { readonly type: T }>;

/** Where the request goes when no rule has answered it. */
export interface Target extends Pick<EdgeOrigin, 'destination' | 'scheme' | 'port' | 'host_header'> {
  readonly timeoutMs: number;
}

/** What the proxy tells of one request. */
export interface Seen {
  /** When it came. */
  readonly atMs: number;
  readonly host: string;
  readonly method: string;
  readonly uri: string;
  readonly client: string;
  status: number;
  /** Of the rule that acted. */
  rule?: number;
  cache?: 'hit' | 'miss' | 'bypass';
  /** Why no origin has answered. */
  reason?: string;
  /** The address that has answered. */
  origin?: string;
}

export function plainAnswer(status: number, text: string): Answer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
}
