// The TTLs of records without one of their own: $TTL (RFC 2308 §4), or the previous record's (RFC 1035 §5.1).

import { TYPE } from '../type-codes.ts';
import type { OpenFile } from './open-file.ts';
import { MAX_TTL_SECONDS, type RecordHead } from './read-record-head.ts';
import type { ZoneFileOptions } from './zone-file.ts';
import type { Place } from './zone-file-problems.ts';

export class RecordTtls {
  readonly #lineByLine: ZoneFileOptions['lineByLine'];
  #default: number | undefined;
  #defaultFailed = false;
  #last: number | undefined;

  constructor({ defaultTtlSeconds, lineByLine }: ZoneFileOptions) {
    this.#default = defaultTtlSeconds;
    this.#lineByLine = lineByLine;
  }

  /** Sets the TTL of $TTL; undefined if it is invalid. */
  setDefault(seconds: number | undefined): void {
    if (seconds !== undefined) this.#default = seconds;
    this.#defaultFailed = seconds === undefined && this.#lineByLine !== undefined;
  }

  /** Remembers the TTL of a record that has a problem. */
  pass({ ttl }: RecordHead): void {
    this.#last = ttl ?? this.#last;
  }

  /** Returns undefined if the $TTL above the record is invalid, which is a problem of the record. */
  ttlOf(
    { ttl, type }: RecordHead,
    rdata: Uint8Array,
    place: Place,
    { problems }: OpenFile,
  ): number | undefined {
    if (ttl === undefined && this.#defaultFailed) {
      problems.add(place, 'the record has no TTL of its own, and the $TTL above it cannot be read', 'ttl');
      return undefined;
    }
    let seconds = ttl ?? this.#default ?? this.#last;
    if (seconds === undefined && type === TYPE.SOA) {
      const minimum = new DataView(rdata.buffer, rdata.byteOffset).getUint32(rdata.length - 4);
      seconds = Math.min(minimum, MAX_TTL_SECONDS); // RFC 1035 §3.3.13
    }
    seconds ??= this.#lineByLine?.ttlSeconds;
    // an earlier problem may be the cause; report a missing TTL only once
    if (seconds === undefined && problems.list.length === 0) {
      problems.add(place, 'the record has no TTL; neither $TTL nor an earlier record specifies one', 'ttl');
    }
    this.#last = seconds;
    return seconds ?? 0;
  }
}
