// A domain's records as their owner wrote them, as a zone file that an import reads back without loss: origins, not what is
// published, and behind each record what no zone file can say. Each line has its owner, so that it can be moved.

import { type Name, nameInRdata, printName } from '../dns/name.ts';
import { relativeOwner, sortNames } from '../dns/print-zone-file.ts';
import { printRdata } from '../dns/rdata.ts';
import type { CustomerRecord, RecordValue } from './customer-record.ts';
import { type ApiType, wireTypeCode } from './record-types.ts';
import { printSettingsComment } from './settings-comment.ts';

const OWNER_COLUMNS = 24;

/** Line by line, without line breaks; names in canonical order, records of a name by id. */
export function* printRecords(
  apex: Name,
  records: ReadonlyMap<Name, readonly CustomerRecord[]>,
): Generator<string> {
  yield `$ORIGIN ${printName(apex)}`;
  for (const name of sortNames(records.keys())) {
    for (const record of records.get(name) ?? []) yield printRecord(record, apex);
  }
}

function printRecord(record: RecordValue, apex: Name): string {
  const { name, type, ttl, rdata } = record;
  const line = `${relativeOwner(name, apex).padEnd(OWNER_COLUMNS)} ${ttl} IN ${type} ${printContent(type, rdata)}`;
  const comment = printSettingsComment(record);
  return comment === '' ? line : `${line} ${comment}`;
}

function printContent(type: ApiType, rdata: Uint8Array): string {
  return type === 'ANAME' ? printName(nameInRdata(rdata)) : printRdata(wireTypeCode(type), rdata);
}
