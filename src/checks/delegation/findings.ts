// The findings of a check, from one closed list, each with a sentence that tells the owner what is wrong and what to
// change at the registrar. Public: the codes are part of the API, the sentences are not.

import type { Name } from '../../dns/name.ts';
import type { NameserverSet } from './check-state.ts';
import type { Need } from './evidence.ts';
import {
  type InnerDomain,
  innerText,
  list,
  MOST_INNER,
  type NameserverTurn,
  nameservers,
  print,
  type Said,
  saidText,
  seenText,
  turnText,
} from './finding-text.ts';
import type { HoldKind } from './registrar-holds.ts';
import type { Seen, VoiceView } from './seen.ts';

/** The codes that a check writes anew each time. */
const CHECK_FINDING_CODES = [
  /** Names of the set are not at the parent. */
  'NS_MISSING',
  /** The parent has names besides the set. */
  'NS_EXTRA',
  /** Names of several sets of ours. */
  'NS_MIXED',
  'NS_FOREIGN',
  'NOT_DELEGATED',
  'NOT_REGISTERED',
  'ALIAS',
  'STALE_DS',
  /** The parent names servers of ours that are not this domain's. */
  'PRESET_DELEGATION',
  /** Another account holds the name. */
  'NAME_IN_USE',
  /** The parent showed this domain's set once: a second check decides. */
  'TAKEOVER_WAITS',
  /** The parent shows another account's set. */
  'TAKEOVER_SEEN',
  /** The parent's delegation changed often within a day. */
  'NS_UNSTEADY',
  /** Other accounts have domains inside this one, which its records do not delegate. */
  'INNER_DELEGATED',
  /** Every set that this domain could have was shown before, or belongs to another account. */
  'SETS_SPENT',
  /** The time of a pending domain is over. */
  'PENDING_OVER',
  /** The domain came back by itself. */
  'CAME_BACK',
  /** Another claim took the place of this one among those that may wait for the name. */
  'CLAIM_DISPLACED',
  /** The walk to the parent, or every address of the parent, gave no usable answer. */
  'PARENT_UNREACHABLE',
  'PARENT_LAME',
  /** The parent, or a zone above it, is not signed as DNSSEC wants it. */
  'PARENT_BOGUS',
  'VALIDATION_LIMIT',
  /** Some addresses of the parent fail; the others decide. */
  'PARENT_FAILS',
  'PARENTS_DISAGREE',
  /** The parent's servers refer to the domain with AA set: they count as referrals. */
  'PARENT_SETS_AA',
  /** Some of the parent's servers answer only over TCP, without EDNS or in lower case. */
  'PARENT_AWKWARD',
  /** The parent's servers hold the domain too, and show that the parent delegates it. */
  'PARENT_HOLDS_CHILD',
  /** The parent's servers hold the domain themselves, as ours do for every claim: that proves no delegation. */
  'OWN_ANSWER',
  /** Only one of several addresses said so. */
  'UNCONFIRMED',
  'WALK_LIMIT',
  'DELEGATION_LOOP',
  /** The check took long while many others did: it ended early. */
  'TRY_LATER',
  /** The breaker holds the status. */
  'MOVES_HELD',
  /** Our trust anchors do not fit the root: moves wait. */
  'ROOT_FAULT',
  /** Observers elsewhere do not see what would change the status. */
  'VANTAGES_DISAGREE',
  /** Too few of them answered. */
  'VANTAGES_AWAY',
] as const;

/**
 * All codes. CLAIM_LOST, which the store writes, stays until the domain is pending again. NS_TURN, PREPARE and APEX_ONLY depend on
 * the time, on the offer and on what is served, and are never stored.
 */
export const FINDING_CODES = [
  ...CHECK_FINDING_CODES,
  'CLAIM_LOST',
  'NS_TURN',
  'PREPARE',
  'APEX_ONLY',
] as const;
export type FindingCode = (typeof FINDING_CODES)[number];

