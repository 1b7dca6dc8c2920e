// Combines the answers of all servers of a challenge's name. The challenge is verified only if every server that responds
// has the value, at least half of all servers respond, and there is no sign of a wildcard or of disagreeing servers.

import type { Name } from '../../dns/name.ts';
import { isConclusive } from '../delegation/conclusive.ts';
import type {
  TxtDelegation,
  TxtEvidence,
  TxtLink,
  TxtOutcome,
  TxtResolverEvidence,
  TxtServerEvidence,
  TxtSibling,
} from './txt-evidence.ts';
import type { TxtFound, TxtJudgement, TxtResolverJudgement, TxtServerJudgement } from './txt-judgement.ts';
import { TXT_SENTENCES } from './txt-sentences.ts';

interface TxtExpected {
  readonly value: string;
  /** Nameservers whose answers do not count, as folded names. */
  readonly untrusted: ReadonlySet<Name>;
}

/** With fewer answers for random sibling names, a wildcard cannot be excluded. */
const MIN_SIBLINGS = 3;

export function judgeTxt(evidence: TxtEvidence, { value, untrusted }: TxtExpected): TxtJudgement {
  const wanted = Buffer.from(value, 'utf8');
  const last = evidence.links.at(-1);
  const servers = last === undefined ? [] : judgeServers(last, wanted);
  const found = servers.filter(({ outcome }) => outcome === 'found').length;
  return {
    ...conclude(evidence, servers, untrusted),
    found,
    asked: servers.length,
    servers,
    resolvers: evidence.resolvers.map((resolver) => judgeResolver(resolver, wanted)),
  };
}

type Conclusion = Pick<TxtJudgement, 'verdict' | 'message'>;

function conclude(
  evidence: TxtEvidence,
  servers: readonly TxtServerJudgement[],
  untrusted: ReadonlySet<Name>,
): Conclusion {
  const { host, links, failure } = evidence;
  const ours = links.flatMap(nameserversOf).find((name) => untrusted.has(name));
  if (ours !== undefined) return { verdict: 'untrusted', message: TXT_SENTENCES.untrusted(host, ours) };
  for (const [i, link] of links.entries()) {
    const message = findDispute(link, links[i + 1]);
    if (message !== undefined) return { verdict: 'disagree', message };
  }
  if (failure !== undefined) return { verdict: 'unknown', message: TXT_SENTENCES.failure(host, failure) };
  const silent = links.find((link) => 2 * countResponding(link) < link.servers.length);
  if (silent !== undefined)
    return { verdict: 'unknown', message: TXT_SENTENCES.silent(silent, countResponding(silent)) };

  const responding = servers.filter(({ outcome }) => outcome !== 'error');
  const found = responding.filter(({ outcome }) => outcome === 'found');
  if (found.length < responding.length) {
    const hasOther = responding.some(({ outcome }) => outcome === 'other');
    const verdict = found.length > 0 ? 'partial' : hasOther ? 'other' : 'absent';
    return { verdict, message: TXT_SENTENCES[verdict](host, servers) };
  }
  if (isWildcard(evidence)) return { verdict: 'wildcard', message: TXT_SENTENCES.wildcard(host) };
  const told = evidence.siblings.filter(isConclusive);
  if (told.length < MIN_SIBLINGS || 2 * told.length < evidence.siblings.length) {
    return { verdict: 'unknown', message: TXT_SENTENCES.unprobed(host) };
  }
  return { verdict: 'verified', message: TXT_SENTENCES.verified(host, servers) };
}

function countResponding({ servers }: TxtLink): number {
  return servers.filter(isConclusive).length;
}

/**
 * Returns the nameservers of a delegation under all of their names: the parent zone could delegate to any name, and a
 * server may have several.
 */
export function nameserversOf({ nameservers, delegations, servers, primaries }: TxtLink): Name[] {
  const above = delegations.flatMap((delegation) => delegation.nameservers);
  return [...nameservers, ...above, ...servers.map(({ server }) => server), ...primaries];
}

