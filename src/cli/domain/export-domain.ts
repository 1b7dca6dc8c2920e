// Implements `domain export`, which writes the records of a domain as entered, for an import here or in other tools.

import { setImmediate } from 'node:timers/promises';
import type { Name } from '../../dns/name.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { loadRecordsByName } from '../../store/records/load-touched-records.ts';
import { printDnscontrol } from '../../zone/export/print-dnscontrol.ts';
import { printOctodns } from '../../zone/export/print-octodns.ts';
import { type LeaveOut, type LeftOut, leftOutLine } from '../../zone/export/record-words.ts';
import { printRecords } from '../../zone/import/print-records.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';
import { INTERRUPTED, type Output } from '../terminal/output.ts';
import { writeWholeFile } from '../terminal/write-whole-file.ts';

type Records = ReadonlyMap<Name, readonly CustomerRecord[]>;

export type ExportFormat = 'zone' | 'octodns' | 'dnscontrol';

const FORMATS: Readonly<
  Record<
    ExportFormat,
    (apex: Name, records: Records, leave: LeaveOut, nameservers?: readonly Name[]) => Iterable<string>
  >
> = { zone: printRecords, octodns: printOctodns, dnscontrol: printDnscontrol };

interface ExportOrder {
  readonly format: ExportFormat;
  /** File to write. Undefined to write to stdout. */
  readonly file: string | undefined;
  readonly signal: AbortSignal;
}

const CHUNK_LINES = 1000;

/** Returns the exit code. Records that the format cannot express are reported, but are not an error. */
export async function exportDomain(
  db: Database,
  { id, name: apex, nameserverSets: [nameservers] }: Pick<Domain, 'id' | 'name' | 'nameserverSets'>,
  { format, file, signal }: ExportOrder,
  output: Output,
): Promise<number> {
  const records = await loadOwnRecords(db, id);
  const left: LeftOut[] = [];
  const lines = FORMATS[format](apex, records, (item) => left.push(item), nameservers);
  const count = [...records.values()].reduce((sum, { length }) => sum + length, 0);
  const domain = printWithoutDot(apex);
  if (file === undefined && !output.json) {
    for (const chunk of chunksOf(lines)) {
      if (signal.aborted) return INTERRUPTED;
      if (output.closed) break; // the reader has closed the pipe
      await output.write(chunk);
      await setImmediate(); // writes to a pipe are synchronous, so signals are handled only here
    }
  } else {
    const chunks = [...chunksOf(lines)];
    if (file !== undefined && !(await writeWholeFile(file, chunks, signal))) return INTERRUPTED;
    const written = { records: count - left.length, left_out: left };
    const where = file === undefined ? { text: chunks.join('') } : { file };
    await output.print(
      output.json
        ? JSON.stringify({ domain, outcome: 'exported', format, ...written, ...where })
        : `exported ${domain} records ${written.records} left out ${left.length}`,
    );
  }
  if (!output.json) for (const item of left) await output.complain(leftOutLine(item));
  return 0;
}

async function loadOwnRecords(db: Database, domainId: number): Promise<Records> {
  const own = new Map<Name, readonly CustomerRecord[]>();
  for (const [name, list] of await loadRecordsByName(db, domainId)) {
    const written = list.filter(({ managed }) => managed !== true);
    if (written.length > 0) own.set(name, written);
  }
  return own;
}

function* chunksOf(lines: Iterable<string>): Generator<string> {
  let chunk: string[] = [];
  for (const line of lines) {
    if (chunk.push(line) < CHUNK_LINES) continue;
    yield `${chunk.join('\n')}\n`;
    chunk = [];
  }
  if (chunk.length > 0) yield `${chunk.join('\n')}\n`;
}
