// The findings of a check, from one closed list, each with a sentence that tells the owner what to change at the
// registrar. Public: the codes are part of the API, the sentences are not.

import { type Name, printName } from '../../dns/name.ts';
import type { NameserverSet } from './check-state.ts';

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
  /** The name was delegated to us before its owner created the domain. */
  'PRESET_DELEGATION',
  /** The walk to the parent, or every address of the parent, gave no usable answer. */
  'PARENT_UNREACHABLE',
  'PARENT_LAME',
  /** Some addresses of the parent fail; the others decide. */
  'PARENT_FAILS',
  'PARENTS_DISAGREE',
  /** The parent's servers hold the domain themselves, as ours do for every claim: that proves no delegation. */
  'OWN_ANSWER',
  /** Only one of several addresses said so. */
  'UNCONFIRMED',
  'WALK_LIMIT',
  'DELEGATION_LOOP',
  /** The breaker holds the status. */
  'MOVES_HELD',
] as const;
type CheckFindingCode = (typeof CHECK_FINDING_CODES)[number];

/** All codes. Those that the store writes stay until the domain is pending again. */
export const FINDING_CODES = [...CHECK_FINDING_CODES, 'CLAIM_LOST'] as const;
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

const NOTHING_TO_CHANGE =
  'There is nothing to change at your registrar for this; the check will be repeated.';

