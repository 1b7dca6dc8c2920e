// Converts the domains of a name to the claims that a check evaluates.

import type { CheckedClaim, ClaimSet, NameClaims } from '../../checks/claims/name-claims.ts';
import { type NameHolder, wasHolder } from '../../checks/claims/name-holders.ts';
import type { Sighting } from '../../checks/claims/sightings.ts';
import type { CheckedStatus, CheckState } from '../../checks/delegation/check-state.ts';
import type { InnerDomain } from '../../checks/delegation/finding-text.ts';
import type { Verdict } from '../../checks/delegation/verdict.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import type { DnsMode, DomainStatus } from '../../zone/domain/domain-status.ts';
import { nameserverSetsOf } from '../../zone/publish/select-nameservers.ts';
import { nameserverChoice, provingSets } from '../domains/nameserver-sets.ts';
import { allOurNameservers, type PublishSettings } from '../postgres/answer-settings.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { StoredSet } from '../postgres/tables/schema.ts';

/** Returns undefined if domains in this status are not checked. */
export function checkedStatusOf({
  status,
  dnsMode,
  leaving,
  disabledBy,
}: {
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly leaving: boolean;
  readonly disabledBy: 'operator' | 'checker' | null;
}): CheckedStatus | undefined {
  if (leaving) return 'leaving';
  if (dnsMode !== 'managed') return undefined;
  if (status === 'disabled') return disabledBy === 'checker' ? 'ended' : undefined;
  return status === 'pending' || status === 'active' || status === 'moved' ? status : undefined;
}

/** The domains of one name. */
export type Claims = readonly [CheckedRow, ...CheckedRow[]];

export interface CheckedRow {
  readonly id: number;
  readonly name: string;
  readonly accountId: number;
  readonly seq: number;
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly leaving: boolean;
  readonly disabledBy: 'operator' | 'checker' | null;
  readonly createdAt: Date;
  readonly pendingSince: Date | null;
  readonly movedSince: Date | null;
  readonly leavingSince: Date | null;
  readonly endedAt: Date | null;
  readonly missCount: number;
  readonly firstMissAt: Date | null;
  readonly lastMissAt: Date | null;
  readonly conclusiveAt: Date | null;
  readonly conclusiveOurs: boolean | null;
  readonly conclusiveOthers: boolean | null;
  readonly takeoverSeenAt: Date | null;
  readonly witnessAt: Date | null;
  readonly seenNs: number | null;
  readonly nsChangedAt: readonly Date[] | null;
  readonly nsSets: readonly StoredSet[] | null;
  readonly byOperator: boolean;
  readonly approvedAhead: boolean;
  readonly delegatedNs: readonly string[] | null;
  readonly chosenNs: readonly string[] | null;
  readonly nextCheckAt: Date | null;
  readonly unknowns: number;
  readonly parentText: string;
  readonly ownDs: readonly string[] | null;
  readonly verdict: Verdict | null;
  readonly checkedAt: Date | null;
  readonly turnAskedAt: Date | null;
  readonly turnFrom: Date | null;
  readonly turnUntil: Date | null;
  readonly hasTxt: boolean;
  readonly settings: string | null;
  readonly holders: readonly NameHolder[];
  readonly nowMs: number;
  readonly sightings: readonly Sighting[];
  readonly takeovers: readonly number[];
}

export function nameClaims(
  rows: Claims,
  settings: PublishSettings,
  inner: ReadonlyMap<number, readonly InnerDomain[]>,
): NameClaims {
  const checked = rows.flatMap((row) => {
    const status = checkedStatusOf(row);
    if (status === undefined) return [];
    const inside = inner.get(row.id);
    return [{ ...checkedClaim(row, status, settings), ...(inside && { inner: inside }) }];
  });
  const external = rows.find((row) => row.status === 'active' && row.dnsMode === 'external' && !row.leaving);
  const [first] = rows;
  return {
    claims: checked,
    externalHolder: external && { id: external.id, accountId: external.accountId },
    alsoWaiting: rows.flatMap(({ status, accountId }) => (status === 'unverified' ? [accountId] : [])),
    ours: oursOf(settings),
    // A pool always has another set to change to.
    staticSetCount: settings.pool === undefined ? settings.nameserverSets.length : 0,
    heldBy: first.holders.map(({ accountId }) => accountId),
    takeovers: first.takeovers,
  };
}