function judgeServers({ servers, again }: TxtLink, wanted: Uint8Array): TxtServerJudgement[] {
  return servers.map((first) => {
    const { server, address } = first;
    const said = [first, ...again.filter((later) => later.address === address)].filter(isConclusive);
    // One reply without the value decides: some resolvers would get that reply.
    const counting = said.find((reply) => foundIn(reply, wanted) !== 'found') ?? said[0] ?? first;
    const { values } = counting;
    const outcome = foundIn(counting, wanted);
    return { server, address, outcome, ...(values.length > 0 && { values }) };
  });
}

function foundIn({ outcome, values }: TxtServerEvidence, wanted: Uint8Array): TxtFound {
  switch (outcome) {
    case 'answer':
      return values.some((value) => isEqual(value, wanted)) ? 'found' : 'other';
    case 'nodata':
    case 'nxdomain':
      return 'absent';
    case 'alias':
    case 'referral':
      return 'other';
    case 'lame':
    case 'timeout':
    case 'refused':
    case 'servfail':
    case 'bad':
      return 'error';
    default:
      return outcome satisfies never;
  }
}

function judgeResolver({ address, values }: TxtResolverEvidence, wanted: Uint8Array): TxtResolverJudgement {
  if (values === undefined) return { address, outcome: 'error' };
  if (values.some((value) => isEqual(value, wanted))) return { address, outcome: 'found' };
  return { address, outcome: values.length > 0 ? 'other' : 'absent' };
}

/** Returns a sentence about a disagreement at a link, if there is one. */
function findDispute(link: TxtLink, next: TxtLink | undefined): string | undefined {
  const doubtful = link.delegations.find((each) => !serversAgree(each));
  if (doubtful !== undefined) return TXT_SENTENCES.delegations(doubtful);
  const said = [...link.servers, ...link.again].filter(isConclusive);
  const stray = said.find(({ outcome, target }) =>
    next === undefined ? leadsOn(outcome) : outcome !== 'alias' || target !== next.host,
  );
  // If all servers return the same alias or referral, the failure says why it could not be followed.
  if (
    stray === undefined ||
    (next === undefined && said.every(({ outcome }) => leadsOn(outcome)) && areSameReplies(said))
  )
    return undefined;
  return TXT_SENTENCES.links(link, stray);
}

function leadsOn(outcome: TxtOutcome): boolean {
  return outcome === 'alias' || outcome === 'referral';
}

function areSameReplies(said: readonly TxtServerEvidence[]): boolean {
  return said.every(({ outcome, target }) => outcome === said[0]?.outcome && target === said[0]?.target);
}

/**
 * True if the servers agree on a delegation. A server that also has the zone must have it as delegated, because it may be
 * the only one that is right.
 */
function serversAgree({ nameservers, servers }: TxtDelegation): boolean {
  return servers.filter(isConclusive).every(({ ns }) => isSameSet(ns, nameservers));
}

function isWildcard({ links, siblings }: TxtEvidence): boolean {
  const aliases = new Set(links.slice(1).map(({ host }) => host));
  const values = new Set((links.at(-1)?.servers ?? []).flatMap((server) => server.values.map(keyOf)));
  // A wildcard may return a different alias for each name or query, and the challenge's alias may be one of these.
  const firsts = new Set(siblings.flatMap(({ targets }) => targets.slice(0, 1)));
  return (
    (aliases.size > 0 && firsts.size > 1) || siblings.some((sibling) => isLike(sibling, aliases, values))
  );
}

function isLike(sibling: TxtSibling, aliases: ReadonlySet<Name>, values: ReadonlySet<string>): boolean {
  return (
    sibling.targets.some((target) => aliases.has(target)) ||
    sibling.values.some((value) => values.has(keyOf(value)))
  );
}

/** Returns equal keys for equal octets. A hostile zone can have many values to compare. */
function keyOf(value: Uint8Array): string {
  return Buffer.from(value).toString('latin1');
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function isSameSet(a: readonly Name[], b: readonly Name[]): boolean {
  const set = new Set(b);
  return a.length === set.size && a.every((name) => set.has(name));
}
