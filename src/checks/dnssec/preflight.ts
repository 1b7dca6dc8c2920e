// Checks, before the DS is published, if a domain would validate with one of our keys: verifies with that key what each
// address of its nameservers answers to a few queries.

import { DIGEST, dsDigest } from '../../dns/dnssec/ds-digest.ts';
import { keyTag } from '../../dns/dnssec/key-tag.ts';
import type { Message } from '../../dns/message/message.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { ValidationBudget } from '../validation/budget.ts';
import { type SignedSet, setAt } from '../validation/signed-sets.ts';
import { validateAnswer } from '../validation/validate-answer.ts';
import { validateKeys } from '../validation/zone-keys.ts';

/** One of our keys. */
export interface PreflightKey {
  readonly id: string;
  /** Rdata of its DNSKEY record. */
  readonly dnskey: Uint8Array;
  /** True if it may have a DS record. */
  readonly isSep: boolean;
}

/** Reply to one query. Undefined if no readable reply arrived. */
export interface PreflightReply {
  readonly name: Name;
  readonly type: number;
  readonly message: Message | undefined;
}

interface PreflightServer {
  readonly server: Name;
  readonly address: string;
  readonly outcome: /** Every reply came. */
    | 'answered'
    /** At least one reply is missing, so nothing can be concluded. */
    | 'silent';
  /** Ids of the keys with which every reply validates. */
  readonly verifiedBy: readonly string[];
  /** True if it shows a DNSKEY record that is not ours. */
  readonly hasStrangers: boolean;
  /** Human-readable reason why no key verifies. */
  readonly error: string | undefined;
}

export interface PreflightEvidence {
  readonly servers: readonly PreflightServer[];
  /** Nameservers without an address that may be queried. */
  readonly missing: readonly Name[];
  /** Why no server was queried. */
  readonly failure: string | undefined;
}

interface Preflight {
  /** Keys with which every address that answered validates. Empty while too few have answered. */
  readonly verifiedBy: readonly string[];
  readonly hasStrangers: boolean;
  /** Human-readable reason. */
  readonly failure?: string;
}

/** Servers that many resolvers cannot reach must not block a domain forever. */
const MAX_SILENT_SHARE = 0.25;

export function judgePreflight({ servers, missing, failure }: PreflightEvidence): Preflight {
  const hasStrangers = servers.some((server) => server.hasStrangers);
  if (failure !== undefined) return { verifiedBy: [], hasStrangers, failure };
  const answered = servers.filter(({ outcome }) => outcome === 'answered');
  const all = servers.length + missing.length;
  const silent = all - answered.length;
  const [first] = answered;
  if (first === undefined || silent > MAX_SILENT_SHARE * all)
    return { verifiedBy: [], hasStrangers, failure: `${silent} of ${all} addresses did not answer` };
  const verifiedBy = first.verifiedBy.filter((id) =>
    answered.every((server) => server.verifiedBy.includes(id)),
  );
  const worst = answered.find((server) => server.verifiedBy.length === 0);
  if (worst !== undefined)
    return { verifiedBy, hasStrangers, failure: `${worst.address} does not validate: ${worst.error}` };
  if (verifiedBy.length > 0) return { verifiedBy, hasStrangers };
  return { verifiedBy, hasStrangers, failure: 'the nameservers answer with different keys' };
}

/** Evaluates the replies of one address. `at` is in seconds since 1970. */
export function verifyReplies(
  domain: Name,
  replies: readonly PreflightReply[],
  keys: readonly PreflightKey[],
  at: number,
): Omit<PreflightServer, 'server' | 'address'> {
  const keyReply = replies.find(({ type }) => type === TYPE.DNSKEY)?.message;
  const nothing = { verifiedBy: [], hasStrangers: false } as const;
  if (keyReply === undefined || replies.some(({ message }) => message === undefined))
    return { ...nothing, outcome: 'silent', error: 'it did not answer every query' };
  const set = keyReply.aa ? setAt(keyReply.answers, domain, TYPE.DNSKEY) : undefined;
  if (set === undefined) return { ...nothing, outcome: 'answered', error: 'it returns no DNSKEY records' };
  const ours = new Set(keys.map(({ dnskey }) => Buffer.from(dnskey).toString('base64')));
  const hasStrangers = set.rdata.some((rdata) => !ours.has(Buffer.from(rdata).toString('base64')));
  const faults = keys
    .filter(({ isSep }) => isSep)
    .map((key) => ({ id: key.id, fault: findFault({ domain, replies, set, key, at }) }));
  const verifiedBy = faults.filter(({ fault }) => fault === undefined).map(({ id }) => id);
  const error = verifiedBy.length > 0 ? undefined : (faults[0]?.fault ?? 'there is no key to verify it with');
  return { outcome: 'answered', verifiedBy, hasStrangers, error };
}

/** Returns why a resolver that trusts this key rejects a reply. */
function findFault({
  domain,
  replies,
  set,
  key,
  at,
}: {
  readonly domain: Name;
  readonly replies: readonly PreflightReply[];
  readonly set: SignedSet;
  readonly key: PreflightKey;
  readonly at: number;
}): string | undefined {
  // Each address and key has its own budget, so that an address with costly records cannot hide another one's faults.
  const budget = new ValidationBudget();
  const digest = dsDigest(domain, key.dnskey, DIGEST.SHA256) as Uint8Array;
  const ds = {
    keyTag: keyTag(key.dnskey),
    algorithm: key.dnskey[3] as number,
    digestType: DIGEST.SHA256,
    digest,
  };
  const validated = validateKeys(set, [ds], { at, budget });
  if (validated.kind !== 'secure') return `DNSKEY set: ${validated.reason}`;
  for (const { name, type, message } of replies) {
    if (type === TYPE.DNSKEY || message === undefined) continue;
    if (!message.aa) return 'its answer lacks the AA bit';
    const from = { zone: domain, keys: validated.keys };
    const validation = validateAnswer(message, { name, type }, from, { at, budget });
    if (validation.kind === 'secure') continue;
    return 'reason' in validation ? validation.reason : 'its proof does not show if the record exists';
  }
  return undefined;
}
