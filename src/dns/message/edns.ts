// The OPT pseudo-record (RFC 6891): its fields, its options and their codes. The extended rcode is part of the
// message's rcode.

import { WireError } from '../errors.ts';

interface EdnsOption {
  readonly code: number;
  readonly value: Uint8Array;
}

export interface Edns {
  readonly udpPayloadSize: number;
  readonly version: number;
  readonly dnssecOk: boolean;
  readonly options: readonly EdnsOption[];
}

export const EDNS_OPTION = {
  NSID: 3, // RFC 5001
  CLIENT_SUBNET: 8, // RFC 7871
  EXPIRE: 9, // RFC 7314
  COOKIE: 10, // RFC 7873
  TCP_KEEPALIVE: 11, // RFC 7828
  PADDING: 12, // RFC 7830
  EXTENDED_ERROR: 15, // RFC 8914
  ZONEVERSION: 19, // RFC 9660
} as const;

/** Answers are padded to a multiple of this length (RFC 8467 §4.1). */
export const PADDING_BLOCK_OCTETS = 468;

/** Extended DNS error codes, RFC 8914 §4. */
export const EXTENDED_ERROR = {
  OTHER: 0,
  NOT_READY: 14,
  PROHIBITED: 18,
  NOT_AUTHORITATIVE: 20,
  INVALID_DATA: 24,
} as const;

/** Octets of an OPT record without options: root owner, type, class, TTL, RDLENGTH. */
export const OPT_OCTETS = 11;
/** Maximum size of a UDP message that servers accept and send. Larger ones could be fragmented. */
export const UDP_PAYLOAD_OCTETS = 1232;
export const DNSSEC_OK = 0x8000; // RFC 3225 §3

/** Reads the options in the rdata of an OPT record. Throws WireError if one exceeds it. */
export function decodeOptions(rdata: Uint8Array): EdnsOption[] {
  const options: EdnsOption[] = [];
  let at = 0;
  while (at < rdata.length) {
    if (at + 4 > rdata.length) throw new WireError('an EDNS option is truncated');
    const code = ((rdata[at] as number) << 8) | (rdata[at + 1] as number);
    const length = ((rdata[at + 2] as number) << 8) | (rdata[at + 3] as number);
    at += 4;
    if (at + length > rdata.length) throw new WireError('an EDNS option exceeds its record');
    options.push({ code, value: rdata.slice(at, at + length) });
    at += length;
  }
  return options;
}

/** Returns the TTL field of an OPT record: upper rcode bits, version, flags (RFC 6891 §6.1.3). */
export function optTtl(rcode: number, version: number, dnssecOk: boolean): number {
  return (((rcode >> 4) << 24) | (version << 16) | (dnssecOk ? DNSSEC_OK : 0)) >>> 0;
}
