// Validates all files of one command before any zone is saved, because a zone must not appear in two files. Records stay in memory
// up to a limit; files beyond it are read a second time when they are saved.

import { setImmediate } from 'node:timers/promises';
import { type Name, printName } from '../../dns/name.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { findZoneFiles, type ZoneFilePath } from '../terminal/find-zone-files.ts';
import type { Item } from '../terminal/output.ts';
import { readStandardInputBytes } from '../terminal/read-standard-input.ts';
import {
  type FileProblem,
  judgeZoneFile,
  type Place,
  printProblem,
  printWarning,
} from './judge-zone-file.ts';

/** A valid zone that is waiting to be saved. `records` is undefined if the file must be read again. */
export interface WaitingZone {
  readonly file: ZoneFilePath;
  readonly apex: Name;
  readonly count: number;
  readonly soa: Place;
  /** Warnings about its signatures. */
  readonly warnings: readonly FileProblem[];
  records: ZoneRecord[] | undefined;
}

export interface RefusedFile {
  readonly file: string;
  readonly apex: Name | undefined;
  readonly problems: readonly FileProblem[];
}

export interface CollectedZones {
  readonly zones: WaitingZone[];
  readonly files: number;
  readonly refused: number;
}

interface CollectOptions {
  readonly origin: Name | undefined;
  /** Time at which signatures must be valid, in seconds since 1970. */
  readonly at: number;
  /** Maximum number of records in memory. */
  readonly keepRecords: number;
  readonly signal: AbortSignal;
  /** Called for each refused file, immediately. */
  readonly refuse: (refused: RefusedFile) => Promise<void>;
}

export async function collectZones(
  paths: readonly string[],
  options: CollectOptions,
): Promise<CollectedZones> {
  const found = findZoneFiles(paths);
  const claims = new Map<Name, string[]>(); // includes refused files, because it is unknown which of two files is meant
  const zones: WaitingZone[] = [];
  let refused = 0;
  let kept = 0;
  const refuse = (file: RefusedFile) => {
    refused++;
    return options.refuse(file);
  };

  for (const { path, message } of found.problems) {
    await refuse({ file: path, apex: undefined, problems: [{ file: path, message }] });
  }
  for (const file of found.files) {
    if (options.signal.aborted) break;
    const content = file.path === undefined ? await readStandardInputBytes() : undefined;
    const judged = judgeZoneFile(file, { origin: options.origin, at: options.at, content });
    if (judged.apex !== undefined) {
      const claimed = claims.get(judged.apex);
      if (claimed === undefined) claims.set(judged.apex, [file.name]);
      else claimed.push(file.name);
    }
    if (judged.kind === 'refused') {
      await refuse({ file: file.name, apex: judged.apex, problems: judged.problems });
      continue;
    }
    // Standard input cannot be read twice.
    const keep = file.path === undefined || kept + judged.records.length <= options.keepRecords;
    if (keep) kept += judged.records.length;
    const { apex, soa, records, warnings } = judged;
    zones.push({ file, apex, soa, warnings, count: records.length, records: keep ? records : undefined });
    await setImmediate(); // lets pending signals and output be handled
  }

  const alone: WaitingZone[] = [];
  for (const zone of zones) {
    const claimed = claims.get(zone.apex)!;
    if (claimed.length === 1) alone.push(zone);
    else await refuse(refuseTwice(zone, claimed));
  }
  return { zones: alone, files: found.files.length + found.problems.length, refused };
}

/** Prints a refused file for `zone load` and `zone check`. */
export function refusedItem({ file, apex, problems }: RefusedFile): Item {
  const zone = apex === undefined ? {} : { zone: printName(apex) };
  return {
    json: { file, outcome: 'refused', ...zone, problems },
    problems: problems.map(printProblem),
  };
}

/** Prints a valid file for both commands, with its warnings. */
export function goodItem(
  { json, line }: { readonly json: object; readonly line: string },
  warnings: readonly FileProblem[],
): Item {
  const doubtful = warnings.length === 0 ? {} : { warnings };
  return { json: { ...json, ...doubtful }, lines: [line], problems: warnings.map(printWarning) };
}

const NAMED_FILES = 3;

function refuseTwice(zone: WaitingZone, claimed: readonly string[]): RefusedFile {
  const file = zone.file.name;
  const named = claimed.slice(0, NAMED_FILES + 1).filter((name) => name !== file);
  const unnamed = claimed.length - 1 - Math.min(named.length, NAMED_FILES);
  const others = named.slice(0, NAMED_FILES).join(', ') + (unnamed > 0 ? ` and ${unnamed} more files` : '');
  const message = `${printName(zone.apex)} is also in ${others}; load only one of them`;
  return { file, apex: zone.apex, problems: [{ ...zone.soa, message }] };
}
