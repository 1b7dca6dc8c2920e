// All finding codes of a child check, each with its severity, the place where it can be fixed, and the matching Zonemaster
// test case. The codes are part of the public API.

export const SEVERITIES = ['notice', 'warning', 'error'] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * Who can fix it: `registrar` is the domain's owner, in the delegation. `zone` is the operator of the domain's nameservers.
 * `operator` is the operator of this fleet, for faults of its own servers.
 */
export const PLACES = ['registrar', 'zone', 'operator'] as const;
export type Place = (typeof PLACES)[number];

interface ChildCodeRow {
  readonly severity: Severity;
  readonly place: Place;
  /** Zonemaster test case. Undefined if there is none. */
  readonly test?: string;
}

const row = (severity: Severity, place: Place, test?: string): ChildCodeRow => ({
  severity,
  place,
  ...(test !== undefined && { test }),
});

export const CHILD_CODES = {
  TOO_FEW_NAMES: row('error', 'registrar', 'delegation01'),
  IPV4_ONLY: row('notice', 'registrar', 'delegation01'),
  IPV6_ONLY: row('warning', 'registrar', 'delegation01'),
  SAME_ADDRESS: row('error', 'registrar', 'delegation02'),
  REFERRAL_OVER_512: row('notice', 'registrar', 'delegation03'),
  REFERRAL_OVER_1232: row('warning', 'registrar'),
  NAME_IS_ALIAS: row('error', 'registrar', 'delegation05'),
  NS_ONLY_AT_PARENT: row('error', 'registrar', 'delegation07'),
  NS_ONLY_IN_ZONE: row('notice', 'registrar', 'delegation07'),
  GLUE_MISSING: row('error', 'registrar', 'consistency05'),
  GLUE_DIFFERS: row('error', 'registrar', 'consistency05'),
  NS_WITHOUT_ADDRESS: row('error', 'registrar', 'nameserver06'),
  PRIVATE_ADDRESS: row('error', 'registrar', 'address01'),
  SERVER_SILENT: row('error', 'registrar', 'connectivity01'),
  SERVER_LAME: row('error', 'registrar', 'connectivity01'),
  ALL_IN_ONE_PREFIX: row('warning', 'registrar'),
  ALL_IN_ONE_AS: row('notice', 'registrar', 'connectivity03'),
  NS_SETS_DIFFER: row('warning', 'zone', 'consistency04'),
  SERIALS_DIFFER: row('warning', 'zone', 'consistency01'),
  SOA_REFRESH_LOW: row('notice', 'zone', 'zone02'),
  SOA_RETRY_NOT_BELOW_REFRESH: row('warning', 'zone', 'zone03'),
  SOA_RETRY_LOW: row('notice', 'zone', 'zone04'),
  SOA_EXPIRE_LOW: row('warning', 'zone', 'zone05'),
  SOA_MINIMUM_OUT_OF_RANGE: row('notice', 'zone', 'zone06'),
  TCP_REFUSED: row('error', 'zone', 'connectivity02'),
  EDNS_BROKEN: row('warning', 'zone', 'nameserver02'),
  UDP_TCP_DIFFER: row('warning', 'zone'),
  /** A limit ended the check before every query was sent. */
  CHILD_CHECK_CUT_SHORT: row('notice', 'zone'),
  /** Our own nameservers do not answer the worker. This never changes a status. */
  OUR_SERVERS_UNREACHABLE: row('error', 'operator'),
} as const satisfies Record<string, ChildCodeRow>;

export type ChildCode = keyof typeof CHILD_CODES;

export const CHILD_CODE_LIST = Object.keys(CHILD_CODES) as readonly ChildCode[];

/** Returns the Zonemaster test case that checks the same fault. */
export function testOf(code: ChildCode): string | undefined {
  const { test }: ChildCodeRow = CHILD_CODES[code];
  return test;
}
