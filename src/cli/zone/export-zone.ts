// `zone export`: writes a zone from Postgres as a zone file, or as JSON records in presentation form.

import { setImmediate } from 'node:timers/promises';
import { type Name, printName } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import { printZoneFile } from '../../dns/zone-file/print-zone-file.ts';
import type { Database } from '../../store/postgres/database.ts';
import { loadZone } from '../../store/zones/load-zones.ts';
import { isEdgeMark, isMark, type ZoneRecord } from '../../zone/zone.ts';
import { INTERRUPTED, type Output } from '../terminal/output.ts';
import { writeWholeFile } from '../terminal/write-whole-file.ts';

interface ExportOrder {
  readonly apex: Name;
  /** The file to write, or undefined for stdout. */
  readonly file: string | undefined;
  readonly signal: AbortSignal;
}

export async function exportZone(db: Database, order: ExportOrder, output: Output): Promise<number> {
  const zone = printName(order.apex);
  const loaded = await loadZone(db, order.apex);
  if (loaded === undefined) {
    if (output.json) await output.print(JSON.stringify({ zone, outcome: 'absent' }));
    else await output.complain(`${zone}: no such zone`);
    return 1;
  }
  const { version } = loaded;
  const records = loaded.records.filter((record) => !isMark(record) && !isEdgeMark(record));
  if (order.file !== undefined) {
    const parts = [printZoneFile(order.apex, records)];
    if (!(await writeWholeFile(order.file, parts, order.signal))) return INTERRUPTED;
    const line = `exported ${zone} version ${version} records ${records.length}`;
    const json = { zone, outcome: 'exported', version, records: records.length, file: order.file };
    await output.print(output.json ? JSON.stringify(json) : line);
    return 0;
  }
  const chunks = output.json
    ? inChunks(jsonParts(zone, version, records))
    : cut(printZoneFile(order.apex, records));
  for (const chunk of chunks) {
    if (order.signal.aborted) return INTERRUPTED;
    if (output.closed) break; // the reader has closed the pipe
    await output.write(chunk);
    await setImmediate(); // writes to a pipe are synchronous, so signals are handled only here
  }
  return 0;
}

function* jsonParts(zone: string, version: number, records: readonly ZoneRecord[]): Generator<string> {
  yield `{"zone":${JSON.stringify(zone)},"version":${version},"records":[`;
  let separator = '\n';
  for (const { owner, type, ttl, rdata } of records) {
    const record = {
      name: printName(owner),
      type: typeMnemonic(type),
      ttl,
      content: printRdata(type, rdata),
    };
    yield separator + JSON.stringify(record);
    separator = ',\n';
  }
  yield '\n]}\n';
}

const CHUNK_CHARACTERS = 64 * 1024;

function* inChunks(parts: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const part of parts) {
    chunk += part;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += CHUNK_CHARACTERS) yield text.slice(at, at + CHUNK_CHARACTERS);
}
