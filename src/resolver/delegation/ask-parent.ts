// Queries the addresses of a domain's parent zone for the domain's NS: two first, then more until they agree. The parent's
// answer is never taken from a cache.

import { isConclusive } from '../../checks/delegation/conclusive.ts';
import type { ServerEvidence, WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { namesIn, type ReplyOf } from '../replies/classify-reply.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { Stopped, type Work } from '../state/work.ts';
import { type ParentKeys, validateServer } from '../validation/validate-server.ts';
import { askServer, type ServerResult } from '../walk/ask-server.ts';
import { Lookups } from '../walk/lookups.ts';
import { nextParentStep } from '../walk/next-step.ts';
import { pickAddresses } from '../walk/pick-addresses.ts';

type ParentResult =
  | { readonly kind: 'seen'; readonly servers: readonly ServerEvidence[]; readonly parentAddresses: number }
  | { readonly kind: 'failed'; readonly failure: WalkFailure }
  /** There is a zone between this one and the domain. */
  | { readonly kind: 'cut'; readonly referral: ReplyOf<'referral'> }
  /** A server serves a zone between this one and the domain, which `mayMiss` has recorded. */
  | { readonly kind: 'missed' }
  /** The servers deny a name above the domain, although the domain exists. */
  | { readonly kind: 'doubted'; readonly name: Name };

interface Options {
  readonly work: Work;
  readonly doubt: Name | undefined;
  /** Returns true if a zone at this name was unknown before. If it was known, the server that shows it is lame. */
  readonly mayMiss: (at: Name) => boolean;
  /** If true, queries all addresses up to the limit, even if the first ones agree. */
  readonly isThorough?: boolean;
  /** Called with the results so far. */
  readonly onServers?: (servers: readonly ServerEvidence[]) => void;
  /** Set for a secure parent. */
  readonly keys: ParentKeys | undefined;
}

/** Throws Stopped if a limit ends the work before any reply. */
export async function askParent(
  state: ResolverState,
  zone: KnownZone,
  domain: Name,
  { work, doubt, mayMiss, keys, isThorough = false, onServers }: Options,
): Promise<ParentResult> {
  const { now, random, hasIpv6, limits } = state.around;
  const lookups = new Lookups(state, zone, { work, within: undefined });
  const servers: ServerEvidence[] = [];
  const asked: ZoneAddress[] = [];
  const seenSoFar = (): ParentResult => ({
    kind: 'seen',
    servers,
    parentAddresses: Math.max(zone.addressCount(now(), hasIpv6()), servers.length),
  });
  for (;;) {
    const left = zone.addresses(now(), hasIpv6()).filter(({ address }) => !isAmong(asked, address));
    const next = nextParentStep({
      answers: servers,
      addresses: left.length,
      servers: countOthers(left, asked),
      unresolved: lookups.left(),
      maxAddresses: limits.parentAddresses,
      isThorough,
    });
    switch (next.kind) {
      case 'done':
        if (servers.length === 0) return { kind: 'failed', failure: lookups.failure() };
        await askForCuts(state, work, { zone, domain, asked }, servers);
        return seenSoFar();
      case 'resolve':
        try {
          await lookups.next();
        } catch (error) {
          if (!isOver(error) || servers.length === 0) throw error;
          return seenSoFar();
        }
        continue;
      case 'ask':
        break;
      default:
        return next satisfies never;
    }
    const round = pickAddresses(left, next.count, { now: now(), random, asked });
    asked.push(...round);
    const replies = await Promise.all(round.map((to) => askOne(state, work, zone, to, domain)));
    for (const each of replies) {
      if (each === undefined) continue;
      const { evidence, result } = each;
      const elsewhere = result === undefined ? undefined : readElsewhere(result, zone.zone, domain, mayMiss);
      if (elsewhere !== undefined) return elsewhere;
      const seen = keys && result ? validateServer(evidence, result, domain, keys) : evidence;
      servers.push(seen);
      const isNews = isConclusive(seen) && seen.outcome !== 'nxdomain';
      if (doubt !== undefined && isNews) return { kind: 'doubted', name: doubt };
    }
    onServers?.(servers);
    if (work.stopped === undefined) continue;
    if (servers.length === 0 || !isOver(work.stopped)) throw work.stopped;
    return seenSoFar();
  }
}

/**
 * Sends DS queries to servers that also serve the domain's zone, if none sends a referral. DS belongs to the parent side of
 * a zone cut, so the answer comes from the parent zone (RFC 4035 §3.1.4.1). Records the results in `servers`.
 */
async function askForCuts(
  state: ResolverState,
  work: Work,
  { zone, domain, asked }: { zone: KnownZone; domain: Name; asked: readonly ZoneAddress[] },
  servers: ServerEvidence[],
): Promise<void> {
  const conclusive = servers.filter(isConclusive);
  if (conclusive.length === 0 || conclusive.some(({ outcome }) => outcome !== 'answer')) return;
  const ask = async (evidence: ServerEvidence): Promise<ServerEvidence> => {
    const to = asked.find(({ address }) => address === evidence.address);
    if (evidence.outcome !== 'answer' || to === undefined) return evidence;
    try {
      const { reply } = await askServer(state, work, zone, to, { name: domain, type: TYPE.DS });
      if (reply.kind === 'answer')
        return { ...evidence, ds: [...reply.rdata].sort(Buffer.compare), showsCut: true };
      return { ...evidence, showsCut: reply.kind === 'nodata' && reply.soa === zone.zone };
    } catch (error) {
      if (!isOver(error)) throw error;
      return evidence;
    }
  };
  servers.splice(0, servers.length, ...(await Promise.all(servers.map(ask))));
}

function isAmong(asked: readonly ZoneAddress[], wanted: string): boolean {
  return asked.some(({ address }) => address === wanted);
}

/** Counts the nameservers of which no address was queried. */
function countOthers(left: readonly ZoneAddress[], asked: readonly ZoneAddress[]): number {
  const names = new Set<Name>();
  for (const { server } of left) names.add(server);
  for (const { server } of asked) names.delete(server);
  return names.size;
}

/** True if the error ends the check, but the results so far are valid. */
function isOver(error: unknown): boolean {
  return error instanceof Stopped && error.by !== 'aborted' && error.by !== 'later';
}

/** Returns undefined if the check ended before the query was sent. */
async function askOne(
  state: ResolverState,
  work: Work,
  zone: KnownZone,
  to: ZoneAddress,
  domain: Name,
): Promise<{ evidence: ServerEvidence; result?: ServerResult } | undefined> {
  let sentAt: number | undefined;
  try {
    const result = await askServer(state, work, zone, to, { name: domain, type: TYPE.NS }, (askedAt) => {
      sentAt = askedAt;
    });
    return { evidence: evidenceOf(result, to, zone.zone), result };
  } catch (error) {
    if (!isOver(error)) throw error;
    if (sentAt === undefined) return undefined;
    const reply = { kind: 'timeout', error: (error as Stopped).message } as const;
    const result: ServerResult = {
      reply,
      askedAt: sentAt,
      message: undefined,
      transport: 'udp',
      rttMs: undefined,
    };
    return { evidence: evidenceOf(result, to, zone.zone) };
  }
}

/** Evaluates a reply that points to a zone between the parent and the domain. */
function readElsewhere(
  { reply }: ServerResult,
  zone: Name,
  domain: Name,
  mayMiss: (at: Name) => boolean,
): ParentResult | undefined {
  if (reply.kind === 'referral' && reply.cut !== domain) return { kind: 'cut', referral: reply };
  if ('soa' in reply && reply.soa !== zone && reply.soa !== domain && mayMiss(reply.soa)) {
    return { kind: 'missed' };
  }
  return undefined;
}

const NO_NAMES: readonly Name[] = [];
const NO_DS: readonly Uint8Array[] = [];

function printGlue(glue: ReplyOf<'referral'>['glue']): NonNullable<ServerEvidence['glue']> {
  return glue.map(({ name, address }) => ({ name, address }));
}

function evidenceOf(result: ServerResult, { server, address }: ZoneAddress, zone: Name): ServerEvidence {
  const { reply, askedAt, message, transport, rttMs, needed } = result;
  const isForeign = 'soa' in reply && reply.soa !== zone; // the server also serves that zone
  return {
    server,
    address,
    transport,
    ...(needed && { needed }),
    askedAt,
    rttMs,
    outcome: isForeign ? 'lame' : reply.kind,
    rcode: message?.rcode,
    aa: message?.aa,
    ns: reply.kind === 'referral' ? reply.ns : reply.kind === 'answer' ? namesIn(reply.rdata) : NO_NAMES,
    ...('glue' in reply && reply.glue.length > 0 && { glue: printGlue(reply.glue) }),
    ttl: 'ttl' in reply && !isForeign ? reply.ttl : undefined,
    ds: reply.kind === 'referral' ? reply.ds : NO_DS,
    error: isForeign ? 'its SOA is not that of the parent zone' : 'error' in reply ? reply.error : undefined,
  };
}