export const FINDINGS = {
  NS_MISSING: ({ parent, observed, target }: OursShown) => {
    const names = target.filter((name) => !observed.includes(name));
    return finding(
      'NS_MISSING',
      `At your registrar, add ${list(names)}, so that exactly ${list(target)} are set; the zone ${print(parent)} shows ${list(observed)}.`,
      names,
    );
  },
  NS_EXTRA: ({ observed, target }: OursShown) => {
    const names = observed.filter((name) => !target.includes(name));
    const keeps = observed.some((name) => target.includes(name));
    const rest = keeps ? `keep exactly ${list(target)}` : `exactly ${list(target)} must be set`;
    return finding('NS_EXTRA', `At your registrar, remove ${list(names)}; ${rest}.`, names);
  },
  NS_MIXED: ({ observed, target }: OursShown) => {
    const names = observed.filter((name) => !target.includes(name));
    const remove = names.length > 0 ? ` and remove ${list(names)}` : '';
    return finding(
      'NS_MIXED',
      `Name servers of several sets do not serve a domain together: at your registrar, set exactly ${list(target)}${remove}.`,
      names,
    );
  },
  NS_FOREIGN: ({ parent, observed, target }: Delegation) =>
    finding(
      'NS_FOREIGN',
      `The zone ${print(parent)} delegates this domain to ${list(observed)}, none of them ours. To use it here, at your registrar replace them with exactly ${wanted(target)}.`,
      observed,
    ),
  NOT_DELEGATED: ({ parent, target }: Delegation) =>
    finding(
      'NOT_DELEGATED',
      `The zone ${print(parent)} does not delegate this domain: at your registrar, set its name servers to exactly ${wanted(target)}.`,
    ),
  NOT_REGISTERED: ({ parent, target }: Delegation) =>
    finding(
      'NOT_REGISTERED',
      `This domain does not exist in the zone ${print(parent)}: register or renew it, or have its hold lifted, and at your registrar set its name servers to exactly ${wanted(target)}.`,
    ),
  ALIAS: ({ parent, target }: Delegation) =>
    finding(
      'ALIAS',
      `In the zone ${print(parent)} this domain is an alias (CNAME or DNAME): whoever edits that zone must replace the alias with NS records for exactly ${wanted(target)}.`,
    ),
  /** The DS may be right while the domain is elsewhere: it must be removed before the domain comes here. */
  STALE_DS: (ds: readonly Uint8Array[], oursShown: boolean) => {
    const tags = [...new Set(ds.map((rdata) => ((rdata[0] ?? 0) << 8) | (rdata[1] ?? 0)))];
    const remedy = `turn DNSSEC off or remove the DS records (key tags: ${tags.sort((a, b) => a - b).join(', ')})`;
    return finding(
      'STALE_DS',
      oursShown
        ? `At your registrar, ${remedy}: no key of ours matches them, and resolvers that validate refuse this domain until they are gone.`
        : `Before you set our name servers at your registrar, ${remedy} there: no key of ours matches them, and resolvers that validate would refuse this domain.`,
    );
  },
  PRESET_DELEGATION: (taken: readonly NameserverSet[], left: readonly NameserverSet[]) => {
    const names = [...new Set(taken.flat())];
    const remedy =
      left[0] === undefined
        ? `at your registrar, remove ${list(names)} until a check has seen that they are gone`
        : `at your registrar, set exactly ${list(left[0])} instead of ${list(names)}`;
    return finding(
      'PRESET_DELEGATION',
      `This domain was delegated to us before it was added to this account, and is not answered until it is plain that you may change that: ${remedy}, or ask for approval.`,
      names,
    );
  },
  PARENT_UNREACHABLE: (zone: Name) =>
    finding(
      'PARENT_UNREACHABLE',
      `No name server of the zone ${print(zone)} gave a usable answer. ${NOTHING_TO_CHANGE}`,
    ),
  PARENT_LAME: (zone: Name) =>
    finding(
      'PARENT_LAME',
      `The name servers of the zone ${print(zone)} that were asked do not serve it. ${NOTHING_TO_CHANGE}`,
    ),
  PARENT_FAILS: (parent: Name, servers: readonly Name[]) =>
    finding(
      'PARENT_FAILS',
      `Of the name servers of the zone ${print(parent)} that were asked, not every address gave a usable answer: ${list(servers)}. ${NOTHING_TO_CHANGE}`,
      servers,
    ),
  PARENTS_DISAGREE: (parent: Name) =>
    finding(
      'PARENTS_DISAGREE',
      `The name servers of the zone ${print(parent)} do not say the same of this domain, perhaps because a change is still on its way. ${NOTHING_TO_CHANGE}`,
    ),
  OWN_ANSWER: (parent: Name) =>
    finding(
      'OWN_ANSWER',
      `The name servers of the zone ${print(parent)} answer for this domain themselves, which proves no delegation: whoever runs that zone must delegate it with NS records there.`,
    ),
  UNCONFIRMED: (parent: Name) =>
    finding(
      'UNCONFIRMED',
      `Only one address of the name servers of the zone ${print(parent)} could say so; nothing changes until a second one does. ${NOTHING_TO_CHANGE}`,
    ),
  WALK_LIMIT: (zone: Name) =>
    finding(
      'WALK_LIMIT',
      `The way to this domain's delegation takes more questions or time than a check may spend; it ended at the zone ${print(zone)}, and whoever runs the zones from there on can make it shorter.`,
    ),
  DELEGATION_LOOP: (zone: Name) =>
    finding(
      'DELEGATION_LOOP',
      `Delegations below the zone ${print(zone)} lead to nothing but themselves, so that this domain's cannot be found; whoever runs the zones there must mend that.`,
    ),
  MOVES_HELD: () =>
    finding(
      'MOVES_HELD',
      `This domain keeps its status for now, because too many checks turned out differently at once. ${NOTHING_TO_CHANGE}`,
    ),
} satisfies Record<CheckFindingCode, (...args: never[]) => Finding>;

function finding(code: CheckFindingCode, message: string, names?: readonly Name[]): Finding {
  return names === undefined ? { code, message } : { code, names, message };
}

function wanted(target: NameserverSet | undefined): string {
  return target === undefined ? 'the name servers that are shown for it here' : list(target);
}

/** Prints `a`, `a and b`, `a, b and c`. */
function list(names: readonly Name[]): string {
  const printed = names.map(print);
  const last = printed.pop() ?? '';
  return printed.length === 0 ? last : `${printed.join(', ')} and ${last}`;
}

/** Prints a name without the final dot, as registrars show names. */
function print(name: Name): string {
  const text = printName(name);
  return text === '.' ? '. (the root)' : text.slice(0, -1);
}
