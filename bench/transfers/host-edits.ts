// Edits of single hosts of a large operator zone: an address and the serial, with the history that incremental transfers
// are made from.

import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { announce, inTransaction } from '../../src/store/postgres/transaction.ts';
import { changedZone, lockZones, writeChanges, writeDifference } from '../../src/store/zones/write-zone.ts';
import { chunksOfOwners } from '../../src/store/zones/zone-rows.ts';
import { nextSerial, serialIn, withSerial } from '../../src/zone/serial.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { onEnd } from '../cleanup.ts';
import { AnswerWatch } from '../edits/watch-answers.ts';
import { runOn } from '../postgres/cluster.ts';
import type { OneZone } from '../zones/one-zone.ts';

const TTL = 3600;

export class HostEdits {
  readonly #db: Database;
  readonly #zone: OneZone;
  readonly #soa: ZoneRecord;
  readonly #undo: () => Promise<void>;
  #serial: number;

  static async open(url: string, zone: OneZone): Promise<HostEdits> {
    const [row] = await runOn(
      url,
      `select ttl, rdata from zone_records where owner = '${apexOf(zone)}' and type = ${TYPE.SOA} and not removed`,
    );
    return new HostEdits(openDatabase(url), zone, row as { ttl: string; rdata: Buffer });
  }

  private constructor(db: Database, zone: OneZone, { ttl, rdata }: { ttl: string; rdata: Buffer }) {
    this.#db = db;
    this.#zone = zone;
    this.#soa = { owner: parseName(apexOf(zone)), type: TYPE.SOA, ttl: Number(ttl), rdata };
    this.#serial = serialIn(rdata);
    this.#undo = onEnd(() => db.destroy());
  }

  get serial(): number {
    return this.#serial;
  }

  /** Gives a host an address that it did not have. Returns both. */
  async edit(host: number): Promise<{ owner: string; address: Buffer }> {
    const owner = `${this.#zone.hostName(host)}.`;
    const name = parseName(owner);
    const apex = this.#soa.owner;
    this.#serial = nextSerial(this.#serial);
    const address = Buffer.alloc(4);
    address.writeUInt32BE(this.#serial);
    address[0] = 10;
    const soa = { ...this.#soa, rdata: withSerial(this.#soa.rdata, this.#serial) };
    const owners = [
      { owner: name, types: [TYPE.A], records: [{ owner: name, type: TYPE.A, ttl: TTL, rdata: address }] },
      { owner: apex, types: [TYPE.SOA], records: [soa] },
    ];
    await inTransaction(this.#db, async (trx) => {
      const zone = (await lockZones(trx, [apexOf(this.#zone)], false)).values().next().value;
      if (zone === undefined) throw new Error('the zone to edit does not exist');
      for (const chunk of chunksOfOwners(zone, apex, owners)) await writeDifference(trx, chunk);
      await writeChanges(trx, [changedZone(zone, zone.records)], 'zone.save', { source: 'test' });
    });
    announce(this.#db);
    return { owner, address };
  }

  /** Edits the host, and waits until the server answers with the new address. */
  async editUntilAnswered(host: number, port: number): Promise<void> {
    const watch = await AnswerWatch.open('127.0.0.1', port);
    try {
      const { owner, address } = await this.edit(host);
      await watch.untilAnswered(owner, address);
    } finally {
      watch.close();
    }
  }

  end(): Promise<void> {
    return this.#undo();
  }
}

export function apexOf({ set }: OneZone): string {
  return set.zones[0]?.apex ?? '';
}
