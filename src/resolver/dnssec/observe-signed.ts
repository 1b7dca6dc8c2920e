// Queries each address of a domain's nameservers to find out if the domain would validate with one of our keys: the keys,
// the SOA, a nonexistent name, and the wildcard.

import {
  type PreflightEvidence,
  type PreflightKey,
  type PreflightReply,
  verifyReplies,
} from '../../checks/dnssec/preflight.ts';
import { foldCase, type Name, prependLabel, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { type Delegation, findDelegation } from '../child/find-delegation.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { Limits } from '../state/limits.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { findServers } from '../walk/ask-every-server.ts';
import { askServer } from '../walk/ask-server.ts';

/** Four queries at each of 16 addresses, and the walk. */
const SIGNED_LIMITS: Partial<Limits> = { packets: 120, milliseconds: 30_000 };
const MAX_ADDRESSES = 16;

export interface SignedOptions {
  readonly keys: readonly PreflightKey[];
  /** The nameservers of a domain that is not delegated yet. The parent is not queried then. */
  readonly given?: Delegation | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Rejects with the signal's reason when that aborts. */
export async function observeSigned(
  state: ResolverState,
  name: Name,
  { keys, given, signal }: SignedOptions,
): Promise<PreflightEvidence> {
  const domain = foldCase(name);
  if (domain === ROOT) throw new RangeError('the root has no parent');
  const { limits } = state.around;
  return runWork(state, { limits: { ...limits, ...SIGNED_LIMITS }, signal }, (work) =>
    observe(state, work, { domain, keys, given }),
  );
}

interface Asking {
  readonly domain: Name;
  readonly keys: readonly PreflightKey[];
  readonly given: Delegation | undefined;
}

async function observe(
  state: ResolverState,
  work: Work,
  { domain, keys, given }: Asking,
): Promise<PreflightEvidence> {
  try {
    const found =
      given === undefined
        ? await findDelegation(state, domain, work)
        : ({ kind: 'found', delegation: given } as const);
    if (found.kind === 'failed') return { servers: [], missing: [], failure: found.message };
    const { ns, glue } = found.delegation;
    const zone = state.knownZone(domain, { names: ns.map(foldCase), glue });
    await findServers(state, work, zone);
    return await askAll(state, work, zone, keys);
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return { servers: [], missing: [], failure: error.message };
  }
}

async function askAll(
  state: ResolverState,
  work: Work,
  zone: KnownZone,
  keys: readonly PreflightKey[],
): Promise<PreflightEvidence> {
  const { now, hasIpv6, random } = state.around;
  const domain = zone.zone;
  const known = zone.addresses(now(), hasIpv6());
  const label = Math.floor(random() * 2 ** 32).toString(36);
  const questions = [
    { name: domain, type: TYPE.DNSKEY },
    { name: domain, type: TYPE.SOA },
    ...[`preflight-${label}`, '*'].flatMap((each) => {
      const below = prependLabel(each, domain);
      return below === undefined ? [] : [{ name: below, type: TYPE.A }]; // no name fits below a domain of 255 octets
    }),
  ];
  const servers = await Promise.all(
    known.slice(0, MAX_ADDRESSES).map(async (to) => {
      const replies = await Promise.all(questions.map((each) => askOne(state, work, zone, to, each)));
      const verified = verifyReplies(domain, replies, keys, Math.floor(now() / 1000));
      return { server: to.server, address: to.address, ...verified };
    }),
  );
  const missing = zone.walked.servers.filter((server) => zone.addressesOf([server]).length === 0);
  return { servers, missing, failure: undefined };
}

async function askOne(
  state: ResolverState,
  work: Work,
  zone: KnownZone,
  to: ZoneAddress,
  question: { readonly name: Name; readonly type: number },
): Promise<PreflightReply> {
  try {
    const { message } = await askServer(state, work, zone, to, question);
    return { ...question, message };
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return { ...question, message: undefined };
  }
}
