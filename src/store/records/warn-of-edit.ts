// Finds the warnings of a planned edit, before it is written.

import type { Name } from '../../dns/name.ts';
import { inPieces } from '../../process/in-pieces.ts';
import type { RecordOperation } from '../../zone/edit/plan-edit.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';
import {
  brokenHosts,
  EditedZone,
  namesBesideAll,
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
  const zone = new EditedZone(apex, records, ops);
  const hosts = brokenHosts(zone, ops).filter((name) => !unnamed.has(name));
  // The edit may itself write as many of them as it has operations.
  const naming = await loadRecordsNaming(trx, domainId, hosts, MAX_WARNINGS + ops.length);
  const judged = [...written, ...unwrittenRecords(naming, ops)];
  if (judged.length === 0) return [];
  const lacking = namesBesideAll(judged, apex);
  for (const name of [...known, apex]) lacking.delete(name);
  for (const op of ops) for (const name of namesOf(op)) lacking.delete(name);
  const loaded = await loadRecordsAt(trx, domainId, [...lacking]);
  const ids = new Set(records.map(({ id }) => id));
  zone.addKnown(loaded.filter(({ id }) => !ids.has(id)));
  zone.setFormerNames(await loadExistingNames(trx, domainId, apex, zone.namesToHide(written)));
  return await inPieces(findWarnings(zone, judged));
}

function namesOf(op: RecordOperation): Name[] {
  if (op.op === 'create') return [op.after.name];
  return op.op === 'delete' ? [op.before.name] : [op.before.name, op.after.name];
}