export interface Finding {
  readonly code: FindingCode;
  /** The names that the sentence is about, if it is about names. */
  readonly names?: readonly Name[];
  readonly message: string;
}

interface Shown {
  readonly parent: Name;
  readonly observed: readonly Name[];
}

/** `target`: the set that the owner should set; undefined when every set was taken off the domain. */
interface Delegation extends Shown {
  readonly target: NameserverSet | undefined;
}

/** The parent names some of our servers: without a target PRESET_DELEGATION alone says what to change. */
interface OursShown extends Shown {
  readonly target: NameserverSet;
}

interface ApexOnly {
  /** True if a check has seen what the registrar shows. */
  readonly isChecked: boolean;
  /** True if no operator has approved the domain. */
  readonly mayBeApproved: boolean;
  /** Undefined if no set is left that proves the domain. */
  readonly target: NameserverSet | undefined;
}

/** Ends the sentences that ask the owner for nothing. True of the checks of workers only. */
export const WE_CHECK_AGAIN = 'we check again automatically';
const NOTHING_TO_CHANGE = `There is nothing to change at your registrar for this; ${WE_CHECK_AGAIN}.`;

/** Why the registrar replaced the nameservers, and what ends the hold. */
const HOLDS: Readonly<Record<HoldKind, string>> = {
  verification:
    'Their names indicate that your registrar has replaced the nameservers because the owner has not confirmed the e-mail address. Follow the link in the message that the registrar sent to this address, or request a new message at your registrar',
  suspension:
    'Their names indicate that your registrar has replaced the nameservers because it has suspended the domain. Ask your registrar for the reason and resolve it',
  expiry:
    'Their names indicate that your registrar has replaced the nameservers because the registration has expired. Renew the domain at your registrar',
  parking:
    'Their names indicate that the domain is parked, as registrars do with domains that are new, unpaid or expired. Check at your registrar that the domain is paid and end the parking',
};

const NEED_TEXTS: Readonly<Record<Need, string>> = {
  tcp: 'over TCP',
  no_edns: 'without EDNS',
  lower_case: 'in lower case',
};

