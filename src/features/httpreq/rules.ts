// Reads challenges, and determines the edit that adds or removes the TXT record of one.

import { createHash } from 'node:crypto';
import { labelsOf, type Name } from '../../dns/name.ts';
import { type Edit, NO_EDIT } from '../../zone/edit/edit.ts';
import { printWithoutDot, readFullName } from '../../zone/name-text.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';

interface ChallengeText {
  readonly fqdn?: string | undefined;
  readonly value?: string | undefined;
  readonly domain?: string | undefined;
  readonly keyAuth?: string | undefined;
}

interface Challenge {
  readonly name: Name;
  readonly rdata: Uint8Array;
}

type ReadChallenge =
  | { readonly kind: 'challenge'; readonly challenge: Challenge }
  | { readonly kind: 'problem'; readonly field: string; readonly message: string };

const LABEL = '_acme-challenge';
/** TTL of a new record set. An existing set keeps its TTL (RFC 2181 §5.2). */
const TTL = 60;
/** One character-string (RFC 1035 §3.3.14). An ACME client sends 43 characters. */
const VALUE = /^[\x20-\x7e]{1,255}$/;

/**
 * Reads a challenge in either mode. `keyNames` are the names to which the API key is restricted. A name that is not a challenge
 * name is accepted if it is one of them, because lego follows a CNAME at the challenge name and sends its target.
 */
export function readChallenge(body: ChallengeText, keyNames: readonly string[] | null): ReadChallenge {
  const isRaw = body.keyAuth !== undefined;
  const field = isRaw ? 'domain' : 'fqdn';
  const problem = (message: string, at: string = field) => ({ kind: 'problem', field: at, message }) as const;
  const text = isRaw ? body.domain : body.fqdn;
  if (text === undefined) return problem('is required');
  const read = readFullName(isRaw ? `${LABEL}.${text.replace(/^\*\./, '')}` : text);
  if (read.kind === 'problem') return problem(read.message);
  const { name } = read;
  if (labelsOf(name)[0] !== LABEL && !keyNames?.includes(printWithoutDot(name)))
    return problem(`expected a name that begins with ${LABEL}`);
  const value = body.keyAuth === undefined ? body.value : digestOf(body.keyAuth);
  if (value === undefined) return problem('is required', 'value');
  if (!VALUE.test(value)) return problem('expected 1 to 255 printable ASCII characters', 'value');
  const rdata = Buffer.from([value.length, ...Buffer.from(value)]);
  return { kind: 'challenge', challenge: { name, rdata } };
}

/** Returns the value of the record for a key authorization (RFC 8555 §8.4). */
function digestOf(keyAuth: string): string {
  return createHash('sha256').update(keyAuth).digest('base64url');
}

/** `held` are the current records at the name. */
export function addRecord(held: readonly CustomerRecord[], { name, rdata }: Challenge): Edit {
  const set = held.filter(({ type }) => type === 'TXT');
  if (set.some((record) => isEqual(record, rdata))) return NO_EDIT;
  const ttl = set.length === 0 ? { ttl: TTL } : {};
  return { ...NO_EDIT, creates: [{ name, type: 'TXT', rdata, ...ttl }] };
}

export function removeRecord(held: readonly CustomerRecord[], { rdata }: Challenge): Edit {
  const removed = held.filter((record) => record.type === 'TXT' && isEqual(record, rdata));
  return { ...NO_EDIT, deletes: removed.map(({ id }) => ({ id })) };
}

function isEqual(record: CustomerRecord, rdata: Uint8Array): boolean {
  return Buffer.compare(record.rdata, rdata) === 0;
}
