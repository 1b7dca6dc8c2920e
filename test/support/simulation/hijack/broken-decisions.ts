// Decisions that break one rule each. The simulation that does not see it would prove nothing.

import type { NameClaims } from '../../../../src/checks/claims/name-claims.ts';
import type { Evidence } from '../../../../src/checks/delegation/evidence.ts';
import { HOUR } from '../virtual-time.ts';
import type { Violation } from './hijack-judge.ts';
import type { HijackOptions } from './hijack-simulation.ts';
import { DECISIONS, type Decisions } from './simulated-store.ts';

interface Broken extends Pick<HijackOptions, 'fleet' | 'decide' | 'sharesSets'> {
  readonly rule: string;
  /** Any of these is enough. */
  readonly seen: readonly Violation[];
}

const HIJACKED = ['hijacked', 'hijacked by a lie', 'two accounts hold the name'] as const;

/** The evidence, or the claims, are not what they were. */
function judging(
  changed: (name: NameClaims, evidence: Evidence) => readonly [NameClaims, Evidence],
): Partial<Decisions> {
  return {
    judgeName: (name, evidence, around) => DECISIONS.judgeName(...changed(name, evidence), around),
    claimsWithoutSet: (name, evidence) => DECISIONS.claimsWithoutSet(...changed(name, evidence)),
  };
}

export const BROKEN: readonly Broken[] = [
  { rule: 'a combination is given to several accounts', fleet: 'pool', seen: HIJACKED, sharesSets: true },
  {
    rule: 'one address of the parent is enough',
    fleet: 'pool',
    seen: ['hijacked by a lie'],
    decide: judging((name, evidence) => [
      name,
      { ...evidence, servers: evidence.servers.slice(0, 1), parentAddresses: 1 },
    ]),
  },
  {
    rule: 'a holder loses the name at the first check',
    fleet: 'pool',
    seen: ['taken at once'],
    decide: judging((name, evidence) => {
      const claims = name.claims.map((claim) => ({
        ...claim,
        takeoverSeenAt: evidence.finishedAt - 3_600_000,
      }));
      return [
        { ...name, claims },
        { ...evidence, parentAddresses: evidence.servers.length },
      ];
    }),
  },
  {
    rule: 'what is not known counts as a miss',
    fleet: 'pool',
    seen: ['moved too early'],
    decide: judging((name, evidence) => {
      const isSilent = evidence.servers.some(({ outcome }) => outcome === 'timeout');
      const servers = evidence.servers.map((server) => ({ ...server, outcome: 'nxdomain' as const, ns: [] }));
      return [name, isSilent ? { ...evidence, servers, parentAddresses: servers.length } : evidence];
    }),
  },
  {
    rule: 'misses need no time between them',
    fleet: 'pool',
    seen: ['moved too early'],
    decide: {
      judgeName: (name, evidence, around) =>
        DECISIONS.judgeName(name, evidence, {
          ...around,
          rules: { ...around.rules, movedAfterMs: around.rules.movedAfterMs / 8 },
        }),
    },
  },
  {
    rule: 'a match does not end a row of misses',
    fleet: 'pool',
    seen: ['moved too early'],
    decide: {
      judgeName: (name, evidence, around) => {
        const judged = DECISIONS.judgeName(name, evidence, around);
        const claims = judged.claims.map((each) => {
          const { claim, decision } = each;
          const isKept = decision.state.status === 'active' && decision.state.misses === undefined;
          const state = { ...decision.state, misses: claim.state.misses };
          return isKept ? { ...each, decision: { ...decision, state } } : each;
        });
        return { ...judged, claims };
      },
    },
  },
  {
    rule: 'a stale DS does not matter',
    fleet: 'pool',
    seen: ['active with a stale DS'],
    decide: judging((name, evidence) => [
      name,
      { ...evidence, servers: evidence.servers.map((server) => ({ ...server, ds: [] })) },
    ]),
  },
  {
    rule: 'a claim that waits excludes others',
    fleet: 'pool',
    seen: ['locked out'],
    decide: {
      mayClaim: (rivals, order) =>
        rivals.some(({ stage }) => stage === 'waiting')
          ? { kind: 'held' }
          : DECISIONS.mayClaim(rivals, order),
    },
  },
  {
    rule: 'a claim is answered whole whatever the parent shows',
    fleet: 'pool',
    seen: ['answered too long', 'answered although sighted'],
    decide: {
      answeredDomain: (domains, around) =>
        DECISIONS.answeredDomain(
          domains.map((domain) => ({ ...domain, open: true, othersSighted: false })),
          { ...around, sightedRights: [] },
        ),
    },
  },
  {
    rule: 'a name that is asked for is checked when its time comes, and no earlier',
    fleet: 'pool',
    seen: ['answered too long'],
    decide: { planAsked: (_, now) => ({ at: now + 6 * HOUR, isAgain: false }) },
  },
  { rule: 'sightings are not written', fleet: 'two', seen: HIJACKED, decide: { isNewSighting: () => false } },
  {
    rule: 'the rights of others do not hold',
    fleet: 'two',
    seen: HIJACKED,
    decide: {
      chooseStaticSets: (accountId, all, past) =>
        DECISIONS.chooseStaticSets(accountId, all, { ...past, rights: [], isContested: false }),
    },
  },
  {
    rule: 'whoever ever held the name is proved by any set',
    fleet: 'two',
    seen: HIJACKED,
    decide: { wasHolder: (holders, accountId) => holders.some((holder) => holder.accountId === accountId) },
  },
];
