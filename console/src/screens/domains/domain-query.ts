// What the list of domains asks for, out of the query of its URL; and what one row says of its delegation.

export const STATUSES = ['active', 'pending', 'unverified', 'moved', 'disabled', 'banned'] as const;
export const MODES = ['managed', 'external'] as const;
export const ROLES = ['owner', 'admin', 'editor', 'viewer'] as const;
export const SORTS = ['name', '-name', '-created_at', 'created_at', 'status', 'next_check_at'] as const;
/** What somebody has to do something about. */
const OPEN_STATUSES = 'pending,unverified,moved,disabled';

/** The findings that people look for. */
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
/** The whole list comes with the first load, of which rows are the largest part. */
export const PAGE_ROWS = 25;

type Query = Readonly<Record<string, string>>;

/** A value that the list does not know is left out: an old link still opens. */
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
  /** Of nameservers: those that the parent names. */
  readonly servers: readonly string[];
  /** Of a disabled domain. */
  readonly reason?: string;
}

/** Of a row, what its line is made of. */
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
