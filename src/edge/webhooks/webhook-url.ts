// Where a webhook may lead. Customers choose it, and workers stand inside the operator's network: only `https:` to public addresses.

import type { Network } from '../../dns/record/network.ts';
import { judgeOrigin } from '../judge-origin.ts';

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
