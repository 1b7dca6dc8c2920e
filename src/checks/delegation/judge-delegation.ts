// Combines the answers of the parent's addresses into a verdict, which exists only if all that count agree. A failed,
// contradicting or missing answer makes the result `unknown` or unconfirmed, and neither ever changes a status.

import { compareNames, foldCase, type Name, ROOT } from '../../dns/name.ts';
import type { Expected, NameserverSet } from './check-state.ts';
import { isConclusive } from './conclusive.ts';
import { type Evidence, NEEDS, type ServerEvidence, type WalkFailure } from './evidence.ts';
import type { Finding } from './finding.ts';
import type { Said } from './finding-text.ts';
import { FINDINGS } from './findings.ts';
import { type HoldKind, registrarHold } from './registrar-holds.ts';
import type { Judgement, Verdict } from './verdict.ts';

/** Answer of one parent address, in a comparable form. */
interface Statement {
  readonly kind: 'delegation' | 'nodata' | 'nxdomain' | 'alias';
  readonly ns: ReadonlySet<Name>;
}

export function judgeDelegation(evidence: Evidence, expected: Expected): Judgement {
  const judgement = judgeServers(evidence, expected);
  return evidence.rootFault === true ? { ...judgement, rootFault: true } : judgement;
}

function judgeServers(evidence: Evidence, expected: Expected): Judgement {
  const { parent } = evidence;
  const counting = serversThatCount(evidence.servers);
  const [first] = counting;
  if (parent === undefined || first === undefined) return unknown(whyNothing(evidence));
  const statement = statementOf(first);
  // NODATA and NXDOMAIN both mean no delegation, but one of the servers is outdated or wrong
  if (!counting.every((server) => isSame(statementOf(server), statement)))
    return unknown([FINDINGS.PARENTS_DISAGREE(parent, saidBy(counting))]);

  const confirmations = new Set(counting.map(({ address }) => address)).size;
  const isHeld = counting.some(({ transport }) => transport === 'database');
  const confirmed = confirmations >= 2 || confirmations === evidence.parentAddresses || isHeld;
  const failing = evidence.servers.filter((server) => !counts(server));
  const awkward = counting.filter(({ needed = [] }) => needed.length > 0);
  const byAnswer = first.outcome === 'answer';
  const observed = [...statement.ns];
  const { verdict, matched, oursShown } = compare(statement, expected);
  const othersShown = observed.some((name) => expected.ours.has(name) && !isOwn(name, expected));
  // A server that answers with our names may be ours under any name. Our servers have a zone for every claim, which proves
  // nothing. Another operator's server that serves both domain and parent counts if it shows that the parent delegates the
  // domain.
  const showsCut = byAnswer && counting.every((server) => server.showsCut && isForeign(server, expected));
  if (byAnswer && (oursShown || othersShown) && !showsCut) return unknown([FINDINGS.OWN_ANSWER(parent)]);
  const staleDs = counting.flatMap(({ ds }) => (ds.some((each) => isOwnDs(each, expected)) ? [] : ds));
  return {
    verdict,
    matched,
    observed,
    confirmations,
    confirmed,
    byAnswer,
    soleWitness: counting.length === 1 && failing.length > 0 && !confirmed,
    oursShown,
    othersShown,
    staleDs: staleDs.length > 0,
    findings: [
      ...verdictFindings(verdict, {
        parent,
        observed,
        target: targetOf(statement.ns, expected.sets),
        hold: registrarHold(foldCase(evidence.domain), observed),
      }),
      ...(staleDs.length > 0 ? [FINDINGS.STALE_DS(staleDs, oursShown)] : []),
      ...(confirmed ? [] : [FINDINGS.UNCONFIRMED(parent)]),
      ...(failing.length > 0 ? [FINDINGS.PARENT_FAILS(parent, serversOf(failing))] : []),
      ...(showsCut ? [FINDINGS.PARENT_HOLDS_CHILD(parent)] : []),
      ...(counting.some(({ outcome, aa }) => outcome === 'referral' && aa === true)
        ? [FINDINGS.PARENT_SETS_AA(parent)]
        : []),
      ...(awkward.length > 0
        ? [
            FINDINGS.PARENT_AWKWARD(
              parent,
              serversOf(awkward),
              NEEDS.filter((need) => awkward.some(({ needed }) => needed?.includes(need))),
            ),
          ]
        : []),
    ],
  };
}