export const FINDINGS = {
  NS_MISSING: ({ parent, observed, target }: OursShown) => {
    const names = target.filter((name) => !observed.includes(name));
    return finding(
      'NS_MISSING',
      `At your registrar, add the missing ${nameservers(names)}, so that exactly ${list(target)} are set. At the moment the zone ${print(parent)} lists ${list(observed)}.`,
      names,
    );
  },
  NS_EXTRA: ({ observed, target }: OursShown) => {
    const names = observed.filter((name) => !target.includes(name));
    const keeps = observed.some((name) => target.includes(name));
    const rest = keeps ? `keep exactly ${list(target)}` : `exactly ${list(target)} must be set`;
    return finding('NS_EXTRA', `At your registrar, remove the ${nameservers(names)}; ${rest}.`, names);
  },
  NS_MIXED: ({ observed, target }: OursShown) => {
    const names = observed.filter((name) => !target.includes(name));
    const remove = names.length > 0 ? ` and remove ${list(names)}` : '';
    return finding(
      'NS_MIXED',
      `The nameservers of this domain belong to several sets, which do not work together. At your registrar, set exactly ${list(target)}${remove}.`,
      names,
    );
  },
  /** `hold`: the kind of hold that the names indicate; undefined for nameservers of any other operator. */
  NS_FOREIGN: ({ parent, observed, target, hold }: Delegation & { readonly hold?: HoldKind | undefined }) => {
    const remedy =
      hold === undefined
        ? `To use the domain here, replace them at your registrar with exactly ${wanted(target)}`
        : `${HOLDS[hold]}, then make sure that exactly ${wanted(target)} are set there`;
    return finding(
      'NS_FOREIGN',
      `This domain uses other nameservers than its own here: the zone ${print(parent)} lists ${list(observed)}. ${remedy}.`,
      observed,
    );
  },
  NOT_DELEGATED: ({ parent, target }: Delegation) =>
    finding(
      'NOT_DELEGATED',
      `The zone ${print(parent)} lists no nameservers for this domain. At your registrar, set exactly ${wanted(target)}.`,
    ),
  NOT_REGISTERED: ({ parent, target }: Delegation) =>
    finding(
      'NOT_REGISTERED',
      `This domain does not exist in the zone ${print(parent)}: it is not registered, has expired, or is on hold. Register or renew it, or ask your registrar about the hold, and set its nameservers there to exactly ${wanted(target)}.`,
    ),
  ALIAS: ({ parent, target }: Delegation) =>
    finding(
      'ALIAS',
      `In the zone ${print(parent)} this domain is an alias of another name (CNAME or DNAME). Whoever manages that zone must replace the alias with NS records for exactly ${wanted(target)}.`,
    ),
  /** The DS may be right while the domain is elsewhere: it must be removed before the domain comes here. */
  STALE_DS: (ds: readonly Uint8Array[], oursShown: boolean) => {
    const tags = [...new Set(ds.map((rdata) => ((rdata[0] ?? 0) << 8) | (rdata[1] ?? 0)))];
    const remedy = `turn DNSSEC off or remove the DS records (key tags: ${tags.sort((a, b) => a - b).join(', ')})`;
    return finding(
      'STALE_DS',
      oursShown
        ? `At your registrar, ${remedy}: they do not belong to our nameservers, and until they are gone, many visitors cannot reach this domain.`
        : `Before you set our nameservers at your registrar, ${remedy} there: they do not belong to our nameservers, and many visitors could not reach this domain.`,
    );
  },
  PRESET_DELEGATION: (shown: readonly Name[], target: NameserverSet | undefined) =>
    finding(
      'PRESET_DELEGATION',
      `This domain points at nameservers of ours, but not at yours: at your registrar, set exactly ${wanted(target)} instead of ${list(shown)}. Until then we answer for it only with its SOA and NS records.`,
      shown,
    ),
  NAME_IN_USE: (target: NameserverSet | undefined) =>
    finding(
      'NAME_IN_USE',
      `Another account uses this name here. It becomes yours when your registrar shows exactly ${wanted(target)}; from then on the records of this domain are answered.`,
    ),
  TAKEOVER_WAITS: () =>
    finding(
      'TAKEOVER_WAITS',
      `Your registrar shows your nameservers. Because another account uses this name here, a second check must see the same at every nameserver of the zone above, at least a minute later. ${NOTHING_TO_CHANGE}`,
    ),
  TAKEOVER_SEEN: (target: NameserverSet | undefined) =>
    finding(
      'TAKEOVER_SEEN',
      `Your registrar shows the nameservers of another account here, and the name passes to it with the next check. If this was not you, secure your account at the registrar now and set exactly ${wanted(target)} there.`,
    ),
  NS_TURN: (turn: NameserverTurn) => finding('NS_TURN', turnText(turn)),
  APEX_ONLY: ({ isChecked, mayBeApproved, target }: ApexOnly) => {
    const until = isChecked
      ? `until your registrar shows exactly ${wanted(target)}`
      : 'until a first check has seen which nameservers your registrar shows';
    return finding(
      'APEX_ONLY',
      [
        `At most the SOA and NS records of this domain are answered${target === undefined ? '' : ` ${until}`}.`,
        ...(isChecked || target === undefined
          ? []
          : [`If it shows other nameservers of ours, set exactly ${wanted(target)} there.`]),
        ...(mayBeApproved ? ['If the domain is in use already, ask the operator to approve it.'] : []),
      ].join(' '),
    );
  },
  NS_UNSTEADY: (
    changes: { readonly count: number; readonly isMore: boolean },
    target: NameserverSet | undefined,
  ) =>
    finding(
      'NS_UNSTEADY',
      `Within 24 hours the zone above this domain changed its nameservers ${changes.isMore ? 'at least ' : ''}${changes.count} times. While they change, some visitors are sent elsewhere: set exactly ${wanted(target)} at your registrar and leave them. If you did not change them, secure your account there and ask your registrar.`,
    ),
  INNER_DELEGATED: (inner: readonly InnerDomain[]) =>
    finding(
      'INNER_DELEGATED',
      innerText(inner),
      inner.slice(0, MOST_INNER).map(({ name }) => name),
    ),
  SETS_SPENT: () =>
    finding(
      'SETS_SPENT',
      'No nameserver set is left that could prove this domain: each was shown by your registrar before you added the domain, or belongs to another account that waits for this name. Do not set the nameservers that are shown here, since they may bring the name to that account: ask the operator for approval.',
    ),
  PENDING_OVER: (target: NameserverSet | undefined) =>
    finding(
      'PENDING_OVER',
      `This domain waited too long for its nameservers and was disabled. Set exactly ${wanted(target)} at your registrar, then enable it again.`,
    ),
  CLAIM_DISPLACED: () =>
    finding(
      'CLAIM_DISPLACED',
      'Many accounts wait for this name, and this domain waited longest without its nameservers at the registrar, so it was disabled. Enable it again when you have set them.',
    ),
  CAME_BACK: () =>
    finding(
      'CAME_BACK',
      `Your registrar shows your nameservers again, so this domain came back by itself. ${NOTHING_TO_CHANGE}`,
    ),
  CLAIM_LOST: () =>
    finding(
      'CLAIM_LOST',
      'The zone above this domain now names the nameservers of another account, so the name is that account’s. Your records are kept here. If this was not you, ask your registrar.',
    ),
  /** `value`: undefined when it has expired. */
  PREPARE: (host: Name, value: string | undefined) =>
    finding(
      'PREPARE',
      value === undefined
        ? `Optional: a TXT record at your present DNS provider lets us answer all records before you switch. Its value has expired: ask for a fresh one (verify), then add it at ${print(host)}.`
        : `Optional: add this TXT record at your present DNS provider first, then all records are answered before you switch: name ${print(host)}, value ${value}`,
    ),
  PARENT_UNREACHABLE: (zone: Name) =>
    finding(
      'PARENT_UNREACHABLE',
      `We could not check this domain, because no nameserver of the zone ${print(zone)} gave a usable answer. ${NOTHING_TO_CHANGE}`,
    ),
  PARENT_LAME: (zone: Name) =>
    finding(
      'PARENT_LAME',
      `We could not check this domain, because the nameservers of the zone ${print(zone)} that we asked do not serve that zone. ${NOTHING_TO_CHANGE}`,
    ),
  PARENT_BOGUS: (zone: Name) =>
    finding(
      'PARENT_BOGUS',
      `We could not check this domain, because the signatures (DNSSEC) of the zone ${print(zone)} are wrong or missing, so its answers may be forged. ${NOTHING_TO_CHANGE}`,
    ),
  VALIDATION_LIMIT: (zone: Name) =>
    finding(
      'VALIDATION_LIMIT',
      `We could not check this domain: to verify the signatures (DNSSEC) of the zone ${print(zone)} takes more work than a check may do. Whoever manages that zone can reduce its keys and signatures.`,
    ),
  PARENT_FAILS: (parent: Name, servers: readonly Name[]) =>
    finding(
      'PARENT_FAILS',
      `Some nameservers of the zone ${print(parent)} gave no usable answer at one of their addresses or at all: ${list(servers)}. ${NOTHING_TO_CHANGE}`,
      servers,
    ),
  PARENTS_DISAGREE: (parent: Name, said: readonly Said[]) =>
    finding(
      'PARENTS_DISAGREE',
      `The nameservers of the zone ${print(parent)} give different answers for this domain, perhaps because a recent change has not reached all of them yet: ${said.map(saidText).join('; ')}. ${NOTHING_TO_CHANGE}`,
    ),
  PARENT_SETS_AA: (parent: Name) =>
    finding(
      'PARENT_SETS_AA',
      `The nameservers of the zone ${print(parent)} mark the delegation of this domain as an answer of their own (AA); we read it as a delegation, as resolvers do. There is nothing to change at your registrar for this.`,
    ),
  PARENT_AWKWARD: (parent: Name, servers: readonly Name[], needs: readonly Need[]) =>
    finding(
      'PARENT_AWKWARD',
      `Some nameservers of the zone ${print(parent)} did not answer an ordinary query. They answered ${needs.map((need) => NEED_TEXTS[need]).join(' or ')}: ${list(servers)}. There is nothing to change at your registrar for this.`,
      servers,
    ),
  PARENT_HOLDS_CHILD: (parent: Name) =>
    finding(
      'PARENT_HOLDS_CHILD',
      `The nameservers of the zone ${print(parent)} also hold a zone of this domain, and answer from it instead of referring to its nameservers; that zone’s own NS records were compared. Whoever manages those nameservers should remove the zone of this domain there, so that visitors reach ours.`,
    ),
  OWN_ANSWER: (parent: Name) =>
    finding(
      'OWN_ANSWER',
      `The nameservers of the zone ${print(parent)} answer for this domain themselves, so we cannot see whether it was delegated to us. Whoever manages that zone must delegate this domain with NS records there.`,
    ),
  UNCONFIRMED: (parent: Name) =>
    finding(
      'UNCONFIRMED',
      `So far only one nameserver address of the zone ${print(parent)} shows this; the status changes when a second one shows the same. ${NOTHING_TO_CHANGE}`,
    ),
  WALK_LIMIT: (zone: Name) =>
    finding(
      'WALK_LIMIT',
      `We could not check this domain: to find its nameservers takes more questions or time than a check may use. The check stopped at the zone ${print(zone)}; whoever manages the zones from there on can shorten the way.`,
    ),
  DELEGATION_LOOP: (zone: Name) =>
    finding(
      'DELEGATION_LOOP',
      `We could not check this domain: below the zone ${print(zone)}, nameservers refer to each other in a circle. Whoever manages the zones there must correct that.`,
    ),
  TRY_LATER: (zone: Name) =>
    finding(
      'TRY_LATER',
      `We ended this check early: the nameservers of the zone ${print(zone)} took long to answer while we had many slow checks to make. ${NOTHING_TO_CHANGE}`,
    ),
  MOVES_HELD: () =>
    finding(
      'MOVES_HELD',
      `This domain keeps its status for now, because the checks of unusually many domains changed at the same time. ${NOTHING_TO_CHANGE}`,
    ),
  ROOT_FAULT: () =>
    finding(
      'ROOT_FAULT',
      `This domain keeps its status for now, because we cannot verify the signatures of the DNS root at the moment. ${NOTHING_TO_CHANGE}`,
    ),
  VANTAGES_DISAGREE: (parent: Name | undefined, here: Seen, views: readonly VoiceView[]) => {
    const seen = views.filter(({ kind }) => kind !== 'nothing');
    const zone = parent === undefined ? 'above it' : print(parent);
    return finding(
      'VANTAGES_DISAGREE',
      `This domain keeps its status for now: before a status changes we look at the zone ${zone} from several places, and they do not see the same. From here: ${seenText(here)}${seen.map((view) => `; from ${view.label}: ${seenText(view)}`).join('')}. A recent change may not have reached every nameserver of that zone yet. ${NOTHING_TO_CHANGE}`,
    );
  },
  VANTAGES_AWAY: () =>
    finding(
      'VANTAGES_AWAY',
      `This domain keeps its status for now: before a status changes we look from several places, and too few of them could answer. ${NOTHING_TO_CHANGE}`,
    ),
} satisfies Record<FindingCode, (...args: never[]) => Finding>;

function finding(code: FindingCode, message: string, names?: readonly Name[]): Finding {
  return names === undefined ? { code, message } : { code, names, message };
}

function wanted(target: NameserverSet | undefined): string {
  return target === undefined ? 'the nameservers that the operator names for it' : list(target);
}