let folded: { readonly settings: PublishSettings; readonly ours: ReadonlySet<Name> } | undefined;

/** Caches the last set of names, because nearly all checks have the same settings. */
function oursOf(settings: PublishSettings): ReadonlySet<Name> {
  if (folded?.settings !== settings)
    folded = { settings, ours: new Set(allOurNameservers(settings).map(foldCase)) };
  return folded.ours;
}

function checkedClaim(row: CheckedRow, status: CheckedStatus, settings: PublishSettings): CheckedClaim {
  const { id, accountId, byOperator, takeoverSeenAt, verdict, holders, nowMs } = row;
  return {
    id,
    accountId,
    state: stateOf(row, status),
    sets: setsOf(row, settings),
    ...(row.ownDs && { ownDs: new Set(row.ownDs.map(dsDigits)) }),
    byOperator,
    wasHolder: wasHolder(holders, accountId, nowMs),
    takeoverSeenAt: takeoverSeenAt?.getTime(),
    lastVerdict: verdict ?? undefined,
    unknowns: row.unknowns,
    plannedAt: row.nextCheckAt?.getTime(),
  };
}

/** Converts the text of a DS record, such as `12345 13 2 ABCD…` (RFC 4034 §5.1), to rdata in hexadecimal. */
function dsDigits(text: string): string {
  const [tag, algorithm, digestType, digest = ''] = text.split(' ');
  const fixed = Buffer.alloc(4);
  fixed.writeUInt16BE(Number(tag));
  fixed[2] = Number(algorithm);
  fixed[3] = Number(digestType);
  return fixed.toString('hex') + digest.toLowerCase();
}

function setsOf(row: CheckedRow, settings: PublishSettings): readonly ClaimSet[] {
  const sets = nameserverSetsOf(nameserverChoice(row), provingSets(row, settings));
  const exclusive = new Set(
    (row.nsSets ?? []).flatMap((set) => (set.exclusive ? [set.names.map(decodeNameColumn).join()] : [])),
  );
  return sets.map((set) => ({ names: set.map(foldCase), exclusive: exclusive.has(set.join()) }));
}

function stateOf(row: CheckedRow, status: CheckedStatus): CheckState {
  const { missCount, firstMissAt, lastMissAt, conclusiveAt, conclusiveOurs, conclusiveOthers } = row;
  const hasMissed = missCount > 0 && firstMissAt !== null && lastMissAt !== null;
  return {
    status,
    since: sinceOf(row, status).getTime(),
    misses: hasMissed
      ? { count: missCount, firstAt: firstMissAt.getTime(), lastAt: lastMissAt.getTime() }
      : undefined,
    conclusive:
      conclusiveAt === null || conclusiveOurs === null
        ? undefined
        : {
            at: conclusiveAt.getTime(),
            oursShown: conclusiveOurs,
            othersShown: conclusiveOthers === true,
          },
    witnessAt: row.witnessAt?.getTime(),
    steadiness:
      row.seenNs === null
        ? undefined
        : { seen: row.seenNs, changedAt: (row.nsChangedAt ?? []).map((at) => at.getTime()) },
  };
}

/** Returns the start of the status. For an active domain the value does not matter. */
function sinceOf(row: CheckedRow, status: CheckedStatus): Date {
  const since = {
    pending: row.pendingSince,
    active: null,
    moved: row.movedSince,
    leaving: row.leavingSince,
    ended: row.endedAt,
  }[status];
  return since ?? row.createdAt;
}
