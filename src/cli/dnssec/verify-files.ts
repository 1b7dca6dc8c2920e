// Verifies signed zone files without a database: every signature, and that the chain of denial records is closed.

import { setImmediate } from 'node:timers/promises';
import { printName } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { findFaults } from '../../zone/signing/check-signed.ts';
import { describeSet } from '../../zone/zone-problem.ts';
import { findZoneFiles, type ZoneFilePath } from '../terminal/find-zone-files.ts';
import { INTERRUPTED, type Item, Listing, type Output } from '../terminal/output.ts';
import { readStandardInputBytes } from '../terminal/read-standard-input.ts';
import { judgeZoneFile, printProblem } from '../zone/judge-zone-file.ts';

interface VerifyOrder {
  readonly paths: readonly string[];
  /** Time at which signatures must be valid, in seconds since 1970. */
  readonly at: number;
  readonly signal: AbortSignal;
}

const MOST_FAULTS = 100;

export async function verifyFiles({ paths, at, signal }: VerifyOrder, output: Output): Promise<number> {
  const listing = new Listing(output, 'files');
  const found = findZoneFiles(paths);
  let isAllWell = found.problems.length === 0;
  for (const { path: file, message } of found.problems)
    await listing.add({ json: { file, outcome: 'refused' }, problems: [`${file}: ${message}`] });
  for (const file of found.files) {
    const item = await verifyFile(file, at, signal);
    if (signal.aborted) break;
    isAllWell &&= item.problems === undefined;
    await listing.add(item);
  }
  await listing.end({});
  if (signal.aborted) return INTERRUPTED;
  return isAllWell ? 0 : 1;
}

async function verifyFile(file: ZoneFilePath, at: number, signal: AbortSignal): Promise<Item> {
  const content = file.path === undefined ? await readStandardInputBytes() : undefined;
  const judged = judgeZoneFile(file, { origin: undefined, mayBeRoot: true, at: undefined, content });
  if (judged.kind === 'refused') {
    const { problems } = judged;
    return { json: { file: file.name, outcome: 'refused', problems }, problems: problems.map(printProblem) };
  }
  const { apex, records, stray } = judged;
  const faults = stray.map(
    ({ owner }) => `${describeSet(owner, TYPE.RRSIG)} covers a record set that does not exist`,
  );
  for (const fault of findFaults(apex, records, at)) {
    if (fault === undefined) await setImmediate();
    else faults.push(fault.text);
    if (faults.length >= MOST_FAULTS || signal.aborted) break;
  }
  const zone = printName(apex);
  const outcome = faults.length === 0 ? 'verified' : 'faulty';
  const json = { file: file.name, zone, outcome, faults };
  if (faults.length === 0) return { json, lines: [`verified ${zone}`] };
  return { json, problems: faults.map((fault) => `${file.name}: ${fault}`) };
}
