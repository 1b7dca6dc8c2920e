// The findings of a check. Each message tells the owner what is wrong and what to change at the registrar.

import type { Name } from '../../dns/name.ts';
import type { NameserverSet } from './check-state.ts';
import { type Finding, type FindingCode, finding, NOTHING_TO_CHANGE } from './finding.ts';
import {
  type InnerDomain,
  innerText,
  list,
  MOST_INNER,
  type NameserverTurn,
  nameservers,
  print,
  turnText,
} from './finding-text.ts';
import { PARENT_FINDINGS } from './parent-findings.ts';
import type { HoldKind } from './registrar-holds.ts';

interface Shown {
  readonly parent: Name;
  readonly observed: readonly Name[];
}

/** `target` is the set that the owner should use. Undefined if the domain has no set left. */
interface Delegation extends Shown {
  readonly target: NameserverSet | undefined;
}

/** The parent lists some of the fleet's servers. Without a target, PRESET_DELEGATION alone states what to change. */
interface OursShown extends Shown {
  readonly target: NameserverSet;
}

interface ApexOnly {
  /** True if a check has seen the nameservers at the registrar. */
  readonly isChecked: boolean;
  /** True if no operator has approved the domain. */
  readonly mayBeApproved: boolean;
  /** Undefined if no set is left that proves the domain. */
  readonly target: NameserverSet | undefined;
}

/** Explain why the registrar replaced the nameservers, and how the hold ends. */
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

export const FINDINGS = {
  NS_MISSING: ({ parent, observed, target }: OursShown) => {
    const names = target.filter((name) => !observed.includes(name));
    return finding(
      'NS_MISSING',
      `At your registrar, add the missing ${nameservers(names)}, so that exactly ${list(target)} are set. The zone ${print(parent)} currently lists ${list(observed)}.`,
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
  /** `hold` is the kind of hold that the names indicate. Undefined for another operator's nameservers. */
  NS_FOREIGN: ({ parent, observed, target, hold }: Delegation & { readonly hold?: HoldKind | undefined }) => {
    const remedy =
      hold === undefined
        ? `To use the domain here, replace them at your registrar with exactly ${wanted(target)}`
        : `${HOLDS[hold]}, then make sure that exactly ${wanted(target)} are set there`;
    return finding(
      'NS_FOREIGN',
      `This domain does not use the nameservers assigned to it: the zone ${print(parent)} lists ${list(observed)}. ${remedy}.`,
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
      `In the zone ${print(parent)} this domain is an alias of another name (CNAME or DNAME). The manager of that zone must replace the alias with NS records for exactly ${wanted(target)}.`,
    ),
  /** The DS may be correct while another operator serves the domain. It must be removed before the domain moves here. */
  STALE_DS: (ds: readonly Uint8Array[], oursShown: boolean) => {
    const tags = [...new Set(ds.map((rdata) => ((rdata[0] ?? 0) << 8) | (rdata[1] ?? 0)))];
    const remedy = `turn DNSSEC off or remove the DS records (key tags: ${tags.sort((a, b) => a - b).join(', ')})`;
    return finding(
      'STALE_DS',
      oursShown
        ? `At your registrar, ${remedy}: they do not match our nameservers. Until they are removed, many visitors cannot reach this domain.`
        : `Before you set our nameservers at your registrar, ${remedy} there: they do not match our nameservers, so many visitors could not reach this domain.`,
    );
  },
  PRESET_DELEGATION: (shown: readonly Name[], target: NameserverSet | undefined) =>
    finding(
      'PRESET_DELEGATION',
      `This domain uses our nameservers, but not the ones assigned to it. At your registrar, set exactly ${wanted(target)} instead of ${list(shown)}. Until then we answer for it only with its SOA and NS records.`,
      shown,
    ),
  NAME_IN_USE: (target: NameserverSet | undefined) =>
    finding(
      'NAME_IN_USE',
      `Another account uses this name here. It passes to your account when your registrar shows exactly ${wanted(target)}. From then on the records of this domain are answered.`,
    ),
  TAKEOVER_WAITS: () =>
    finding(
      'TAKEOVER_WAITS',
      `Your registrar shows your nameservers. Because another account uses this name here, a second check, at least a minute later, must see the same at every nameserver of the parent zone. ${NOTHING_TO_CHANGE}`,
    ),
  TAKEOVER_SEEN: (target: NameserverSet | undefined) =>
    finding(
      'TAKEOVER_SEEN',
      `Your registrar shows the nameservers assigned to another account here, and the next check will give that account the name. If this was not you, secure your account at the registrar now and set exactly ${wanted(target)} there.`,
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
          : [`If it shows other nameservers of this service, set exactly ${wanted(target)} there.`]),
        ...(mayBeApproved ? ['If the domain is already in use, ask the operator to approve it.'] : []),
      ].join(' '),
    );
  },
  NS_UNSTEADY: (
    changes: { readonly count: number; readonly isMore: boolean },
    target: NameserverSet | undefined,
  ) =>
    finding(
      'NS_UNSTEADY',
      `Within 24 hours the parent zone changed the nameservers of this domain ${changes.isMore ? 'at least ' : ''}${changes.count} times. Until they stop changing, some visitors are sent to other servers. Set exactly ${wanted(target)} at your registrar and do not change them again. If you did not make these changes, secure your account there and contact your registrar.`,
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
      'No nameserver set is left that could prove that this domain is yours. Your registrar showed each set before you added the domain, or the set belongs to another account that waits for this name. Do not use the nameservers shown here, because they may give the name to that account. Ask the operator to approve the domain.',
    ),
  PENDING_OVER: (target: NameserverSet | undefined) =>
    finding(
      'PENDING_OVER',
      `This domain was disabled because its nameservers were not set in time. Set exactly ${wanted(target)} at your registrar, then enable it again.`,
    ),
  CLAIM_DISPLACED: () =>
    finding(
      'CLAIM_DISPLACED',
      'This domain was disabled because too many accounts wait for this name, and it had waited longest without its nameservers at the registrar. Set them, then enable it again.',
    ),
  CAME_BACK: () =>
    finding(
      'CAME_BACK',
      `Your registrar shows your nameservers again, so this domain was enabled again automatically. ${NOTHING_TO_CHANGE}`,
    ),
  CLAIM_LOST: () =>
    finding(
      'CLAIM_LOST',
      'The parent zone now lists the nameservers of another account, so the name has passed to that account. Your records are kept here. If you did not change the nameservers, contact your registrar.',
    ),
  /** `value` is undefined if it has expired. */
  PREPARE: (host: Name, value: string | undefined) =>
    finding(
      'PREPARE',
      value === undefined
        ? `Optional: with a TXT record at your current DNS provider, all records are answered before you switch. Its value has expired: request a new one (verify), then add it at ${print(host)}.`
        : `Optional: add this TXT record at your current DNS provider first. All records are then answered before you switch: name ${print(host)}, value ${value}`,
    ),
  ...PARENT_FINDINGS,
} satisfies Record<FindingCode, (...args: never[]) => Finding>;

function wanted(target: NameserverSet | undefined): string {
  return target === undefined ? 'the nameservers that the operator gives you' : list(target);
}
