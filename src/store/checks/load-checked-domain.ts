// Loads a domain for a check: what is remembered of it, and what its delegation is judged by.

import { sql } from 'kysely';
import type { CheckedStatus, CheckState, Expected, Preset } from '../../checks/delegation/check-state.ts';
import type { Verdict } from '../../checks/delegation/verdict.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import type { DnsMode, DomainStatus, PresetKind } from '../../zone/domain/domain-status.ts';
import { nameserverSetsOf } from '../../zone/publish/select-nameservers.ts';
import { nameserverChoice } from '../domains/domain.ts';
import { decodePublishSettings, type PublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

export interface CheckedDomain {
  readonly id: number;
  readonly name: Name;
  readonly accountId: number;
  /** Saving the check compares this number: every change of the domain meanwhile has counted it up. */
  readonly seq: number;
  readonly state: CheckState;
  readonly expected: Expected;
  /** The verdict of the check before. */
  readonly lastVerdict: Verdict | undefined;
  /** How many checks in a row saw nothing, while the domain is pending. */
  readonly unknowns: number;
  /** The planned time of the next check: a check changes it, a claim does not. */
  readonly nextCheckAt: number | undefined;
  /** The zone that delegates the domain, as far as known; as in its column. */
  readonly parentText: string;
}

/** Undefined: the domain is gone, or in a status that is not checked. */
export async function loadCheckedDomain(db: Database, domainId: number): Promise<CheckedDomain | undefined> {
  const { rows } = await sql<CheckedRow>`
    select d.id, d.name, d.account_id as "accountId", c.seq, d.status, d.dns_mode as "dnsMode", d.leaving,
      d.created_at as "createdAt", d.pending_since as "pendingSince", d.moved_since as "movedSince",
      d.leaving_since as "leavingSince", c.miss_count as "missCount", c.first_miss_at as "firstMissAt",
      c.last_miss_at as "lastMissAt", c.conclusive_at as "conclusiveAt", c.conclusive_ours as "conclusiveOurs",
      d.preset, d.preset_taken as "presetTaken", d.delegated_ns as "delegatedNs", d.chosen_ns as "chosenNs",
      c.next_at as "nextCheckAt", c.unknowns, c.parent as "parentText", r.verdict, ${SETTINGS_TEXT} as settings
    from domains d join domain_checks c on c.domain_id = d.id left join check_runs r on r.id = c.last_run_id
    where d.id = ${domainId} and d.deleted_at is null and d.zone_id is not null`.execute(db);
  const [row] = rows;
  const status = row === undefined ? undefined : checkedStatusOf(row);
  if (row === undefined || status === undefined) return undefined;
  const { id, accountId, seq, parentText, verdict } = row;
  return {
    id,
    name: decodeNameColumn(row.name),
    accountId,
    seq,
    state: stateOf(row, status),
    expected: expectedOf(row, decodePublishSettings(row.settings)),
    lastVerdict: verdict ?? undefined,
    unknowns: row.unknowns,
    nextCheckAt: row.nextCheckAt?.getTime(),
    parentText,
  };
}

/** Undefined: a domain in this status is not checked. */
export function checkedStatusOf({
  status,
  dnsMode,
  leaving,
}: {
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly leaving: boolean;
}): CheckedStatus | undefined {
  if (leaving) return 'leaving';
  if (dnsMode !== 'managed') return undefined;
  return status === 'pending' || status === 'active' || status === 'moved' ? status : undefined;
}

interface CheckedRow {
  readonly id: number;
  readonly name: string;
  readonly accountId: number;
  readonly seq: number;
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly leaving: boolean;
  readonly createdAt: Date;
  readonly pendingSince: Date | null;
  readonly movedSince: Date | null;
  readonly leavingSince: Date | null;
  readonly missCount: number;
  readonly firstMissAt: Date | null;
  readonly lastMissAt: Date | null;
  readonly conclusiveAt: Date | null;
  readonly conclusiveOurs: boolean | null;
  readonly preset: PresetKind;
  readonly presetTaken: readonly (readonly string[])[];
  readonly delegatedNs: readonly string[] | null;
  readonly chosenNs: readonly string[] | null;
  readonly nextCheckAt: Date | null;
  readonly unknowns: number;
  readonly parentText: string;
  readonly verdict: Verdict | null;
  readonly settings: string | null;
}

function stateOf(row: CheckedRow, status: CheckedStatus): CheckState {
  const { missCount, firstMissAt, lastMissAt, conclusiveAt, conclusiveOurs } = row;
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
        : { at: conclusiveAt.getTime(), oursShown: conclusiveOurs },
    preset: presetOf(row),
  };
}

/** The start of the status; nothing depends on it for an active domain. */
function sinceOf(row: CheckedRow, status: CheckedStatus): Date {
  const since = {
    pending: row.pendingSince,
    active: null,
    moved: row.movedSince,
    leaving: row.leavingSince,
  }[status];
  return since ?? row.createdAt;
}

function presetOf({ preset, presetTaken }: CheckedRow): Preset {
  if (preset !== 'standing') return { kind: preset };
  return { kind: 'standing', taken: presetTaken.map((set) => set.map(decodeNameColumn)) };
}

function expectedOf(row: CheckedRow, { nameserverSets }: PublishSettings): Expected {
  return {
    sets: nameserverSetsOf(nameserverChoice(row), nameserverSets).map(foldSet),
    allSets: nameserverSets.map(foldSet),
  };
}

function foldSet(set: readonly Name[]): Name[] {
  return set.map(foldCase);
}
