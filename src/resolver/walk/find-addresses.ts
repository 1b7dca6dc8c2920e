// Finds the addresses of a nameserver without glue, with a separate walk from the root.

import { type Name, printName, ROOT } from '../../dns/name.ts';
import { printAddress } from '../../dns/record/ip-address.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { DatedOutcome } from '../state/address-cache.ts';
import type { AddressOutcome } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { type SharedTask, SharedTasks } from '../state/shared-tasks.ts';
import type { Work } from '../state/work.ts';
import { askAuthority } from './ask-authority.ts';
import { Journey } from './walk.ts';

type Options = { readonly work: Work; readonly within: SharedTask | undefined };

const MAX_TTL_SECONDS = 86_400;
const NOT_THERE_TTL_SECONDS = 3600;

/** Throws Stopped. */
export async function findAddresses(
  state: ResolverState,
  host: Name,
  { work, within }: Options,
): Promise<DatedOutcome> {
  const { now, hasIpv6 } = state.around;
  const withIpv6 = hasIpv6();
  const look = () => state.addresses.get(host, withIpv6);
  const known = look();
  if (known !== undefined) return known;
  const key = `address ${host}`;
  if (SharedTasks.isLoop(key, within)) {
    return { outcome: failed('loop', `${printName(host)} is needed to find itself`), until: now() };
  }
  if (nestingOf(within) >= work.limits.nesting || !work.countLookup()) {
    const message = `${printName(host)} would exceed the number of lookups`;
    return { outcome: failed('limit', message), until: now() };
  }
  return state.sharedTasks.run(key, { work, within, look }, async (task) => {
    const { outcome, ttl } = await followAliases(state, host, { withIpv6, work, within: task });
    // A loop or limit inside another lookup may apply only to that lookup.
    const isOurs =
      within !== undefined &&
      outcome.kind === 'failed' &&
      (outcome.reason === 'loop' || outcome.reason === 'limit');
    const value = isOurs ? { outcome, until: now() } : state.addresses.put(host, outcome, ttl, withIpv6);
    return { value, isReusable: !isOurs };
  });
}

function nestingOf(within: SharedTask | undefined): number {
  let nesting = 0;
  for (let above = within; above !== undefined; above = above.within) {
    if (above.key.startsWith('address ')) nesting++;
  }
  return nesting;
}

/** An outcome and its lifetime in seconds. */
interface HostOutcome {
  readonly outcome: AddressOutcome;
  readonly ttl: number;
}

type Lookup = { readonly state: ResolverState; readonly withIpv6: boolean; readonly options: Options };

/** NS names must not be aliases (RFC 2181 §10.3), but some are. */
async function followAliases(
  state: ResolverState,
  host: Name,
  { withIpv6, ...options }: Options & { readonly withIpv6: boolean },
): Promise<HostOutcome> {
  const seen = new Set<Name>();
  let name = host;
  let ttl = MAX_TTL_SECONDS;
  for (;;) {
    seen.add(name);
    const result = await lookUp({ state, withIpv6, options }, name);
    ttl = Math.min(ttl, result.ttl);
    if (!('target' in result)) return { outcome: result.outcome, ttl };
    name = result.target;
    if (seen.has(name)) {
      return { outcome: failed('loop', `${printName(host)} is an alias that leads to itself`), ttl };
    }
    if (!options.work.countCname() || seen.size > options.work.limits.cnames) {
      return { outcome: failed('limit', `${printName(host)} is an alias with too many links`), ttl };
    }
  }
}

type OutcomeOrAlias = HostOutcome | { readonly target: Name; readonly ttl: number };

async function lookUp(lookup: Lookup, name: Name): Promise<OutcomeOrAlias> {
  if (name === ROOT) return { outcome: { kind: 'none' }, ttl: NOT_THERE_TTL_SECONDS };
  const journey = new Journey(lookup.state, lookup.state.root);
  const ipv4 = await ask(lookup, journey, name, TYPE.A);
  if (!lookup.withIpv6 || 'target' in ipv4 || ipv4.isNothing) return ipv4;
  const ipv6 = await ask(lookup, journey, name, TYPE.AAAA);
  return 'target' in ipv6 ? ipv6 : join(ipv4, ipv6);
}

/** One family with addresses is sufficient. Only both families together prove that there are none. */
function join(a: HostOutcome, b: HostOutcome): HostOutcome {
  const ttl = Math.min(a.ttl, b.ttl);
  if (a.outcome.kind === 'found' && b.outcome.kind === 'found') {
    return { outcome: { kind: 'found', addresses: [...a.outcome.addresses, ...b.outcome.addresses] }, ttl };
  }
  if (a.outcome.kind === 'found') return a;
  if (b.outcome.kind === 'found') return b;
  return { outcome: a.outcome.kind === 'failed' ? a.outcome : b.outcome, ttl };
}

type FamilyResult =
  | (HostOutcome & { readonly isNothing: boolean })
  | { readonly target: Name; readonly ttl: number };

async function ask(lookup: Lookup, journey: Journey, name: Name, type: number): Promise<FamilyResult> {
  const result = await askAuthority(lookup.state, journey, { name, type }, lookup.options);
  if (result.kind === 'failed') return failedAnswer(result.failure);
  const { reply } = result;
  switch (reply.kind) {
    case 'answer': {
      const addresses = reply.rdata.map(printAddress);
      return { outcome: { kind: 'found', addresses }, ttl: reply.ttl, isNothing: false };
    }
    case 'alias':
      if (reply.target !== undefined) return { target: reply.target, ttl: reply.ttl };
      return { outcome: { kind: 'none' }, ttl: reply.ttl, isNothing: true };
    case 'nodata':
    case 'nxdomain':
      return { outcome: { kind: 'none' }, ttl: reply.ttl, isNothing: reply.kind === 'nxdomain' };
    default:
      return reply satisfies never;
  }
}

function failedAnswer({ reason, message }: { reason: string; message: string }): FamilyResult {
  const kept = reason === 'loop' || reason === 'limit' ? reason : 'unreachable';
  return { outcome: failed(kept, message), ttl: 0, isNothing: false };
}

function failed(reason: 'unreachable' | 'loop' | 'limit', message: string): AddressOutcome {
  return { kind: 'failed', reason, message };
}
