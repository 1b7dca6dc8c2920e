// Finds the records of a file that an import would leave out, because they conflict with other records of the file or
// cannot exist at their name. The rules are those of every edit, applied to a domain without records.

import type { Name } from '../../dns/name.ts';
import type { EditProblem } from '../edit/edit.ts';
import { findConflicts, type JudgedRow } from '../edit/find-conflicts.ts';
import { judgePlace } from '../records/judge-record.ts';
import { WarningList, type ZoneWarning } from '../warnings/zone-warning.ts';
import { chooseLosers, type Written } from './choose-losers.ts';

/** A record that an import would create. */
export interface FileRecord extends Written {
  readonly rdata: Uint8Array;
  readonly line: number;
  readonly column: number;
}

const PIECE_RECORDS = 1000;

/** Runs in pieces, so that the caller can do other work in between. */
export function* findFileConflicts(
  records: readonly FileRecord[],
  apex: Name,
): Generator<undefined, ZoneWarning[]> {
  const reasons = new Map<number, string>();
  let rows: JudgedRow[] = [];
  for (const [index, record] of records.entries()) {
    if (index % PIECE_RECORDS === PIECE_RECORDS - 1) yield;
    const [problem] = judgePlace(record, apex);
    if (problem !== undefined) reasons.set(index, problem.message);
    else rows.push(asNewRow(record, index));
  }
  // another record may have been valid only because of one that is left out
  for (let round = yield* findConflicts(rows, apex); round.length > 0; ) {
    const writtenBy = ({ index }: EditProblem) => records[index] as FileRecord;
    const losers = chooseLosers(round, writtenBy);
    yield;
    for (const { index, message } of losers) reasons.set(index, message);
    rows = rows.filter(({ item }) => item !== undefined && !reasons.has(item.index));
    yield;
    round = yield* findConflicts(rows, apex);
  }
  const warnings = new WarningList();
  for (const [index, record] of records.entries()) {
    if (index % PIECE_RECORDS === PIECE_RECORDS - 1) yield;
    const reason = reasons.get(index);
    if (reason !== undefined) warnings.add(warningOf(record, reason));
  }
  return warnings.list;
}

function asNewRow(record: FileRecord, index: number): JudgedRow {
  const item = { list: 'create', index, path: '' } as const;
  return { before: undefined, after: record, item, allowEqualTxt: true };
}

function warningOf({ name, type, line, column }: FileRecord, reason: string): ZoneWarning {
  return {
    code: 'RECORD_CONFLICT',
    owner: name,
    type,
    message: `an import leaves this record out, because ${reason}`,
    ...(type === 'DS' && { host: name }), // the domain may have the NS of this DS
    line,
    column,
  };
}
