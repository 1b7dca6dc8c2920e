// Finds the warnings of a planned edit, before it is written.

import type { Name } from '../../dns/name.ts';
import { inPieces } from '../../process/in-pieces.ts';
import type { RecordOperation } from '../../zone/edit/plan-edit.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';
import {
  brokenHosts,
  EditedZone,
  namesBeside,
  recordsToJudge,
  unwrittenRecords,
} from '../../zone/warnings/edit-warnings.ts';
import { findWarnings } from '../../zone/warnings/find-warnings.ts';
import { MAX_WARNINGS, type ZoneWarning } from '../../zone/warnings/zone-warning.ts';
import type { Database } from '../postgres/database.ts';
import { loadExistingNames, loadRecordsAt, loadRecordsNaming } from './load-touched-records.ts';

interface PlannedEdit {
  readonly domainId: number;
  readonly apex: Name;
  readonly ops: readonly RecordOperation[];
  /** The known records, as before the edit. */
  readonly records: readonly CustomerRecord[];
  /** Names whose records are all known, besides those that the edit touches. */
  readonly known: readonly Name[];
  /** Hosts that no NS, MX or SRV record names. */
  readonly unnamed: ReadonlySet<Name>;
}

export async function warnOfEdit(
  trx: Database,
  { domainId, apex, ops, records, known, unnamed }: PlannedEdit,
): Promise<readonly ZoneWarning[]> {
  const written = recordsToJudge(ops);
  const hosts = brokenHosts(apex, records, ops).filter((name) => !unnamed.has(name));
  // The edit may itself write as many of them as it has operations.
  const naming = await loadRecordsNaming(trx, domainId, hosts, MAX_WARNINGS + ops.length);
  const judged = [...written, ...unwrittenRecords(naming, ops)];
  if (judged.length === 0) return [];
  const complete = new Set([...known, apex, ...ops.flatMap((op) => namesOf(op))]);
  const beside = new Set(judged.flatMap((record) => [...namesBeside(record, apex)]));
  const lacking = [...beside].filter((name) => !complete.has(name));
  const all = [...records, ...(await loadRecordsAt(trx, domainId, lacking))];
  const zone = new EditedZone(apex, all, ops);
  zone.setFormerNames(await loadExistingNames(trx, domainId, apex, zone.namesToHide(written)));
  return await inPieces(findWarnings(zone, judged));
}

function namesOf(op: RecordOperation): Name[] {
  if (op.op === 'create') return [op.after.name];
  return op.op === 'delete' ? [op.before.name] : [op.before.name, op.after.name];
}
