// Queries every address of the parent's servers directly for a domain's DS set. Referrals are not sufficient: a server that
// omits DS from them looks like a parent without DS, and key removal depends on the difference.
//
//   walk to the parent ─▶ its keys, if it is signed ─▶ addresses of all its servers ─▶ DS at each, verified with those keys
//                     ◀─ a zone between them is found: repeat from there ───────┘

import type { DsAnswer, DsEvidence } from '../../checks/dnssec/ds-evidence.ts';
import { ValidationBudget } from '../../checks/validation/budget.ts';
import { validateAnswer } from '../../checks/validation/validate-answer.ts';
import type { SecureZone } from '../../checks/validation/validate-reply.ts';
import { foldCase, type Name, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { Limits } from '../state/limits.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { securePath } from '../validation/secure-path.ts';
import { findServers } from '../walk/ask-every-server.ts';
import { askServer, type ServerResult } from '../walk/ask-server.ts';
import { Journey, keepReferral, walk } from '../walk/walk.ts';

/** A registry has up to 26 addresses, and each query is retried once over UDP. */
const DS_LIMITS: Partial<Limits> = { packets: 120, milliseconds: 30_000 };
/** No registry has more addresses. Additional ones would only cause work. */
const MAX_ADDRESSES = 40;

type Seen = Pick<DsEvidence, 'parent' | 'answers' | 'parentIsSecure'>;

const UNSEEN: Seen = { parent: undefined, answers: [], parentIsSecure: undefined };

/** Rejects with the signal's reason when that aborts. */
export async function observeDs(
  state: ResolverState,
  name: Name,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<DsEvidence> {
  const domain = foldCase(name);
  if (domain === ROOT) throw new RangeError('the root has no parent');
  const { now, limits } = state.around;
  return runWork(state, { limits: { ...limits, ...DS_LIMITS }, signal }, async (work) => {
    const seen = await observe(state, work, domain);
    return { domain, ...seen, observedAt: now() };
  });
}

async function observe(state: ResolverState, work: Work, domain: Name): Promise<Seen> {
  const journey = new Journey(state, state.root);
  const budget = new ValidationBudget();
  try {
    for (;;) {
      const arrival = await walk(state, domain, journey, { work, within: undefined });
      if (arrival.kind === 'failed') return UNSEEN;
      const path = await securePath(state, journey.path, { work, budget });
      if (path.kind === 'failed') return UNSEEN;
      const { security, from } = path;
      const parentIsSecure = security === 'indeterminate' ? undefined : security === 'secure';
      const answers = await askAll(state, work, { domain, parent: arrival.zone, journey, from, budget });
      if (answers !== undefined) return { parent: arrival.zone.zone, answers, parentIsSecure };
    }
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return UNSEEN;
  }
}

interface Asking {
  readonly domain: Name;
  readonly parent: KnownZone;
  readonly journey: Journey;
  /** Set for a secure parent. */
  readonly from: SecureZone | undefined;
  readonly budget: ValidationBudget;
}

/** Returns undefined if a reply reveals another zone between the parent and the domain. */
async function askAll(
  state: ResolverState,
  work: Work,
  asking: Asking,
): Promise<readonly DsAnswer[] | undefined> {
  const { domain, parent, journey } = asking;
  const errors = await findServers(state, work, parent);
  const { now, hasIpv6 } = state.around;
  const known = parent.addresses(now(), hasIpv6()).slice(0, MAX_ADDRESSES);
  const asked = await Promise.all(known.map((to) => askOne(state, work, asking, to)));
  for (const { reply } of asked) {
    if (reply === undefined || !isBetween(reply, parent.zone, domain)) continue;
    if (reply.kind === 'referral') {
      journey.learn(reply.cut, keepReferral(state, reply, work), parent.zone);
      return undefined;
    }
    if ('soa' in reply && journey.missed(reply.soa)) return undefined;
  }
  const unreached = parent.walked.servers.filter((server) => parent.addressesOf([server]).length === 0);
  return [
    ...asked.map(({ answer }) => answer),
    ...unreached.map((server) =>
      unknown(server, '', errors.get(server) ?? 'it has no address that can be queried'),
    ),
  ];
}

function unknown(server: Name, address: string, error: string | undefined): DsAnswer {
  return { server, address, outcome: 'unknown', ds: [], ttl: undefined, error };
}

/** True if the reply shows a zone above the domain and below the parent, which is then the actual parent. */
function isBetween(reply: ServerResult['reply'], parent: Name, domain: Name): boolean {
  if (reply.kind === 'referral') return reply.cut !== domain;
  return 'soa' in reply && reply.soa !== parent && reply.soa !== domain;
}

interface AskedServer {
  readonly answer: DsAnswer;
  readonly reply?: ServerResult['reply'];
}

async function askOne(
  state: ResolverState,
  work: Work,
  { domain, parent, from, budget }: Asking,
  to: ZoneAddress,
): Promise<AskedServer> {
  const { server, address } = to;
  const question = { name: domain, type: TYPE.DS };
  try {
    const { reply, message } = await askServer(state, work, parent, to, question);
    const read = readDs(reply, parent.zone);
    if (typeof read === 'string') return { answer: unknown(server, address, read), reply };
    if (from !== undefined && message !== undefined) {
      const at = Math.floor(state.around.now() / 1000);
      const validation = validateAnswer(message, question, from, { at, budget });
      if ('reason' in validation) return { answer: unknown(server, address, validation.reason), reply };
    }
    return { answer: { server, address, ...read, error: undefined }, reply };
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return { answer: unknown(server, address, error.message) };
  }
}

/**
 * Returns a human-readable reason if the reply says nothing about the DS set. The AA bit was checked when the reply was
 * classified.
 */
function readDs(
  reply: ServerResult['reply'],
  parent: Name,
): Pick<DsAnswer, 'outcome' | 'ds' | 'ttl'> | string {
  switch (reply.kind) {
    case 'answer':
      return { outcome: 'positive', ds: sortedOnce(reply.rdata), ttl: reply.ttl };
    case 'nodata':
    case 'nxdomain':
      // The child's own servers also answer NODATA, but know nothing about the parent side (RFC 4035 §3.1.4.1).
      return reply.soa === parent
        ? { outcome: 'none', ds: [], ttl: reply.ttl }
        : 'its SOA is not that of the parent zone';
    case 'timeout':
      return reply.error ?? 'it did not answer in time';
    case 'referral':
      return 'it refers to the domain, although DS records belong to the parent';
    case 'alias':
      return 'there is an alias at the name';
    case 'refused':
    case 'servfail':
      return reply.kind.toUpperCase();
    case 'lame':
    case 'bad':
      return reply.error;
    default:
      return reply satisfies never;
  }
}

function sortedOnce(rdata: readonly Uint8Array[]): Uint8Array[] {
  const sorted = [...rdata].sort(Buffer.compare);
  return sorted.filter((each, at) => at === 0 || Buffer.compare(each, sorted[at - 1] as Uint8Array) !== 0);
}
