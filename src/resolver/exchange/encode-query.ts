// Encodes a query: RD=0 for an authoritative server, RD=1 for a resolver, and an OPT record with DO (RFC 3225) unless the
// server is known to reject EDNS. The id is set when the query is sent.

import { DNSSEC_OK, OPT_OCTETS, optTtl } from '../../dns/message/edns.ts';
import { HEADER_OCTETS } from '../../dns/message/header.ts';
import type { Name } from '../../dns/name.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';

/** Largest acceptable reply. Replies of this size are not fragmented; fragments could be forged (RFC 9715 §3). */
const UDP_PAYLOAD_OCTETS = 1232;
const QUESTION_TAIL_OCTETS = 4;
const RECURSION_DESIRED = 1;

export function encodeQuery(name: Name, type: number, edns: boolean, recursive = false): Uint8Array {
  const end = HEADER_OCTETS + name.length + QUESTION_TAIL_OCTETS;
  const query = new Uint8Array(end + (edns ? OPT_OCTETS : 0));
  if (recursive) query[2] = RECURSION_DESIRED;
  query[5] = 1;
  for (let i = 0; i < name.length; i++) query[HEADER_OCTETS + i] = name.charCodeAt(i);
  set16(query, end - 4, type);
  set16(query, end - 2, CLASS.IN);
  if (edns) {
    query[11] = 1;
    set16(query, end + 1, TYPE.OPT); // preceded by the root's name, one zero octet
    set16(query, end + 3, UDP_PAYLOAD_OCTETS);
    set16(query, end + 7, optTtl(0, 0, true) & DNSSEC_OK);
  }
  return query;
}

export function setId(query: Uint8Array, id: number): void {
  set16(query, 0, id);
}

function set16(octets: Uint8Array, at: number, value: number): void {
  octets[at] = value >> 8;
  octets[at + 1] = value;
}
