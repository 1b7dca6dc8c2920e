// What an authority answers, before anything is done with it: an authority that is broken, or somebody else in its place, may answer
// anything.

import type { Authorization, Order } from 'acme-client';
import { CaFault } from './ca-fault.ts';

const STATUSES = ['pending', 'ready', 'processing', 'valid', 'invalid'];
/** More names no order of ours has. */
const MOST_NAMES = 100;
const MOST_CHARACTERS = 512;

export function isDirectory(answer: unknown): boolean {
  const { newNonce, newAccount, newOrder } = membersOf(answer);
  return [newNonce, newAccount, newOrder].every(isText);
}

/** RFC 8555 §7.1.3. Throws CaFault. */
export function judgeOrder(answer: Order): Order {
  const { status, identifiers, url } = membersOf(answer);
  const isNamed =
    Array.isArray(identifiers) &&
    identifiers.length <= MOST_NAMES &&
    identifiers.every((one) => isText(membersOf(one).value));
  if (STATUSES.includes(status as string) && isNamed && isText(url)) return answer;
  throw new CaFault('busy', 'it answered what is no order');
}

/** Their URLs. Throws CaFault. */
export function judgeAuthorizations({ authorizations }: Order): readonly string[] {
  const urls: unknown = authorizations;
  if (Array.isArray(urls) && urls.length <= MOST_NAMES && urls.every(isText)) return urls;
  throw new CaFault('busy', 'its order has no authorizations');
}

/** RFC 8555 §7.1.4. Throws CaFault. */
export function judgeAuthorization(answer: Authorization): Authorization {
  const { identifier, challenges } = membersOf(answer);
  const isProvable = Array.isArray(challenges) && challenges.every(isChallenge);
  if (isText(membersOf(identifier).value) && isProvable) return answer;
  throw new CaFault('busy', 'it answered what is no authorization');
}

/** A token is base64url, of 128 bits at least (§8.1): it becomes part of a path that edges answer. */
function isChallenge(challenge: unknown): boolean {
  const { type, url, token } = membersOf(challenge);
  if (type !== 'dns-01' && type !== 'http-01') return true; // never used
  return isText(url) && typeof token === 'string' && /^[A-Za-z0-9_-]{16,256}$/.test(token);
}

function membersOf(answer: unknown): Record<string, unknown> {
  return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MOST_CHARACTERS;
}
