// The transfer thread with its sockets and the database, queried with dig and nsupdate.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTsig, signMessage } from '../../../src/dns/message/tsig.ts';
import { parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { Answerer } from '../../../src/nameserver/answer/answer-query.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { COUNTRY_TABLE_BYTES } from '../../../src/nameserver/image/find/country-table.ts';
import { ReaderSlot } from '../../../src/nameserver/image/image.ts';
import { SlowPath } from '../../../src/nameserver/slow-path/slow-path.ts';
import {
  startTransferThread,
  type TransferThread,
} from '../../../src/nameserver/slow-path/start-transfer-thread.ts';
import { listenTcp } from '../../../src/nameserver/tcp/tcp.ts';
import { connect } from '../../../src/store/postgres/connection.ts';
import { createKey, TSIG_ALGORITHMS } from '../../../src/store/transfers/keys.ts';
import { addPeer } from '../../../src/store/transfers/peers.ts';
import { setPolicy } from '../../../src/store/transfers/policies.ts';
import {
  answerUpdate,
  type ClaimedUpdate,
  claimUpdates,
  offerUpdates,
} from '../../../src/store/updates/queue.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { isMark, type ZoneRecord } from '../../../src/zone/zone.ts';
import { listenUdpFor } from '../../support/answer/listen-udp-for.ts';
import { assemble } from '../../support/answer/packets.ts';
import { nsupdate } from '../../support/peers/nsupdate.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import {
  collectingLog,
  type FollowingNode,
  followLoaded,
  newWriter,
  untilEqual,
} from '../../support/processes/follow.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('example.test.');
const SECRETS = [{ name: 'one', secret: Buffer.alloc(32, 9) }];
const run = promisify(execFile);
const database = keptDatabase();
const log = collectingLog();
/** `algorithm:name:secret` by algorithm, as `dig -y` expects it. */
const keys = new Map<string, string>();
const closing: (() => Promise<void>)[] = [];
let node: FollowingNode;
let thread: TransferThread;
let proxy: TcpProxy;
let port: number;

const FILLER = Array.from(
  { length: 500 },
  (_, i) => `f${i}.Sub 60 MX 10 mail.f${i}.sub\nf${i}.sub 60 TXT "${'x'.repeat(i % 200)}"`,
);

async function save(serial: number, ...lines: string[]): Promise<void> {
  const soa = `@ 300 SOA ns1 host ${serial} 3600 600 86400 60`;
  const text = [soa, '@ 300 NS ns1', 'ns1 300 A 192.0.2.1', ...FILLER, ...lines].join('\n');
  await saveZones(database.db, [{ apex: APEX, records: recordsOf(text, 'example.test.') }], {
    source: 'test',
  });
  await untilEqual(node, database.db);
}

const needs = ['dig', 'nsupdate'].every(isInstalled) ? '' : ' (skipped: needs dig and nsupdate)';

