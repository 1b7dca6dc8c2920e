// Converts the query of the URL to a request for the list of domains, and summarizes the delegation of a row.

export const STATUSES = ['active', 'pending', 'unverified', 'moved', 'disabled', 'banned'] as const;
export const MODES = ['managed', 'external'] as const;
export const ROLES = ['owner', 'admin', 'editor', 'viewer'] as const;
export const SORTS = ['name', '-name', '-created_at', 'created_at', 'status', 'next_check_at'] as const;
/** Statuses that require action. */
const OPEN_STATUSES = 'pending,unverified,moved,disabled';

/** Findings that can be filtered. */
export const FINDINGS = [
  'NOT_DELEGATED',
  'NOT_REGISTERED',
  'NS_FOREIGN',
  'NS_MISSING',
  'NS_EXTRA',
  'STALE_DS',
  'PARENT_UNREACHABLE',
  'PARENTS_DISAGREE',
  'TAKEOVER_WAITS',
  'TAKEOVER_SEEN',
  'NAME_IN_USE',
  'PREPARE',
  'GLUE_MISSING',
  'ANAME_TARGET_FAILS',
  'ANAME_TARGET_EMPTY',
] as const;

export const FILTERS = ['search', 'status', 'mode', 'finding', 'role'] as const;
/** Page size. The list is part of the first load, and rows are most of it. */
export const PAGE_ROWS = 25;

type Query = Readonly<Record<string, string>>;

/** Ignores unknown values, so that old links still work. */
export function domainQuery(query: Query) {
  const status = query.status === 'open' ? OPEN_STATUSES : oneOf(STATUSES, query.status);
  const search = query.search?.trim();
  return {
    ...(search && { search }),
    ...(status && { status }),
    ...(oneOf(MODES, query.mode) && { dns_mode: oneOf(MODES, query.mode) }),
    ...(oneOf(FINDINGS, query.finding) && { finding: oneOf(FINDINGS, query.finding) }),
    ...(oneOf(ROLES, query.role) && { role: oneOf(ROLES, query.role) }),
    sort: oneOf(SORTS, query.sort) ?? 'name',
  };
}

export function isFiltered(query: Query): boolean {
  return FILTERS.some((filter) => query[filter] !== undefined);
}

export type DelegationKind =
  | 'live'
  | 'verified'
  | 'unseen'
  | 'not-delegated'
  | 'partly'
  | 'elsewhere'
  | 'txt'
  | 'reason'
  | 'banned';

export interface DelegationLine {
  readonly kind: DelegationKind;
  /** Nameservers at the parent. */
  readonly servers: readonly string[];
  /** Reason why the domain is disabled. */
  readonly reason?: string;
}

/** Fields of a row that its delegation text depends on. */
interface Delegated {
  readonly status: string;
  readonly dns_mode: string;
  readonly current_ns?: readonly string[] | undefined;
  readonly svc_ns_sets: readonly (readonly string[])[];
  readonly status_reason?: { readonly message: string } | undefined;
}

export function delegationLine(row: Delegated): DelegationLine {
  const servers = row.current_ns ?? [];
  const kind = kindOf(row, servers);
  return { kind, servers, ...(kind === 'reason' && { reason: row.status_reason?.message ?? '' }) };
}

function kindOf(row: Delegated, servers: readonly string[]): DelegationKind {
  if (row.status === 'banned') return 'banned';
  if (row.status === 'disabled' && row.status_reason !== undefined) return 'reason';
  if (row.dns_mode === 'external') return row.status === 'active' ? 'verified' : 'txt';
  if (row.status === 'active') return 'live';
  if (row.current_ns === undefined) return 'unseen';
  if (servers.length === 0) return 'not-delegated';
  const ours = new Set(row.svc_ns_sets.flat());
  return servers.some((server) => ours.has(server)) ? 'partly' : 'elsewhere';
}

function oneOf<const T extends string>(known: readonly T[], value: string | undefined): T | undefined {
  return known.find((each) => each === value);
}
