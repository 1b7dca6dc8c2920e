// `zonefleet transfers`: what the peers of zones have.

import type { Cli } from '../../cli/terminal/cli.ts';
import { Listing } from '../../cli/terminal/output.ts';
import { parseZoneNames } from '../../cli/terminal/parse-zone-name.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import { loadTransfers, type PeerTransfers, type ZoneTransfers } from '../../store/transfers/status.ts';
import { printTransfers } from './print.ts';

/** The command's answer is "no" if a peer lags by this much. */
const LAG_SECONDS = 60;
const HEADS = ['PEER', 'NOTIFIED', 'ACKNOWLEDGED', 'SERVED', 'FORM', 'AT', 'LAG', 'ERROR'];

export async function showTransfers(cli: Cli, texts: readonly string[]): Promise<void> {
  const names = parseZoneNames(texts);
  await cli.withStore(async (db) => {
    const zones = await loadTransfers(db, names);
    const listing = new Listing(cli.output, 'zones');
    let isNo = false;
    for (const name of names) {
      const zone = zones.find((each) => each.zone === name);
      if (zone === undefined) {
        isNo = true;
        await listing.add({ json: { zone: name, outcome: 'absent' }, problems: [`${name}: no such zone`] });
        continue;
      }
      if (zone.peers.some(({ lagSeconds }) => (lagSeconds ?? 0) >= LAG_SECONDS)) isNo = true;
      const { serial = null, peers } = zone;
      const json = { zone: name, serial, peers: peers.map(peerJson) };
      await listing.add({ json, lines: [...linesOf(zone)] });
    }
    await listing.end({});
    return isNo ? 1 : 0;
  });
}

function* linesOf({ zone, serial, peers }: ZoneTransfers): Generator<string> {
  yield `${zone} serial ${serial ?? '-'}${peers.length === 0 ? ', no peers' : ''}`;
  if (peers.length > 0) yield printTable(HEADS, peers.map(rowOf));
}

function rowOf(peer: PeerTransfers): (string | number)[] {
  const { notified, notifiedSerial, ackedAt, servedSerial, form, servedAt, lagSeconds, error } = peer;
  return [
    labelOf(peer),
    notified ? String(notifiedSerial ?? 'never') : 'no',
    ackedAt?.toISOString() ?? '-',
    String(servedSerial ?? '-'),
    form ?? '-',
    servedAt?.toISOString() ?? '-',
    lagSeconds === null ? '-' : `${lagSeconds} s`,
    error ?? '-',
  ];
}

function peerJson(peer: PeerTransfers): object {
  return { peer: labelOf(peer), ...printTransfers(peer) };
}

/** A secondary of a domain has no name. */
function labelOf({ id, name, addresses }: PeerTransfers): string {
  return name ?? addresses[0] ?? `peer ${id}`;
}
