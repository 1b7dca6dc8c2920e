// The records of a catalog zone that this fleet produces (RFC 9432 §4).

import { encodeName, MAX_NAME_OCTETS, type Name, parseName, prependLabel } from '../../dns/name.ts';
import { printBase32Hex } from '../../dns/record/base-encodings.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { OwnerRows } from '../signing/plan-rows.ts';
import { privateMarkOf, type ZoneRecord } from '../zone.ts';

/** Consumers ignore the TTLs of a catalog (RFC 9432 §4). */
const TTL = 0;
const INVALID = parseName('invalid.');
/** Secondaries that miss a NOTIFY ask again after REFRESH. A catalog should never expire, because it is then unusable. */
const SOA_NUMBERS = { refresh: 300, retry: 60, expire: 2_147_483_646, minimum: 0 };

/** A member as the catalog lists it. */
export interface ListedMember {
  readonly name: Name;
  readonly label: string;
  /** Undefined if the member has no group (§4.3.2). */
  readonly group: string | undefined;
  /** The catalog to which the member moves (§4.3.1). */
  readonly coo: Name | undefined;
}

const MEMBER_OCTETS = 16;
/** `group`, the label of a member and `zones`, each after its length. */
const LONGEST_PREFIX_OCTETS = 6 + 27 + 6;

/**
 * Returns the label of a zone that becomes a member. `version` is the zone's version at that time. A zone that is deleted and
 * created again gets another label, so that consumers discard their copy (RFC 9432 §5.4, §5.6).
 */
export function memberLabel(zoneId: number, version: number): string {
  const octets = Buffer.alloc(MEMBER_OCTETS);
  octets.writeBigUInt64BE(BigInt(zoneId), 0);
  octets.writeBigUInt64BE(BigInt(version), 8);
  return printBase32Hex(octets).toLowerCase();
}

/** Returns false if names of members would be longer than 255 octets. */
export function hasRoomForMembers(apex: Name): boolean {
  return encodeName(apex).length + LONGEST_PREFIX_OCTETS <= MAX_NAME_OCTETS;
}

/** Returns the records of a catalog without members, which only peers may read. */
export function emptyCatalog(apex: Name, serial: number): ZoneRecord[] {
  const record = (owner: Name, type: number, rdata: Uint8Array) => ({ owner, type, ttl: TTL, rdata });
  return [
    record(apex, TYPE.SOA, soaRdata(serial)),
    record(apex, TYPE.NS, encodeName(INVALID)), // §4
    record(below(apex, 'version'), TYPE.TXT, textRdata('2')), // §4.2.1
    privateMarkOf(apex),
  ];
}

/** Returns the rows of a member's names. `before` is how it is listed; `after` is undefined if it is removed. */
export function memberRows(
  apex: Name,
  before: ListedMember | undefined,
  after: ListedMember | undefined,
): OwnerRows[] {
  const rows = new Map<Name, ZoneRecord[]>();
  for (const { owner } of before === undefined ? [] : memberRecords(apex, before)) rows.set(owner, []);
  for (const record of after === undefined ? [] : memberRecords(apex, after))
    rows.set(record.owner, [record]);
  return [...rows].map(([owner, records]) => ({ owner, records }));
}

function memberRecords(apex: Name, { name, label, group, coo }: ListedMember): ZoneRecord[] {
  const owner = below(apex, 'zones', label);
  const records: ZoneRecord[] = [{ owner, type: TYPE.PTR, ttl: TTL, rdata: encodeName(name) }];
  if (group !== undefined)
    records.push({ owner: below(owner, 'group'), type: TYPE.TXT, ttl: TTL, rdata: textRdata(group) });
  if (coo !== undefined)
    records.push({ owner: below(owner, 'coo'), type: TYPE.PTR, ttl: TTL, rdata: encodeName(coo) });
  return records;
}

/** Returns the name below another one, whose labels are given from the right. */
function below(name: Name, ...labels: readonly string[]): Name {
  return labels.reduce<Name>((above, label) => {
    const joined = prependLabel(label, above);
    if (joined === undefined) throw new RangeError('the name of a catalog is too long');
    return joined;
  }, name);
}

function textRdata(text: string): Uint8Array {
  const octets = Buffer.from(text, 'latin1');
  return Buffer.concat([Buffer.of(octets.length), octets]);
}

function soaRdata(serial: number): Uint8Array {
  const { refresh, retry, expire, minimum } = SOA_NUMBERS;
  const numbers = Buffer.alloc(20);
  for (const [i, number] of [serial, refresh, retry, expire, minimum].entries())
    numbers.writeUInt32BE(number, 4 * i);
  return Buffer.concat([encodeName(INVALID), encodeName(INVALID), numbers]);
}
