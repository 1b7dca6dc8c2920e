// How much work one check may be (spec §7): zone owners choose what the resolver visits, so each of them is somebody's wish.

export interface Limits {
  /** All of a check, repeated ones too. */
  readonly packets: number;
  /** Delegations that were asked for; cached ones cost nothing. */
  readonly referrals: number;
  /** Links of the names of nameservers. */
  readonly cnames: number;
  readonly milliseconds: number;
  /** Of one zone: nameservers that are known at all, and addresses of each. */
  readonly namesPerZone: number;
  readonly addressesPerName: number;
  /** Addresses that one question on the way is tried at. */
  readonly addressesPerQuestion: number;
  /** Nameservers without glue that are looked up for one question (NXNS), and in all. */
  readonly lookupsPerQuestion: number;
  readonly lookups: number;
  /** A nameserver's address that needs a nameserver's address that needs … */
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
