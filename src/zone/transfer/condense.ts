// The differences of an incremental transfer (RFC 1995 §4) from the versions of a zone, one by one or condensed into one (§5).

import { TYPE } from '../../dns/type-codes.ts';
import { serialIn } from '../serial.ts';
import type { ZoneRecord } from '../zone.ts';
import type { Difference } from './read-transfer.ts';

/** The records that a version removed and added, in any order. A record that was removed and added again may be in both. */
export interface VersionChange {
  /** False if the version has the serial of the one before it. */
  readonly isNewSerial: boolean;
  readonly removed: readonly ZoneRecord[];
  readonly added: readonly ZoneRecord[];
}

/** Longer chains of differences are condensed. */
const MOST_DIFFERENCES = 100;

/**
 * Returns the differences between serials, oldest first. A version without a new serial becomes part of the next one,
 * the last of them of the one before. They are condensed if there are many, or if records cancel out. Returns undefined
 * if a version does not replace the SOA, so that no secondary could apply it.
 */
export function differencesOf(versions: readonly VersionChange[]): readonly Difference[] | undefined {
  const groups: VersionChange[][] = [];
  let group: VersionChange[] = [];
  for (const version of versions) {
    group.push(version);
    if (!version.isNewSerial) continue;
    groups.push(group);
    group = [];
  }
  groups.at(-1)?.push(...group);
  const condensed = netChange(versions);
  if (condensed === undefined) return undefined;
  if (groups.length > MOST_DIFFERENCES) return [condensed];
  const differences = groups.map(netChange);
  if (!differences.every((one) => one !== undefined)) return undefined;
  return changesIn([condensed]) < changesIn(differences) ? [condensed] : differences;
}

/** Number of changes besides those of the SOA. */
function changesIn(differences: readonly Difference[]): number {
  return differences.reduce((sum, { removed, added }) => sum + removed.length + added.length - 2, 0);
}

/** Number of records that a transfer of these differences has (RFC 1995 §4). */
export function recordsIn(differences: readonly Difference[]): number {
  return differences.reduce((sum, { removed, added }) => sum + removed.length + added.length, 2);
}

/** A zone is a set of records. So a record is removed by these versions if they remove it more often than they add it. */
function netChange(versions: readonly VersionChange[]): Difference | undefined {
  const counts = new Map<string, { readonly record: ZoneRecord; count: number }>();
  const count = (records: readonly ZoneRecord[], by: 1 | -1) => {
    for (const record of records) {
      const key = `${record.type} ${record.ttl} ${record.owner.length} ${record.owner}${latin1(record.rdata)}`;
      const counted = counts.get(key);
      if (counted === undefined) counts.set(key, { record, count: by });
      else counted.count += by;
    }
  };
  for (const { removed, added } of versions) {
    count(removed, -1);
    count(added, 1);
  }
  const removed: ZoneRecord[] = [];
  const added: ZoneRecord[] = [];
  for (const { record, count } of counts.values()) {
    if (count < 0) removed.push(record);
    else if (count > 0) added.push(record);
  }
  const [before, after] = [soaFirst(removed), soaFirst(added)];
  if (before === undefined || after === undefined) return undefined;
  return { serialBefore: serialIn(before.rdata), serialAfter: serialIn(after.rdata), removed, added };
}

/** Moves the SOA to the start, and returns it. Returns undefined unless there is exactly one. */
function soaFirst(records: ZoneRecord[]): ZoneRecord | undefined {
  const at = records.findIndex(({ type }) => type === TYPE.SOA);
  const [soa] = at < 0 ? [] : records.splice(at, 1);
  if (soa === undefined || records.some(({ type }) => type === TYPE.SOA)) return undefined;
  records.unshift(soa);
  return soa;
}

function latin1(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('latin1');
}
