// Decides what webhooks may call, when a call is tried again and what its body says.

import { createHmac } from 'node:crypto';
import type { Network } from '../../dns/record/network.ts';
import { judgeOrigin } from '../../edge/judge-origin.ts';
import type { JobKind } from '../../jobs/jobs.ts';

export const WEBHOOK_EVENTS = ['test', 'outage.begun', 'outage.ended'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

interface Told {
  /** Of the event: the same for all webhooks of a domain, and for each try. */
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

/** Time and body are signed together, so that a call that somebody caught is of no use later. */
export function signWebhook(secret: string, body: string, at: Date): string {
  const seconds = Math.floor(at.getTime() / 1000);
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${mac}`;
}

interface WebhookUrl {
  /** As it is kept and called: in the canonical form of the WHATWG. */
  readonly href: string;
  /** In lower case without the final dot; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

type ReadUrl = WebhookUrl | { readonly problem: string };

export const MOST_URL_CHARACTERS = 2000;
const HTTPS_PORT = 443;
/** Ports up to this one are those of well-known services, such as mail, which a request must not reach. */
const LAST_SYSTEM_PORT = 1023;

/** `allowed`: networks that may be called although they are not public. */
export function readWebhookUrl(text: string, allowed: readonly Network[]): ReadUrl {
  if (text.length > MOST_URL_CHARACTERS) return { problem: `has at most ${MOST_URL_CHARACTERS} characters` };
  if (!URL.canParse(text)) return { problem: 'is no URL' };
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

/** Why an address is not called; undefined: it is. Names are judged by the addresses that they lead to, when they are called. */
export function judgeAddress(host: string, allowed: readonly Network[]): string | undefined {
  const problem = judgeOrigin(host, { allowed, edges: [] });
  return problem === undefined || problem.startsWith('this address') ? problem : 'this host is not public';
}

const FIRST_SECONDS = 30;
const LONGEST_SECONDS = 2 * 3600;
/** A call is given up when its event is older than this. */
const TRIED_SECONDS = 24 * 3600;

interface Tried {
  /** How many times, this one included. */
  readonly attempts: number;
  /** How long ago the event was. */
  readonly ageSeconds: number;
}

/** The seconds until the next try: 30, 60, 120 … two hours; undefined: it is given up. */
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
