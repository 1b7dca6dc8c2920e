// Two nodes answer transfers: of dig, kdig and dnspython, without Postgres, between fast edits, and to a slow reader.

import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { transferZone } from '../../../src/resolver/transfer/transfer-zone.ts';
import { TSIG_ALGORITHMS } from '../../../src/store/transfers/keys.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { applyDifferences, touchedSets } from '../../../src/zone/transfer/apply-difference.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { queryFor } from '../../support/answer/queries.ts';
import { framed } from '../../support/answer/sockets.ts';
import { newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { askMany, isInstalled } from '../../support/peers/peers.ts';
import {
  dig,
  type FleetPeer,
  linesOf,
  TransferFleet,
  transferred,
  UNSIGNED,
  zoneText,
} from '../../support/peers/transfer-fleet.ts';
import { scale } from '../../support/tests/scale.ts';
import { until } from '../../support/tests/until.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const missing = ['dig', 'kdig', 'nsd', '/usr/lib/python3/dist-packages/dns'].filter(
  (each) => !isInstalled(each),
);
const needs = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

const ZONE = 'own.test';
const APEX = parseName(`${ZONE}.`);
const DOMAIN = parseName('example.com.');
const LARGE = parseName('large.test.');
const LARGE_RECORDS = scale(1_000_000, 100_000);
/** Makes zones larger than the differences of a few edits: otherwise nodes send the zone. */
const FILLER = Array.from({ length: 30 }, (_, i) => `f${i} A 192.0.2.${i}`);
const EDITS = 1000;
const EDITED_ZONES = 10;
const MANY_RECORDS = 1000;
const FAST_EDITS = scale(1000, 200);
const READER_OCTETS = 1024;