/** One DS that matches a key of ours is enough for resolvers (RFC 4035 §5.2), regardless of others in the set. */
function isOwnDs(rdata: Uint8Array, { ownDs }: Expected): boolean {
  return ownDs?.has(Buffer.from(rdata).toString('hex')) === true;
}

/** True if the address is known not to be ours. */
function isForeign({ address }: ServerEvidence, { ourAddresses }: Expected): boolean {
  return ourAddresses !== undefined && !ourAddresses.has(address);
}

/**
 * Returns the servers that count. A referral is the parent's own answer. An AA answer comes from a server that also serves
 * the domain's zone.
 */
function serversThatCount(servers: readonly ServerEvidence[]): readonly ServerEvidence[] {
  const conclusive = servers.filter(counts);
  const refers = conclusive.some(({ outcome }) => outcome === 'referral');
  return refers ? conclusive.filter(({ outcome }) => outcome !== 'answer') : conclusive;
}

function counts(server: ServerEvidence): boolean {
  const { outcome, ns } = server;
  if (outcome === 'referral' || outcome === 'answer') return ns.length > 0;
  return isConclusive(server);
}

function statementOf({ outcome, ns }: ServerEvidence): Statement {
  const kind = outcome === 'nodata' || outcome === 'nxdomain' || outcome === 'alias' ? outcome : 'delegation';
  return { kind, ns: new Set(kind === 'delegation' ? ns.map(foldCase) : []) };
}

function isSame(a: Statement, b: Statement): boolean {
  return a.kind === b.kind && equals(a.ns, b.ns);
}

function equals(a: ReadonlySet<Name>, b: ReadonlySet<Name>): boolean {
  return a.size === b.size && contains(a, b);
}

function contains(whole: ReadonlySet<Name>, part: Iterable<Name>): boolean {
  for (const name of part) if (!whole.has(name)) return false;
  return true;
}

type Comparison = Pick<Judgement, 'verdict' | 'matched'> & { readonly oursShown: boolean };

/** Our nameservers assigned to other accounts count as foreign: they do not serve this account's records. */
function compare({ kind, ns }: Statement, { sets }: Expected): Comparison {
  const without = (verdict: Verdict, oursShown: boolean) => ({ verdict, matched: undefined, oursShown });
  if (kind === 'nodata') return without('not_delegated', false);
  if (kind === 'nxdomain') return without('unregistered', false);
  if (kind === 'alias') return without('alias', false);

  const all = new Set(sets.flat());
  const own = new Set([...ns].filter((name) => all.has(name)));
  if (own.size === 0) return without('foreign', false);
  const matched = sets.find((set) => equals(ns, new Set(set)));
  if (matched !== undefined) return { verdict: 'match', matched, oursShown: true };
  if (sets.some((set) => set.length > 0 && equals(own, new Set(set)))) return without('extra', true);
  // sets may share names, so names are mixed only if no single set contains all of them
  return without(sets.some((set) => contains(new Set(set), own)) ? 'partial' : 'mixed', true);
}

function isOwn(name: Name, { sets }: Expected): boolean {
  return sets.some((set) => set.includes(name));
}

/** Returns the accepted set with the most names at the parent. On a tie, returns the first, which is the domain's own. */
function targetOf(ns: ReadonlySet<Name>, sets: readonly NameserverSet[]): NameserverSet | undefined {
  const shown = (set: NameserverSet) => set.filter((name) => ns.has(name)).length;
  return sets.reduce<NameserverSet | undefined>(
    (best, set) => (best === undefined || shown(set) > shown(best) ? set : best),
    undefined,
  );
}

