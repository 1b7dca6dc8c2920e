// Sends TXT queries to every address of a zone's nameservers concurrently, including addresses that must be looked up. A
// nameserver without a usable address counts as not responding.

import type { TxtServerEvidence } from '../../checks/txt/txt-evidence.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ClassifiedReply } from '../replies/classify-reply.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { Stopped, type Work } from '../state/work.ts';
import { askServer, type ServerResult } from './ask-server.ts';
import { findAddresses } from './find-addresses.ts';
import { MIN_USE_MS } from './lookups.ts';

/** Result of one address, for the evidence and for the next step. */
export interface TxtResult {
  readonly to: ZoneAddress;
  readonly reply: ClassifiedReply;
  readonly evidence: TxtServerEvidence;
}

interface TxtResults {
  readonly results: readonly TxtResult[];
  /** Nameservers that cannot be queried. */
  readonly missing: readonly TxtServerEvidence[];
}

/** `silent`: addresses that did not answer before. They are skipped, and addresses that do not answer now are added. */
export async function askEveryServer(
  state: ResolverState,
  work: Work,
  zone: KnownZone,
  host: Name,
  silent: Set<string>,
): Promise<TxtResults> {
  const errors = await findServers(state, work, zone);
  const { now, hasIpv6 } = state.around;
  const addresses = zone.addresses(now(), hasIpv6());
  const results = await Promise.all(
    addresses.map((to) =>
      silent.has(to.address) ? skip(to, now()) : askForTxt(state, work, zone, to, host),
    ),
  );
  for (const { to, reply } of results) if (reply.kind === 'timeout') silent.add(to.address);
  return { results, missing: findMissing(zone, addresses, errors, now()) };
}

/** Throws Stopped only if the work was aborted. A query without an answer in time is also a result. */
export async function askForTxt(
  state: ResolverState,
  work: Work,
  zone: KnownZone,
  to: ZoneAddress,
  host: Name,
): Promise<TxtResult> {
  try {
    const result = await askServer(state, work, zone, to, { name: host, type: TYPE.TXT });
    return { to, reply: result.reply, evidence: evidenceOf(result, to) };
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return unanswered(to, { kind: 'timeout', error: error.message }, state.around.now());
  }
}

function skip(to: ZoneAddress, at: number): TxtResult {
  return unanswered(to, { kind: 'timeout', error: 'it did not answer the previous query' }, at);
}

function unanswered(to: ZoneAddress, reply: ClassifiedReply, askedAt: number): TxtResult {
  const result: ServerResult = { reply, askedAt, message: undefined, transport: 'udp', rttMs: undefined };
  return { to, reply, evidence: evidenceOf(result, to) };
}

/** Looks up all addresses, unlike a walk, because this query must be sent to all of them. Returns the errors. */
export async function findServers(
  state: ResolverState,
  work: Work,
  zone: KnownZone,
): Promise<ReadonlyMap<Name, string>> {
  const { now, hasIpv6 } = state.around;
  const errors = new Map<Name, string>();
  await Promise.all(
    zone.unresolved(now(), hasIpv6()).map(async (name) => {
      const { outcome, until } = await findAddresses(state, name, { work, within: undefined });
      const isFailed = outcome.kind === 'failed';
      if (isFailed) errors.set(name, outcome.message);
      zone.resolve(name, outcome, isFailed ? until : Math.max(until, now() + MIN_USE_MS));
    }),
  );
  return errors;
}

/** Includes the nameservers beyond the limit per zone. */
function findMissing(
  zone: KnownZone,
  addresses: readonly ZoneAddress[],
  errors: ReadonlyMap<Name, string>,
  askedAt: number,
): TxtServerEvidence[] {
  const asked = new Set(addresses.map(({ address }) => address));
  return zone.walked.servers
    .filter((name) => !zone.addressesOf([name]).some(({ address }) => asked.has(address)))
    .map((server) => ({
      server,
      address: '',
      transport: 'udp',
      askedAt,
      rttMs: undefined,
      outcome: 'bad',
      values: [],
      target: undefined,
      error: errors.get(server) ?? 'it has no address that may be queried',
    }));
}

function evidenceOf(
  { reply, transport, askedAt, rttMs }: ServerResult,
  { server, address }: ZoneAddress,
): TxtServerEvidence {
  return {
    server,
    address,
    transport,
    askedAt,
    rttMs,
    outcome: reply.kind,
    values: reply.kind === 'answer' ? reply.rdata.map(joinStrings) : [],
    target: targetOf(reply),
    error: 'error' in reply ? reply.error : undefined,
  };
}

function targetOf(reply: ClassifiedReply): Name | undefined {
  if (reply.kind === 'alias') return reply.target;
  return reply.kind === 'referral' ? reply.cut : undefined;
}

/** Joins the character-strings of a TXT record (RFC 7208 §3.3). */
export function joinStrings(rdata: Uint8Array): Uint8Array {
  const joined = new Uint8Array(rdata.length);
  let length = 0;
  for (let at = 0; at < rdata.length; at += 1 + (rdata[at] as number)) {
    const string = rdata.subarray(at + 1, at + 1 + (rdata[at] as number));
    joined.set(string, length);
    length += string.length;
  }
  return joined.subarray(0, length);
}