describe.skipIf(needs !== '')(`nodes${needs}`, () => {
  let fleet: TransferFleet;
  let domainId: number;
  let keys: FleetPeer[];
  let port: number;

  beforeAll(async () => {
    fleet = await TransferFleet.create();
    domainId = (await newDomain(fleet.db, await newAccount(fleet.db, 'a@example.org'))).id;
    await saved(fleet.db, domainId, FILLER);
    keys = [];
    for (const algorithm of TSIG_ALGORITHMS) keys.push(await fleet.addPeer(algorithm, { algorithm }));
    await fleet.setPolicy(...keys);
    await fleet.saveZones(1, [ZONE], [...FILLER, 'a A 192.0.2.1']);
    await fleet.startNodes(2, { IMAGE_BYTES: `${scale(1024, 256)}M` });
    port = fleet.nodes[0]?.address.port as number;
  });
  afterAll(() => fleet?.stop());

  const stored = async (apex = APEX) => linesOf((await loadZone(fleet.db, apex))?.records ?? []);

  /** Changes the zone and waits until both nodes answer it. */
  async function save(serial: number, ...lines: string[]) {
    await fleet.saveZones(serial, [ZONE], [...FILLER, ...lines]);
    for (const { address } of fleet.nodes)
      await until(
        async () => (await dig(address.port, '+short', ZONE, 'SOA')).includes(` ${serial} 3600 `),
        `serial ${serial} is answered`,
      );
  }

  describe('answer transfers', () => {
    it('of dig and kdig with each algorithm, and without a key from the network of a peer', async () => {
      await save(2, 'a A 192.0.2.2', 'b A 192.0.2.3');
      const whole = await stored();
      expect(await transferred(port, APEX, '-b', UNSIGNED)).toEqual(whole);
      for (const { key } of keys) {
        const signed = ['-y', `${key.algorithm}:${key.name}:${key.secret}`];
        expect(await transferred(port, APEX, ...signed)).toEqual(whole);
        expect(await dig(port, ...signed, ZONE, 'IXFR=1')).toMatch(/SOA.*\n.*SOA.*\n.*\s192\.0\.2\.1\n.*SOA/);
        const { stdout } = await promisify(execFile)('kdig', [
          '@127.0.0.1',
          '-p',
          `${port}`,
          ...signed,
          ZONE,
          'AXFR',
        ]);
        expect(stdout).toContain(`${whole.length + 1} records`);
      }
    });

    it('of dnspython, which verifies every message, and refuse other requests with the right error', async () => {
      const old = linesOf(recordsOf(zoneText(1, [...FILLER, 'a A 192.0.2.1']), `${ZONE}.`));
      const given = { port, zone: ZONE, old, keys: keys.map(({ key }) => key) };
      const running = promisify(execFile)('/usr/bin/python3', ['-c', SCRIPT, JSON.stringify(given)]);
      const { axfr, ixfr, answers } = JSON.parse((await running).stdout);
      const whole = await stored();
      const records = (text: string) => linesOf(recordsOf(text, `${ZONE}.`));
      expect(axfr.map(records)).toEqual(keys.map(() => whole));
      expect(ixfr.map(records)).toEqual(keys.map(() => whole));
      expect(answers).toEqual({
        signed: ['NOERROR', 'valid'],
        unsigned: ['REFUSED', 'unsigned'],
        'other zone': ['NOTAUTH', 'valid'],
        'unknown key': ['NOTAUTH', 'PeerBadKey'],
        'hmac-sha1': ['NOTAUTH', 'PeerBadKey'],
        'other secret': ['NOTAUTH', 'PeerBadSignature'],
        'changed octet': ['NOTAUTH', 'PeerBadSignature'],
        'wrong time': ['NOTAUTH', 'PeerBadTime'],
        'a record after TSIG': ['FORMERR', 'unsigned'],
        'two TSIG records': ['FORMERR', 'unsigned'],
      });
    });
  });

  it('send differences only, to a secondary that alternates between them during fast edits', async () => {
    const primaries = fleet.nodes.map(({ address }) => ({ ...address, key: undefined }));
    const options = { signal: AbortSignal.timeout(600_000), allowed: 'any', sources: [UNSIGNED] } as const;
    const order = { apex: DOMAIN, form: 'axfr', serial: undefined, maxRecords: 10_000 } as const;
    // A zone that is larger than the differences of a late refresh.
    const many = Array.from({ length: MANY_RECORDS }, (_, i) => `n${i} A 192.0.2.1`);
    await saved(fleet.db, domainId, many);
    const isLarge = async (from: (typeof primaries)[number]) => {
      const result = await transferZone(from, order, options);
      return result.kind === 'zone' && result.records.length > MANY_RECORDS;
    };
    for (const primary of primaries) await until(() => isLarge(primary), 'each node has all records');
    const first = await transferZone(primaries[0]!, order, options);
    if (first.kind !== 'zone') throw new Error(JSON.stringify(first));
    let { records, serial } = first as { records: readonly ZoneRecord[]; serial: number };
    const forms = { differences: 0, current: 0, older: 0 };
    let isEditing = true;
    const edits = async () => {
      for (let i = 0; i < FAST_EDITS; i++)
        await saved(fleet.db, domainId, {
          replace: [[`h${i % 20}`, 'A', `${60 + i} A 198.51.100.${i % 250}`]],
        });
      isEditing = false;
    };
    const refresh = async (from: (typeof primaries)[number]) => {
      const result = await transferZone(from, { ...order, form: 'ixfr', serial }, options);
      if (result.kind === 'current') forms.current++;
      // This node has not received the newest edits yet.
      else if (result.kind === 'failed' && result.code === 'PRIMARY_SERIAL_BACK') forms.older++;
      else if (result.kind !== 'differences') throw new Error(`${from.port}: ${JSON.stringify(result)}`);
      else {
        records = applied(records, result.differences);
        serial = result.serial;
        forms.differences++;
      }
    };
    const secondary = async () => {
      for (let i = 0; isEditing; i++) await refresh(primaries[i % 2]!);
    };
    await Promise.all([edits(), secondary()]);
    await until(async () => {
      await refresh(primaries[1]!);
      return linesOf(records).join() === (await stored(DOMAIN)).join();
    }, 'the secondary has the last edit');
    expect(forms.differences).toBeGreaterThan(10);
    for (const node of fleet.nodes)
      expect(await fleet.metric('zonefleet_history_misses_total', node)).toBe(0);
  });

  it('send one SOA to current secondaries, and the zone to others, while Postgres is unavailable', async () => {
    const [{ key }] = keys as [FleetPeer];
    const ixfr = (serial: number) =>
      dig(
        port,
        '-y',
        `${key.algorithm}:${key.name}:${key.secret}`,
        '+noall',
        '+answer',
        ZONE,
        `IXFR=${serial}`,
      );
    const soas = (text: string) => text.split('\n').filter((line) => line.includes('SOA')).length;
    const server = await fleet.startSecondary('nsd', keys[0] as FleetPeer, { zones: [ZONE] });
    await until(async () => (await transferred(server.port, APEX)).length > 0, 'the secondary has the zone');
    await server.restart(async () => {
      await save(3, 'c A 192.0.2.4');
      fleet.proxy.cut();
    });
    const whole = await stored();
    await until(
      async () => (await transferred(server.port, APEX)).join() === whole.join(),
      'the secondary has the new zone',
    );
    expect(soas(await ixfr(3))).toBe(1);
    const lagging = await ixfr(2);
    expect([soas(lagging), linesOf(recordsOf(lagging, `${ZONE}.`).slice(1))]).toEqual([2, whole]);
    fleet.proxy.resume();
    await until(async () => soas(await ixfr(2)) === 4, 'differences are sent again');
  });

  it('release the memory of edits, and answer all other queries, while a peer reads slowly', async () => {
    const lines = Array.from({ length: LARGE_RECORDS }, (_, i) => `n${i} TXT "${`${i}`.padEnd(100, 'x')}"`);
    const small = Array.from({ length: EDITED_ZONES }, (_, i) => `e${i}.test`);
    const edit = (serial: number) => fleet.saveZones(serial, small, [`e A 192.0.2.${serial % 250}`]);
    const isAnswered = async (zone: string, serial: number) =>
      (await dig(port, '+short', zone, 'SOA')).includes(` ${serial} 3600 `);
    await fleet.saveZones(1, ['large.test'], lines);
    await until(() => isAnswered('large.test', 1), 'the large zone is answered');
    await edit(1);
    await until(() => isAnswered('e0.test', 1), 'the small zones are answered');
    const used = () => fleet.metric('zonefleet_image_bytes ');
    const before = await used();
    const reader = slowReader(port);
    await until(() => reader.octets > READER_OCTETS, 'the transfer has begun');

    const last = EDITS / EDITED_ZONES + 1;
    for (let i = 2; i <= last; i++) await edit(i);
    await until(() => isAnswered('e0.test', last), 'the edits are answered');
    let after = 0;
    await until(
      async () => {
        after = await used();
        return after <= before;
      },
      () => `${before} octets are used again: ${after}`,
    );

    const query = queryFor({ name: LARGE, type: TYPE.SOA, udpPayloadSize: 1232 });
    const replies = await askMany(
      port,
      Array.from({ length: 1000 }, () => query),
      { tries: 1, timeoutMs: 5000 },
    );
    expect(replies.filter((reply) => reply !== undefined)).toHaveLength(1000);
    expect(await transferred(port, LARGE, '-b', UNSIGNED)).toHaveLength(LARGE_RECORDS + 3);
    expect(reader.hasEnded).toBe(false);
    reader.stop();
  });
});