function verdictFindings(
  verdict: Verdict,
  shown: {
    parent: Name;
    observed: readonly Name[];
    target: NameserverSet | undefined;
    hold: HoldKind | undefined;
  },
): readonly Finding[] {
  const { target, observed } = shown;
  switch (verdict) {
    case 'match':
    case 'unknown':
      return [];
    case 'foreign':
      return [FINDINGS.NS_FOREIGN(shown)];
    case 'not_delegated':
      return [FINDINGS.NOT_DELEGATED(shown)];
    case 'unregistered':
      return [FINDINGS.NOT_REGISTERED(shown)];
    case 'alias':
      return [FINDINGS.ALIAS(shown)];
    case 'mixed':
      return target === undefined ? [] : [FINDINGS.NS_MIXED({ ...shown, target })];
    case 'partial':
    case 'extra': {
      if (target === undefined) return [];
      const isMissing = target.some((name) => !observed.includes(name));
      const isExtra = observed.some((name) => !target.includes(name));
      return [
        ...(isMissing ? [FINDINGS.NS_MISSING({ ...shown, target })] : []),
        ...(isExtra ? [FINDINGS.NS_EXTRA({ ...shown, target })] : []),
      ];
    }
    default:
      return verdict satisfies never;
  }
}

function serversOf(servers: readonly ServerEvidence[]): readonly Name[] {
  return [...new Set(servers.map(({ server }) => server))].sort(compareNames);
}

/** Groups servers by their answer, in an order that does not depend on the order of the queries. */
function saidBy(servers: readonly ServerEvidence[]): readonly Said[] {
  const said: { kind: Statement['kind']; ns: readonly Name[]; by: ServerEvidence[] }[] = [];
  for (const server of servers) {
    const { kind, ns } = statementOf(server);
    const same = said.find((other) => isSame({ kind: other.kind, ns: new Set(other.ns) }, { kind, ns }));
    if (same === undefined) said.push({ kind, ns: [...ns].sort(compareNames), by: [server] });
    else same.by.push(server);
  }
  return said
    .map(({ kind, ns, by }) => ({ kind, ns, by: serversOf(by) }))
    .sort((a, b) => compareNames(a.by[0] as Name, b.by[0] as Name));
}

function whyNothing({ parent, walk, servers, failure }: Evidence): readonly Finding[] {
  if (failure !== undefined) return [failureFinding(failure)];
  const zone = parent ?? walk.at(-1)?.zone ?? ROOT;
  const has = (outcome: ServerEvidence['outcome']) => servers.some((server) => server.outcome === outcome);
  if (has('limit')) return [FINDINGS.VALIDATION_LIMIT(zone)];
  if (has('bogus')) return [FINDINGS.PARENT_BOGUS(zone)];
  const isLame = servers.length > 0 && servers.every(({ outcome }) => outcome === 'lame');
  return [isLame ? FINDINGS.PARENT_LAME(zone) : FINDINGS.PARENT_UNREACHABLE(zone)];
}

function failureFinding({ reason, zone }: WalkFailure): Finding {
  switch (reason) {
    case 'unreachable':
    case 'no_address':
      return FINDINGS.PARENT_UNREACHABLE(zone);
    case 'lame':
      return FINDINGS.PARENT_LAME(zone);
    case 'limit':
      return FINDINGS.WALK_LIMIT(zone);
    case 'loop':
      return FINDINGS.DELEGATION_LOOP(zone);
    case 'bogus':
      return FINDINGS.PARENT_BOGUS(zone);
    case 'validation_limit':
      return FINDINGS.VALIDATION_LIMIT(zone);
    case 'later':
      return FINDINGS.TRY_LATER(zone);
    default:
      return reason satisfies never;
  }
}

/** Returns the judgement for evidence that decides nothing, with the reason. */
export function unknown(findings: readonly Finding[]): Judgement {
  return {
    verdict: 'unknown',
    matched: undefined,
    observed: undefined,
    confirmations: 0,
    confirmed: false,
    byAnswer: false,
    soleWitness: false,
    oursShown: undefined,
    othersShown: undefined,
    staleDs: false,
    findings,
  };
}
