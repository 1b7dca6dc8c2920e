// `zone check`: runs the validation of `zone load`, without using the database or the network.

import { type Name, printName } from '../../dns/name.ts';
import { INTERRUPTED, Listing, type Output } from '../terminal/output.ts';
import { collectZones, goodItem, refusedItem } from './collect-zones.ts';

interface CheckOrder {
  readonly paths: readonly string[];
  readonly origin: Name | undefined;
  readonly at: number;
  readonly signal: AbortSignal;
}

export async function checkZoneFiles(order: CheckOrder, output: Output): Promise<number> {
  const listing = new Listing(output, 'files');
  const { zones, files, refused } = await collectZones(order.paths, {
    origin: order.origin,
    at: order.at,
    signal: order.signal,
    keepRecords: 0,
    refuse: (file) => listing.add(refusedItem(file)),
  });
  let records = 0;
  for (const { file, apex, count, warnings } of zones) {
    const zone = printName(apex);
    records += count;
    const json = { file: file.name, outcome: 'good', zone, records: count };
    await listing.add(goodItem({ json, line: `good ${zone} records ${count}` }, warnings));
  }
  const complete = !order.signal.aborted;
  const line = `files ${files} good ${zones.length} records ${records} refused ${refused}`;
  await listing.end({ summary: { files, good: zones.length, refused, records, complete } }, line);
  if (!complete) return INTERRUPTED;
  return refused > 0 ? 1 : 0;
}
