// Decides which URLs webhooks may call, when a call is retried, and what its body contains.

import { createHmac } from 'node:crypto';
import type { Network } from '../../dns/record/network.ts';
import { judgeOrigin } from '../../edge/judge-origin.ts';
import type { JobKind } from '../../jobs/jobs.ts';

export const WEBHOOK_EVENTS = ['test', 'outage.begun', 'outage.ended'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

interface Told {
  /** Id of the event, which is the same for all webhooks of a domain and for each attempt. */
  readonly id: string;
  readonly event: WebhookEvent;
  /** Without the final dot. */
  readonly domain: string;
  readonly at: Date;
  readonly data: object;
}

export function webhookBody({ id, event, domain, at, data }: Told): string {
  return JSON.stringify({ id, event, domain, at: at.toISOString(), data });
}

/** Signs time and body together, so that an intercepted call cannot be replayed later. */
export function signWebhook(secret: string, body: string, at: Date): string {
  const seconds = Math.floor(at.getTime() / 1000);
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${mac}`;
}

interface WebhookUrl {
  /** In the canonical form of the WHATWG URL standard. */
  readonly href: string;
  /** In lowercase without the final dot. An IPv6 address has no brackets. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

type ReadUrl = WebhookUrl | { readonly problem: string };

export const MOST_URL_CHARACTERS = 2000;
const HTTPS_PORT = 443;
/** Ports up to this one belong to well-known services, such as mail, which a request must not reach. */
const LAST_SYSTEM_PORT = 1023;

/** Validates the URL of a webhook. `allowed` are networks that may be called although they are not public. */
export function readWebhookUrl(text: string, allowed: readonly Network[]): ReadUrl {
  if (text.length > MOST_URL_CHARACTERS)
    return { problem: `must have at most ${MOST_URL_CHARACTERS} characters` };
  if (!URL.canParse(text)) return { problem: 'is not a URL' };
  const url = new URL(text);
  if (url.protocol !== 'https:') return { problem: 'must begin with https:' };
  if (url.username !== '' || url.password !== '')
    return { problem: 'must not have a user name or a password' };
  if (url.hash !== '') return { problem: 'must not have a fragment' };
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (port !== HTTPS_PORT && port <= LAST_SYSTEM_PORT)
    return { problem: `the port must be ${HTTPS_PORT} or above ${LAST_SYSTEM_PORT}` };
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (host === '' || host.length > 253) return { problem: 'has no host' };
  const problem = judgeAddress(host, allowed);
  if (problem !== undefined) return { problem };
  return { href: url.href, host, port, path: url.pathname + url.search };
}

/** Returns why an address may not be called. Undefined if it may. Names are checked by address at each call. */
export function judgeAddress(host: string, allowed: readonly Network[]): string | undefined {
  const problem = judgeOrigin(host, { allowed, edges: [] });
  return problem === undefined || problem.startsWith('this address') ? problem : 'this host is not public';
}

const FIRST_SECONDS = 30;
const LONGEST_SECONDS = 2 * 3600;
/** A delivery is given up when its event is older than this. */
const TRIED_SECONDS = 24 * 3600;

interface Tried {
  /** Number of attempts, including this one. */
  readonly attempts: number;
  /** Age of the event. */
  readonly ageSeconds: number;
}

/** Returns the time until the next attempt (30, 60, 120 … seconds), or undefined if it is given up. */
export function retrySeconds({ attempts, ageSeconds }: Tried): number | undefined {
  const seconds = Math.min(FIRST_SECONDS * 2 ** Math.min(attempts - 1, 20), LONGEST_SECONDS);
  return ageSeconds + seconds > TRIED_SECONDS ? undefined : seconds;
}

/** Calls a webhook. */
export interface WebhookJob {
  readonly deliveryId: number;
}

export const CALL_WEBHOOK: JobKind<WebhookJob> = {
  queue: 'call-webhooks',
  key: ({ deliveryId }) => `webhook:${deliveryId}`,
  connections: 2,
};
