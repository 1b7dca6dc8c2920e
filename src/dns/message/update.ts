// Reads an UPDATE message (RFC 2136 §2). Only the format is checked here: the rules of RFC 2136 §3 are in src/zone/update.

import { WireError } from '../errors.ts';
import { foldCase, type Name } from '../name.ts';
import { CLASS, TYPE } from '../type-codes.ts';
import { HEADER_OCTETS, OPCODE } from './header.ts';
import { decodeMessage, type Message, type MessageRecord } from './message.ts';
import { RCODE } from './rcodes.ts';

/** A record of the prerequisite or update section. The owner is folded. Rdata is uncompressed, and may be empty. */
export type UpdateRecord = MessageRecord;

export interface Update {
  readonly kind: 'update';
  /** The folded name of the zone. Its class is IN. */
  readonly zone: Name;
  readonly prerequisites: readonly UpdateRecord[];
  readonly updates: readonly UpdateRecord[];
}

export interface UpdateRefusal {
  readonly kind: 'refused';
  readonly rcode: number;
  /** A sentence without a final dot, for the log and for EDE. */
  readonly message: string;
}

const MAX_UPDATE_RECORDS = 1000;
const MAX_UPDATE_NAMES = 200;

export function refuseUpdate(rcode: number, message: string): UpdateRefusal {
  return { kind: 'refused', rcode, message };
}

/** Returns the content of an UPDATE message, or a refusal. Ignores additional records. Never throws. */
export function readUpdate(octets: Uint8Array): Update | UpdateRefusal {
  if (octets.length < HEADER_OCTETS)
    return refuseUpdate(RCODE.FORMERR, 'the message is shorter than a header');
  const { buffer, byteOffset } = octets;
  const header = new DataView(buffer, byteOffset, HEADER_OCTETS);
  if (((header.getUint16(2) >> 11) & 15) !== OPCODE.UPDATE)
    return refuseUpdate(RCODE.NOTIMP, 'the message is not an update');
  if (header.getUint16(4) !== 1) return refuseUpdate(RCODE.FORMERR, 'the zone section must have one record'); // §3.1.1
  // Additional records are limited too, because decoding thousands of compressed names would take long.
  if (Math.max(header.getUint16(6) + header.getUint16(8), header.getUint16(10)) > MAX_UPDATE_RECORDS)
    return refuseUpdate(RCODE.REFUSED, `the message has more than ${MAX_UPDATE_RECORDS} records`);
  return readSections(octets);
}

function readSections(octets: Uint8Array): Update | UpdateRefusal {
  let message: Message;
  try {
    message = decodeMessage(octets);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return refuseUpdate(RCODE.FORMERR, error.message);
  }
  const zone = message.questions[0] as Message['questions'][number];
  if (message.qr) return refuseUpdate(RCODE.FORMERR, 'the message is a response');
  if (zone.type !== TYPE.SOA) return refuseUpdate(RCODE.FORMERR, 'the type of the zone section must be SOA'); // §3.1.1
  if (zone.class !== CLASS.IN) return refuseUpdate(RCODE.NOTAUTH, 'the class of the zone must be IN'); // §3.1.2
  const prerequisites = message.answers.map(withFoldedOwner);
  const updates = message.authorities.map(withFoldedOwner).map(withValidTtl);
  const names = new Set([...prerequisites, ...updates].map(({ owner }) => owner));
  if (names.size > MAX_UPDATE_NAMES)
    return refuseUpdate(RCODE.REFUSED, `the message has more than ${MAX_UPDATE_NAMES} names`);
  return { kind: 'update', zone: foldCase(zone.name), prerequisites, updates };
}

function withFoldedOwner(record: MessageRecord): UpdateRecord {
  return { ...record, owner: foldCase(record.owner) };
}

const MAX_TTL_SECONDS = 2 ** 31 - 1;

/** Reads a larger TTL of a new record as 0 (RFC 2181 §8). */
function withValidTtl(record: UpdateRecord): UpdateRecord {
  return record.class === CLASS.IN && record.ttl > MAX_TTL_SECONDS ? { ...record, ttl: 0 } : record;
}
