// Measures incremental transfers from Zonefleet: after single edits, and after many edits together.

import { say } from '../say.ts';
import type { RunningServer } from '../servers/server.ts';
import { median } from '../statistics.ts';
import type { OneZone } from '../zones/one-zone.ts';
import { apexOf, type HostEdits } from './host-edits.ts';
import type { TransferClient, TransferReply } from './transferring.ts';

const SINGLE_EDITS = 20;
/** Records of a transfer: each edit adds two SOA records, and the zone's SOA is first and last. */
const SINGLE_RECORDS = 6;
const ENVELOPE_RECORDS = 4;

export interface MeasuredIxfr {
  /** Medians of the transfers after each of some single edits. */
  readonly single: { readonly ms: number; readonly octets: number };
  readonly many: TransferReply;
  /** Number of edits of `many`. */
  readonly edits: number;
}

/** Each host of the second half of the edits is edited for the second time. */
export async function measureIxfr(
  running: RunningServer,
  edited: HostEdits,
  zone: OneZone,
  client: TransferClient,
  edits: number,
): Promise<MeasuredIxfr> {
  const order = { port: running.port, key: undefined, apex: apexOf(zone) };
  const single: TransferReply[] = [];
  for (let n = 0; n < SINGLE_EDITS; n++) {
    const { serial } = edited;
    await edited.editUntilAnswered(n, running.port);
    single.push(await client.transfer({ ...order, serial, records: SINGLE_RECORDS }));
  }
  const hosts = edits / 2;
  const { serial } = edited;
  say(`  ${edits} edits of ${hosts} hosts`);
  for (let n = 1; n < edits; n++) await edited.edit(n % hosts);
  await edited.editUntilAnswered(0, running.port);
  const many = await client.transfer({ ...order, serial, records: 2 * hosts + ENVELOPE_RECORDS });
  return {
    single: {
      ms: median(single.map(({ ms }) => ms)),
      octets: median(single.map(({ octets }) => octets)),
    },
    many,
    edits,
  };
}
