// The kinds of answers that an image gives.

/** Kinds without a zone to answer from are last. */
export const FOUND = {
  ANSWER: 0,
  NODATA: 1,
  NXDOMAIN: 2,
  REFERRAL: 3,
  YXDOMAIN: 4,
  REFUSED: 5,
  /** The zone belongs to the fleet and is not served. */
  NOT_SERVED: 6,
  /** It cannot be proven that a name does not exist. */
  FAILED: 7,
  /** The zone is an expired copy of a primary's. */
  EXPIRED: 8,
  /** Only peers may read the zone. */
  PRIVATE: 9,
} as const;
export type FoundKind = (typeof FOUND)[keyof typeof FOUND];
