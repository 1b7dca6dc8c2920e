// Prints the records of a domain as the lines of its zone file directly from their rows, if the row is sufficient. The lines
// are the same as those of `printRecords`, and take a fraction of the time.

import { sortNames } from '../../dns/dnssec/sort-names.ts';
import { type Name, printName } from '../../dns/name.ts';
import { decodeNameColumn, encodeNameColumn } from '../../store/postgres/name-column.ts';
import { decodeRecord, type RecordJson, type SettingsJson } from '../../store/records/record-row.ts';
import { OWNER_COLUMNS, printRecord } from '../../zone/import/print-records.ts';
import { printSettingsComment } from '../../zone/import/settings-comment.ts';
import { plainContent } from './plain-record.ts';

/** Yields lines without line breaks: names in canonical order, records of a name by id. `rows` are sorted by name and id. */
export function* printRecordLines(apex: Name, rows: readonly RecordJson[]): Generator<string> {
  yield `$ORIGIN ${printName(apex)}`;
  const stored = encodeNameColumn(apex);
  const comments = new Map<SettingsJson, string>();
  for (const { owner, from, to } of sortGroups(groupByName(rows), stored)) {
    const column = owner.includes('\\') ? undefined : relativeTo(stored, owner).padEnd(OWNER_COLUMNS);
    for (let i = from; i < to; i++) {
      const row = rows[i] as RecordJson;
      const [, , type, , ttl, settings, , , , destination] = row;
      const content = column === undefined ? undefined : plainContent(type, destination);
      if (content === undefined) {
        yield printRecord(decodeRecord(row), apex);
        continue;
      }
      const text = type === 'TXT' ? `"${content}"` : content;
      yield `${column} ${ttl} IN ${type} ${text}${settings === null ? '' : commentOf(row, settings, comments)}`;
    }
  }
}

/** Rows of one name. */
interface Group {
  /** The name in the form of its column. */
  readonly owner: string;
  readonly from: number;
  readonly to: number;
}

function groupByName(rows: readonly RecordJson[]): Group[] {
  const groups: Group[] = [];
  for (let from = 0; from < rows.length; ) {
    const owner = (rows[from] as RecordJson)[1];
    let to = from + 1;
    while (rows[to]?.[1] === owner) to++;
    groups.push({ owner, from, to });
    from = to;
  }
  return groups;
}

/** Sorts by canonical order (RFC 4034 §6.1). Names without escapes need no wire form. */
function sortGroups(groups: Group[], apex: string): Group[] {
  if (groups.some(({ owner }) => owner.includes('\\'))) {
    const byName = new Map(groups.map((group) => [decodeNameColumn(group.owner), group]));
    return sortNames(byName.keys()).map((name) => byName.get(name) as Group);
  }
  const keyed = groups.map((group) => ({ group, key: keyOf(relativeTo(apex, group.owner)) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ group }) => group);
}

/** Labels from the right. The separator is lower than every other octet. */
function keyOf(relative: string): string {
  if (relative === '@') return '';
  return relative.includes('.') ? relative.split('.').reverse().join('\0') : relative;
}

function relativeTo(apex: string, owner: string): string {
  return owner === apex ? '@' : owner.slice(0, -1 - apex.length);
}

/** Most records with settings have only a country, and share them. */
function commentOf(row: RecordJson, settings: SettingsJson, known: Map<SettingsJson, string>): string {
  let comment = known.get(settings);
  if (comment === undefined) {
    comment = ` ${printSettingsComment(decodeRecord(row))}`;
    known.set(settings, comment);
  }
  return comment;
}