/** Transfers the large zone, and takes 1 KiB per second. */
function slowReader(port: number) {
  const reader = { octets: 0, hasEnded: false, stop: () => socket.destroy() };
  const take = (octets: number) => {
    reader.octets += octets;
    timer = setTimeout(() => socket.resume(), 1000);
    return false;
  };
  let timer: NodeJS.Timeout | undefined;
  const onread = { buffer: Buffer.alloc(READER_OCTETS), callback: take };
  const socket = connect({ host: '127.0.0.1', port, localAddress: UNSIGNED, onread });
  socket.write(framed(queryFor({ name: LARGE, type: TYPE.AXFR, udpPayloadSize: undefined })));
  socket.on('error', () => {});
  socket.on('close', () => {
    clearTimeout(timer);
    reader.hasEnded = true;
  });
  return reader;
}

function applied(
  before: readonly ZoneRecord[],
  differences: Parameters<typeof applyDifferences>[1],
): ZoneRecord[] {
  const touched = new Set(touchedSets(differences).map(({ owner, type }) => `${owner} ${type}`));
  const isTouched = ({ owner, type }: ZoneRecord) => touched.has(`${owner} ${type}`);
  const result = applyDifferences(before.filter(isTouched), differences);
  if (result.kind !== 'applied') throw new Error(result.message);
  return [...before.filter((record) => !isTouched(record)), ...result.sets.flatMap(({ records }) => records)];
}

