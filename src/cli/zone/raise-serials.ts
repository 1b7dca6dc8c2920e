// `zone raise`: raises serials, one transaction per zone.

import { type Name, printName } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import { type RaisedSerial, raiseSerial, zonesWithPeers } from '../../store/signing/raise-serial.ts';
import type { Audited } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { INTERRUPTED, type Item, Listing, type Output } from '../terminal/output.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';

interface RaiseOrder {
  readonly apexes: readonly Name[] | 'all';
  /** Undefined for the time in seconds if that is newer, else the next one. */
  readonly to: number | undefined;
  readonly signal: AbortSignal;
  /** Raises a serial with an audit log entry. */
  readonly audited: (db: Database, raise: Audited<RaisedSerial>) => Promise<RaisedSerial>;
}

const PAGE = 1000;
const HIGHEST = 0xffff_ffff;

/** Throws Failure if the text is not a serial from 1 to 4294967295. */
export function readSerial(text: string): number {
  const serial = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (serial < 1 || serial > HIGHEST)
    throw new Failure('usage', `--to: expected a serial from 1 to ${HIGHEST}, not ${text}`);
  return serial;
}

/** Throws Failure unless either names or all zones are wanted. */
export function chooseZones(names: readonly string[], all: boolean): RaiseOrder['apexes'] {
  if (all === names.length > 0) throw new Failure('usage', 'expected zone names, or --all');
  return all ? 'all' : names.map(parseZoneName);
}

export async function raiseSerials(db: Database, order: RaiseOrder, output: Output): Promise<number> {
  const listing = new Listing(output, 'zones');
  const counts = { raised: 0, absent: 0, copy: 0, signed_elsewhere: 0, not_newer: 0 };
  for await (const apex of order.apexes === 'all' ? allZones(db) : order.apexes) {
    if (order.signal.aborted) break;
    const raised = await order.audited(db, async (trx, tell) => {
      const raised = await raiseSerial(trx, apex, order.to);
      if (raised.outcome === 'raised')
        tell({
          target: { name: printName(apex) },
          before: { serial: raised.from },
          after: { serial: raised.to },
        });
      return raised;
    });
    counts[raised.outcome]++;
    await listing.add(raisedItem(printName(apex), raised, order.to));
  }
  await listing.end({ summary: counts });
  if (order.signal.aborted) return INTERRUPTED;
  return counts.raised < Object.values(counts).reduce((sum, count) => sum + count) ? 1 : 0;
}

function raisedItem(zone: string, raised: RaisedSerial, to: number | undefined): Item {
  const json = { zone, ...raised };
  if (raised.outcome === 'raised')
    return { json, lines: [`raised ${zone} from ${raised.from} to ${raised.to}`] };
  if (raised.outcome === 'absent') return { json, problems: [`${zone}: no such zone`] };
  if (raised.outcome === 'copy')
    return { json, problems: [`${zone}: this is a copy; raise the serial at its primary`] };
  if (raised.outcome === 'signed_elsewhere')
    return { json, problems: [`${zone}: another signer has signed it; load it with a newer serial`] };
  return { json, problems: [`${zone}: ${to} is not newer than its serial ${raised.from} (RFC 1982)`] };
}

async function* allZones(db: Database): AsyncGenerator<Name> {
  for (let after: Name | undefined; ; ) {
    const page: readonly Name[] = await zonesWithPeers(db, after, PAGE);
    yield* page;
    after = page.at(-1);
    if (page.length < PAGE) return;
  }
}
