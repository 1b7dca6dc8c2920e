// Prints a domain's records as their owner wrote them, as a zone file that an import can read without loss. Contains
// the origins of proxied records, not the published addresses, and a comment after each record with settings that a
// zone file cannot express. Each line has its owner, so that lines can be moved.

import { sortNames } from '../../dns/dnssec/sort-names.ts';
import { type Name, nameInRdata, printName } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { relativeOwner } from '../../dns/zone-file/print-zone-file.ts';
import type { CustomerRecord, RecordValue } from '../records/customer-record.ts';
import { type ApiType, wireTypeCode } from '../records/customer-types.ts';
import { printSettingsComment } from './settings-comment.ts';

export const OWNER_COLUMNS = 24;

/** Yields lines without line breaks: names in canonical order, records of a name by id. */
export function* printRecords(
  apex: Name,
  records: ReadonlyMap<Name, readonly CustomerRecord[]>,
): Generator<string> {
  yield `$ORIGIN ${printName(apex)}`;
  for (const name of sortNames(records.keys())) {
    for (const record of records.get(name) ?? []) yield printRecord(record, apex);
  }
}

export function printRecord(record: RecordValue, apex: Name): string {
  const { name, type, ttl, rdata } = record;
  const line = `${relativeOwner(name, apex).padEnd(OWNER_COLUMNS)} ${ttl} IN ${type} ${printContent(type, rdata)}`;
  const comment = printSettingsComment(record);
  return comment === '' ? line : `${line} ${comment}`;
}

function printContent(type: ApiType, rdata: Uint8Array): string {
  return type === 'ANAME' ? printName(nameInRdata(rdata)) : printRdata(wireTypeCode(type), rdata);
}
