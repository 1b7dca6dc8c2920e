// Queries random siblings of a challenge's name: a wildcard that answers for them would also answer for the challenge. A
// wildcard may give a different alias each time, so each server is queried for several names, and repeatedly for the
// challenge's name, in random order without pauses.

import { randomBytes } from 'node:crypto';
import type { TxtServerEvidence, TxtSibling } from '../../checks/txt/txt-evidence.ts';
import { type Name, parentOf, prependLabel, ROOT } from '../../dns/name.ts';
import type { KnownZone, ZoneAddress } from '../state/known-zone.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import type { Work } from '../state/work.ts';
import { askForTxt, type TxtResult } from '../walk/ask-every-server.ts';
import { pickAddresses } from '../walk/pick-addresses.ts';
import { type FollowedTxt, followTxt, type SiblingResult } from './follow-txt.ts';
import type { ObservedLink } from './observe-txt-link.ts';

interface ProbeResult {
  readonly siblings: readonly TxtSibling[];
  /** Servers' answers for the name itself. */
  readonly again: readonly TxtServerEvidence[];
}

/**
 * Returns the number of siblings queried per address. For any probability with which a wildcard gives the challenge's
 * values or nothing, eight siblings and six answers for the name itself miss it once in 10,000 times.
 */
function firstRound(addresses: number): { siblings: number; repeats: number } {
  const least = addresses > MANY_ADDRESSES ? 2 : 3;
  return {
    siblings: Math.max(least, Math.ceil(8 / addresses)),
    repeats: Math.max(1, Math.ceil(6 / addresses) - 1),
  };
}

const MANY_ADDRESSES = 8;
/**
 * Total number of siblings queried at all addresses once any sibling has an answer: a wildcard exists, and its answers may
 * vary.
 */
const SIBLINGS_AT_WILDCARD = 24;
const REPEATS_AT_WILDCARD = 8;

/** As short as a challenge's label, so that a sibling is too long only if the challenge is. */
const LABEL_LENGTH = 14;

/** Throws Stopped only if the work was aborted. */
export async function probeSiblings(
  state: ResolverState,
  link: ObservedLink,
  isAlias: boolean,
  work: Work,
): Promise<ProbeResult> {
  const { host } = link.link;
  const { zone, addresses } = placeOf(state, link);
  const isOwnZone = zone === link.zone;
  const round = firstRound(addresses.length);
  const ask = (each: { siblings: number; repeats: number }) => {
    const repeats = isOwnZone ? each.repeats : 0;
    return askMany(state, work, { zone, addresses, host, siblings: each.siblings, repeats });
  };
  const results = await ask(round);
  if (results.siblings.some(({ result }) => hasSomething(result))) {
    const count = Math.max(1, addresses.length);
    const more = {
      siblings: Math.max(0, Math.ceil(SIBLINGS_AT_WILDCARD / count) - round.siblings),
      repeats: Math.max(0, Math.ceil(REPEATS_AT_WILDCARD / count) - round.repeats),
    };
    const others = await ask(more);
    results.siblings.push(...others.siblings);
    results.repeats.push(...others.repeats);
  }
  const followed = await followTxt(state, results.siblings, { isAlias, work });
  return {
    siblings: results.siblings.map((sibling) => siblingOf(sibling, followed)),
    again: results.repeats.map(({ evidence }) => evidence),
  };
}

/** Returns where to query siblings: siblings of a zone's apex belong to the parent zone. */
function placeOf(
  state: ResolverState,
  { link, zone, above, answered }: ObservedLink,
): { zone: KnownZone; addresses: readonly ZoneAddress[] } {
  if (link.host !== zone.zone || above === undefined) return { zone, addresses: answered };
  const { now, hasIpv6, random, limits } = state.around;
  const all = above.addresses(now(), hasIpv6());
  return { zone: above, addresses: pickAddresses(all, limits.parentAddresses, { now: now(), random }) };
}

interface ProbeRound {
  readonly zone: KnownZone;
  readonly addresses: readonly ZoneAddress[];
  readonly host: Name;
  /** Number of siblings queried per address. */
  readonly siblings: number;
  readonly repeats: number;
}

async function askMany(
  state: ResolverState,
  work: Work,
  { zone, addresses, host, siblings, repeats }: ProbeRound,
): Promise<{ siblings: SiblingResult[]; repeats: TxtResult[] }> {
  const results: { siblings: SiblingResult[]; repeats: TxtResult[] } = { siblings: [], repeats: [] };
  await Promise.all(
    addresses.flatMap((to) => {
      const names = [
        ...Array.from({ length: siblings }, (_, i) => siblingOfName(host, i)).filter(
          (name) => name !== undefined,
        ),
        ...Array<Name>(repeats).fill(host),
      ];
      return shuffled(names, state.around.random).map(async (name) => {
        const result = await askForTxt(state, work, zone, to, name);
        if (name === host) results.repeats.push(result);
        else results.siblings.push({ name, result });
      });
    }),
  );
  return results;
}

/** Half of the siblings have the prefix of the challenge's name. */
function siblingOfName(host: Name, i: number): Name | undefined {
  const random = randomBytes(LABEL_LENGTH).toString('hex');
  const label = i % 2 === 0 ? random : `_svc-${random}`;
  return host === ROOT ? undefined : prependLabel(label.slice(0, LABEL_LENGTH), parentOf(host));
}

function hasSomething({ reply: { kind } }: TxtResult): boolean {
  return kind === 'answer' || kind === 'alias' || kind === 'referral';
}

function siblingOf(
  { name, result: { evidence } }: SiblingResult,
  followed: ReadonlyMap<Name, FollowedTxt>,
): TxtSibling {
  const { address, outcome, target, values } = evidence;
  const further = followed.get(outcome === 'alias' && target !== undefined ? target : name);
  const targets = outcome === 'alias' && target !== undefined ? [target] : [];
  return {
    name,
    address,
    outcome,
    targets: [...targets, ...(further?.targets ?? [])],
    values: [...values, ...(further?.values ?? [])],
  };
}

function shuffled<T>(all: readonly T[], random: () => number): T[] {
  const left = [...all];
  for (let i = left.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [left[i], left[j]] = [left[j] as T, left[i] as T];
  }
  return left;
}