/** Prints what dnspython has transferred, and how it reads the answers to other requests. */
const SCRIPT = String.raw`
import json, socket, struct, sys, time
import dns.message, dns.query, dns.rcode, dns.tsig, dns.tsigkeyring, dns.versioned, dns.xfr, dns.zone
given = json.loads(sys.argv[1])
port, name = given['port'], given['zone'] + '.'
result = {'axfr': [], 'ixfr': [], 'answers': {}}
keyring = dns.tsigkeyring.from_text({key['name']: (key['algorithm'], key['secret']) for key in given['keys']})

for key in given['keys']:
    for form in ['axfr', 'ixfr']:
        zone = dns.versioned.Zone(name) if form == 'axfr' else \
            dns.zone.from_text('\n'.join(given['old']), origin=name, zone_factory=dns.versioned.Zone)
        query, _ = dns.xfr.make_query(zone, keyring=keyring, keyname=key['name'], keyalgorithm=key['algorithm'])
        assert dns.rdatatype.to_text(query.question[0].rdtype).lower() == form
        dns.query.inbound_xfr('127.0.0.1', zone, query, port=port, lifetime=20)
        result[form].append(zone.to_text(relativize=False))

def ask(what, key=None, zone=name, skew=0, change=lambda wire: wire):
    query = dns.message.make_query(zone, 'AXFR')
    if key: query.use_tsig(dns.tsig.Key(*key))
    now = time.time
    time.time = lambda: now() - skew
    wire = change(bytearray(query.to_wire()))
    time.time = now
    with socket.create_connection(('127.0.0.1', port)) as connection:
        connection.sendall(struct.pack('!H', len(wire)) + wire)
        stream = connection.makefile('rb')
        reply = stream.read(struct.unpack('!H', stream.read(2))[0])
    try:
        read = dns.message.from_wire(reply, keyring=query.keyring, request_mac=query.mac, xfr=True, multi=True)
        how = 'valid' if read.had_tsig else 'unsigned'
    except dns.exception.DNSException as error:
        how = type(error).__name__
    result['answers'][what] = [dns.rcode.to_text(reply[3] & 15), how]

def with_last(record):
    def change(wire):
        wire[10:12] = struct.pack('!H', struct.unpack('!H', wire[10:12])[0] + 1)
        return wire + record(wire)
    return change

def flip(wire):
    wire[13] ^= 0x20
    wire[2] ^= 1
    return wire

key = [given['keys'][0][field] for field in ['name', 'secret', 'algorithm']]
question = 12 + len(dns.name.from_text(name).to_wire()) + 4
ask('signed', key)
ask('unsigned')
ask('other zone', key, zone='other.test.')
ask('unknown key', ['other.', key[1], key[2]])
ask('hmac-sha1', [key[0], key[1], 'hmac-sha1'])
ask('other secret', [key[0], 'AAAA', key[2]])
ask('changed octet', key, change=flip)
ask('wrong time', key, skew=1000)
ask('a record after TSIG', key, change=with_last(lambda wire: bytes([0, 0, 16, 0, 1, 0, 0, 0, 0, 0, 1, 0])))
ask('two TSIG records', key, change=with_last(lambda wire: wire[question:]))
json.dump(result, sys.stdout)
`;
