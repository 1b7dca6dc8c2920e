// How much work one check may be (docs/rules.md "Limits of the resolver"): zone owners can trigger this work, so every
// amount is bounded.

export interface Limits {
  /** Packets that a check sends, repeated ones too. */
  readonly packets: number;
  /** Delegations that a check asks for; cached ones cost nothing. */
  readonly referrals: number;
  /** CNAMEs that are followed for the names of nameservers. */
  readonly cnames: number;
  readonly milliseconds: number;
  /** Nameservers of one zone that are kept at all, and addresses of each. */
  readonly namesPerZone: number;
  readonly addressesPerName: number;
  /** Addresses at which one question on the way is tried. */
  readonly addressesPerQuestion: number;
  /** Nameservers without glue that are looked up for one question (NXNS), and for the whole check. */
  readonly lookupsPerQuestion: number;
  readonly lookups: number;
  /** How deep look-ups nest: a nameserver's address that needs another nameserver's address, and so on. */
  readonly nesting: number;
  /** Addresses of the parent that are asked for the domain. */
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
