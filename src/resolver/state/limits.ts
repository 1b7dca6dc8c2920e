// Limits of the work of one check (docs/rules.md "Limits of the resolver"). Zone owners can trigger this work, so every
// amount is limited.

export interface Limits {
  /** Packets that a check sends, including retries. */
  readonly packets: number;
  /** Delegations that a check queries. Cached ones are free. */
  readonly referrals: number;
  /** CNAMEs followed for the names of nameservers. */
  readonly cnames: number;
  readonly milliseconds: number;
  /** Nameservers kept per zone, and addresses per nameserver. */
  readonly namesPerZone: number;
  readonly addressesPerName: number;
  /** Addresses at which one query of the walk is tried. */
  readonly addressesPerQuestion: number;
  /** Nameservers without glue that are looked up for one query (NXNS), and for the whole check. */
  readonly lookupsPerQuestion: number;
  readonly lookups: number;
  /** Maximum nesting of lookups: a nameserver's address that requires another nameserver's address, and so on. */
  readonly nesting: number;
  /** Addresses of the parent that are queried for the domain. */
  readonly parentAddresses: number;
}

export const DEFAULT_LIMITS: Limits = {
  packets: 60,
  referrals: 20,
  cnames: 8,
  milliseconds: 15_000,
  namesPerZone: 16,
  addressesPerName: 8,
  addressesPerQuestion: 6,
  lookupsPerQuestion: 4,
  lookups: 30,
  nesting: 6,
  parentAddresses: 6,
};