describe.skipIf(needs !== '')(`the transfer thread${needs}`, () => {
  beforeAll(async () => {
    const { db, url } = database;
    for (const algorithm of TSIG_ALGORITHMS) {
      const made = await createKey(db, SECRETS, { accountId: null, algorithm, label: algorithm });
      if (made.kind !== 'stored') throw new Error(made.kind);
      keys.set(algorithm, `${algorithm}:${made.key.name}:${Buffer.from(made.secret).toString('base64')}`);
      await addPeer(db, { name: algorithm, addresses: [], port: 53, networks: [], keyId: made.key.id });
    }
    await setPolicy(db, { name: 'default', transfers: TSIG_ALGORITHMS, notified: [] });
    const settings = {
      nodeName: 'node-1',
      version: '1',
      cookieSecrets: [Buffer.alloc(16, 1)],
      tcpIdleTimeoutMs: 10_000,
      hasTransfers: true,
    };
    const writer = newWriter();
    node = await followLoaded({ databaseUrl: url, writer });
    closing.push(() => node.stop());
    proxy = await startProxy(url);
    closing.push(() => proxy.stop());
    const { image } = writer;
    const all = { ...settings, rateLimit: undefined, amplificationLimit: undefined };
    const counters = new QueryCounters();
    const failures: unknown[] = [];
    const answerer = new Answerer(image, all, counters, (error) => failures.push(error));
    const answering = {
      image,
      settings: all,
      answerer,
      reader: new ReaderSlot(image, 0),
      counters,
      failures,
    };
    const slowPath = new SlowPath();
    const listen = [{ address: '127.0.0.1', port: 0 }];
    const tcp = await listenTcp(listen, { ...answering, slowPath });
    closing.push(tcp.close);
    ({ port } = tcp.addresses[0] as { port: number });
    const udp = await listenUdpFor(answering, tcp.addresses, 'dgram', answering.counters, { slowPath });
    closing.push(udp.close);
    thread = startTransferThread({
      thread: {
        buffer: image.buffer,
        slot: 101,
        settings: { ...settings, hasTransfers: false },
        counters: new QueryCounters().buffer,
        amplificationLimit: undefined,
        countries: new SharedArrayBuffer(COUNTRY_TABLE_BYTES),
        databaseUrl: proxy.url,
        readUrl: undefined,
        nodeName: 'node-1',
        transfers: 'answer',
        transfersMax: 5,
        dnsUpdate: true,
        notifyRate: 200,
        notifySource: undefined,
        tsigSecrets: SECRETS,
        dnsListen: tcp.addresses,
      },
      slowPath,
      image: { watch: () => {}, onZones: () => {} },
      log,
    });
    closing.push(() => thread.stop());
    await save(1);
    await until(async () => (await dig('-y', keyOf('hmac-sha256'), 'axfr')).length > 0, 'the thread answers');
  });

  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  const keyOf = (algorithm: string) => keys.get(algorithm) as string;

  /** Returns the records that dig prints for the zone, in their order. */
  async function dig(...args: string[]): Promise<string[]> {
    const options = ['@127.0.0.1', '-p', String(port), '+noall', '+answer', '+time=5', '+nocmd', '+tries=1'];
    const { stdout } = await run('dig', [...options, 'example.test.', ...args], { maxBuffer: 2 ** 24 });
    return stdout
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(';'))
      .map((line) => line.replace(/\s+/g, ' '));
  }

  const lineOf = ({ owner, type, ttl, rdata }: ZoneRecord) =>
    `${printName(owner)} ${ttl} IN ${typeMnemonic(type)} ${printRdata(type, rdata)}`;

  async function storedLines(): Promise<string[]> {
    const { records } = (await loadZone(database.db, APEX)) as { records: ZoneRecord[] };
    return records
      .filter((record) => !isMark(record))
      .map(lineOf)
      .sort();
  }

  test('answers AXFR with the records of the zone', async () => {
    const [first, ...others] = await dig('-y', keyOf('hmac-sha512'), 'axfr');
    expect(others.at(-1)).toBe(first);
    expect(others.sort()).toEqual(await storedLines());
  });

  describe('IXFR', () => {
    const ixfr = (serial: number, ...options: string[]) =>
      dig('-y', keyOf('hmac-sha512'), `ixfr=${serial}`, ...options);

    /** Applies the records of an incremental transfer. Returns undefined if it is of another form. */
    function apply(before: readonly string[], [last, ...records]: readonly string[]): string[] | undefined {
      const zone = new Set(before);
      let isRemoved = false;
      if (records.pop() !== last) return undefined;
      for (const record of records) {
        if (record.includes(' IN SOA ')) isRemoved = !isRemoved;
        if (isRemoved ? !zone.delete(record) : zone.has(record)) return undefined;
        if (!isRemoved) zone.add(record);
      }
      return [...zone].sort();
    }

    test('leads from each earlier version to the present one', async () => {
      const versions = [await storedLines()];
      const edits = [
        ['a 60 A 192.0.2.1'],
        ['a 60 A 192.0.2.2', 'b 60 TXT "b"'],
        ['a 600 A 192.0.2.2'],
        ['a 600 A 192.0.2.1', '*.c 60 MX 5 a'],
      ];
      for (const [i, lines] of edits.entries()) {
        await save(i + 2, ...lines);
        versions.push(await storedLines());
      }
      const last = versions.at(-1);
      for (const [i, before] of versions.slice(0, -1).entries()) {
        const received = await ixfr(i + 1);
        expect(received.length).toBeLessThan(25);
        expect(apply(before, received)).toEqual(last);
        expect(await ixfr(i + 1, '+notcp')).toEqual(received);
      }
      expect(await ixfr(versions.length)).toHaveLength(1);
    });

    test('is answered with the whole zone if the version is unknown, or while Postgres is unavailable', async () => {
      expect((await ixfr(0)).length).toBeGreaterThan(1000);
      expect(await ixfr(0, '+notcp')).toHaveLength(1);
      await save(6, 'd 60 A 192.0.2.1');
      proxy.cut();
      expect((await ixfr(5)).length).toBeGreaterThan(1000);
      expect(await ixfr(6)).toHaveLength(1);
      proxy.resume();
      const misses = () => thread.state()?.historyMisses.map(({ why }) => why);
      await until(() => misses()?.length === 2, 'the misses are counted');
      expect(misses()).toEqual(['purged', 'unavailable']);
      await until(async () => (await ixfr(5)).length < 10, 'the history is read again');
    });
  });

  describe('a dynamic update', () => {
    const update = (...options: string[]) =>
      nsupdate(
        port,
        keyOf('hmac-sha512'),
        ['zone example.test', 'update add new.example.test 60 A 192.0.2.9'],
        ...options,
      );
    const count = () => database.value<number>`select count(*)::int from dns_updates`;

    /** Carries out one update as an API process does, and returns it. Its answer is NOERROR. */
    async function carryOut(serial?: number): Promise<ClaimedUpdate> {
      const [claimed] = await until(async () => {
        const found = await claimUpdates(database.db, 1);
        return found.length > 0 && found;
      }, 'an update waits');
      const { octets } = claimed as ClaimedUpdate;
      const [, name, secret] = keyOf('hmac-sha512').split(':') as [string, string, string];
      const key = {
        name: parseName(name),
        algorithm: 'hmac-sha512',
        secret: Buffer.from(secret, 'base64'),
      } as const;
      const found = readTsig(octets);
      if (found.kind !== 'found') throw new Error('the update is not signed');
      const head = assemble(`${Buffer.from(octets.subarray(0, 2)).toString('hex')} a800 0000 0000 0000 0000`);
      const nowSeconds = Math.floor(Date.now() / 1000);
      const { message } = signMessage(head, key, { nowSeconds, requestMac: found.tsig.mac });
      const change = serial === undefined ? undefined : { apex: APEX, serial };
      await answerUpdate(database.db, claimed as ClaimedUpdate, message, change);
      return claimed as ClaimedUpdate;
    }

    test.each([['udp'], ['tcp']])('over %s is passed on, and answered', async (transport) => {
      const sent = update(...(transport === 'tcp' ? ['-v'] : []));
      expect(await carryOut()).toMatchObject({ transport, address: '127.0.0.1' });
      expect([await sent, await count()]).toEqual(['', 0]);
    });

    test('is answered when the node serves the change', async () => {
      const sent = update();
      await carryOut(7);
      const saved = save(7, 'new 60 A 192.0.2.9');
      expect(await sent).toBe('');
      expect(await dig('+norec', 'new.example.test.', 'A')).toHaveLength(1);
      await saved;
    });

    test('replaces rows of a former process', async () => {
      const connection = await connect(database.url, { applicationName: 'former' });
      const row = {
        octets: Buffer.alloc(12),
        address: '192.0.2.1',
        transport: 'udp',
        deadlineMs: 0,
      } as const;
      const slots = Array.from({ length: 1024 }, (_, slot) => ({ slot, ...row }));
      await offerUpdates(connection, 'node-1', randomUUID(), slots);
      await connection.close();
      await database.query`update dns_updates set claimed_at = now()`;
      const sent = update();
      await carryOut();
      expect([await sent, await count()]).toEqual(['', 0]);
    });

    test('gets SERVFAIL while Postgres is unavailable', async () => {
      proxy.cut();
      expect(await update()).toBe('update failed: SERVFAIL');
      proxy.resume();
      const carried = carryOut();
      await until(async () => (await update()) === '', 'updates are passed on again');
      await carried;
    });

    test('is refused with another key, and without one', async () => {
      const [algorithm, name] = keyOf('hmac-sha512').split(':');
      const wrong = `${algorithm}:${name}:${Buffer.alloc(64).toString('base64')}`;
      const lines = ['zone example.test', 'update delete new.example.test'];
      expect(await nsupdate(port, wrong, lines)).toMatch(/BADSIG/);
      const unknown = wrong.replace(`${name}`, 'unknown.');
      expect(await nsupdate(port, unknown, lines)).toMatch(/BADKEY/);
    });
  });

  test('a revoked key is refused', async () => {
    const names = await database.column`
    update tsig_keys set revoked_at = now() where algorithm = 'hmac-sha384' returning name`;
    expect(names).toHaveLength(1);
    await until(
      async () => (await dig('-y', keyOf('hmac-sha384'), 'axfr')).length === 0,
      'the key is refused',
    );
    expect((await dig('-y', keyOf('hmac-sha256'), 'axfr')).length).toBeGreaterThan(1000);
  });
});
