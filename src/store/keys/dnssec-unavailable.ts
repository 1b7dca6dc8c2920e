// A signed zone cannot be written here and now.

export const DNSSEC_UNAVAILABLE = 'DnssecUnavailable';

/** Nothing was written: a signed zone is never written unsigned. */
export class DnssecUnavailable extends Error {
  override readonly name = DNSSEC_UNAVAILABLE;
}
