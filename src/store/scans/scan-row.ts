// The findings and the result of a scan, as JSON in its row and back.

import type { Scan, ScannedRecord } from '../../checks/scan/scan.ts';
import type { Name } from '../../dns/name.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { ImportedScan } from './import-scanned.ts';

/** All records that exist, whether or not they can be imported. */
export interface FoundByScan {
  readonly records: readonly ScannedRecord[];
  readonly wildcards: readonly Name[];
}

export interface JsonFound {
  /** Each record is name, type, TTL and rdata in hex. */
  readonly records: readonly (readonly [string, number, number, string])[];
  readonly wildcards: readonly string[];
}

export function encodeFound({ records, wildcards }: Pick<Scan, 'records' | 'wildcards'>): JsonFound {
  return {
    records: records.map(({ name, type, ttl, rdata }) => [
      encodeNameColumn(name),
      type,
      ttl,
      Buffer.from(rdata).toString('hex'),
    ]),
    wildcards: wildcards.map(encodeNameColumn),
  };
}

export function decodeFound({ records, wildcards }: JsonFound): FoundByScan {
  return {
    records: records.map(([name, type, ttl, rdata]) => ({
      name: decodeNameColumn(name),
      type,
      ttl,
      rdata: Uint8Array.from(Buffer.from(rdata, 'hex')),
    })),
    wildcards: wildcards.map(decodeNameColumn),
  };
}

type Imported = Extract<ImportedScan, { kind: 'imported' }>;

export type JsonResult =
  | (Omit<Imported, 'failed' | 'changeId'> & {
      readonly failed: readonly { readonly name: string; readonly type: ApiType; readonly error: string }[];
    })
  | Extract<ImportedScan, { kind: 'refused' }>;

/** Encodes the result without its change, which has a column of its own. */
export function encodeResult(imported: ImportedScan): JsonResult {
  if (imported.kind === 'refused') return imported;
  const { changeId: _, failed, ...rest } = imported;
  return { ...rest, failed: failed.map((each) => ({ ...each, name: encodeNameColumn(each.name) })) };
}

export function decodeResult(result: JsonResult, changeId: number | null): ImportedScan {
  if (result.kind === 'refused') return result;
  const failed = result.failed.map((each) => ({ ...each, name: decodeNameColumn(each.name) }));
  return { ...result, failed, changeId: changeId ?? undefined };
}
