// Transfers over TLS with BIND and NSD, which are configured as in docs/operating/transfers-over-tls.md.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signMessage } from '../../../src/dns/message/tsig.ts';
import { TsigStreamVerifier } from '../../../src/dns/message/tsig-stream.ts';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { DNS_OVER_TLS_PORT, type PeerTls } from '../../../src/store/transfers/peer-tls.ts';
import { TransferReader } from '../../../src/zone/transfer/read-transfer.ts';
import { queryFor } from '../../support/answer/packets.ts';
import { framed, TcpClient } from '../../support/answer/sockets.ts';
import { type Issued, makeCertificate } from '../../support/certificates/make-certificate.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { dig, TransferFleet, transferred, zoneText } from '../../support/peers/transfer-fleet.ts';
import { type PeerTlsStart, TRANSFER_PROGRAMS } from '../../support/peers/transfer-peers.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { until } from '../../support/tests/until.ts';

const PROGRAMS = ['nsd', 'bind'] as const;
const missing = [...PROGRAMS.map((name) => TRANSFER_PROGRAMS[name]), 'dig'].filter(
  (each) => !isInstalled(each),
);
const needs = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;
const NODE_NAME = 'ns1.fleet.test';
const SERVER_NAME = 'ns.hidden.test';

const pinOf = ({ certificate }: Issued) =>
  createHash('sha256').update(Buffer.from(certificate.publicKey.rawData)).digest();

describe.skipIf(needs !== '')(`transfers over TLS${needs}`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-xot-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  let fleet: TransferFleet;
  let authority: Issued;
  let server: Issued;
  let dotPort: number;

  const strict = (more: Partial<PeerTls> = {}): PeerTls => ({
    ...{ mode: 'strict', port: DNS_OVER_TLS_PORT, name: null, pins: [] },
    ...more,
  });
  const tlsOf = (port: number, name = NODE_NAME): PeerTlsStart => ({
    ...{ port, name, authorities: authority.pem },
    ...{ pem: server.pem, key: server.key },
  });

  beforeAll(async () => {
    authority = await makeCertificate({ name: 'Test Root', isAuthority: true });
    const node = await makeCertificate({ names: [NODE_NAME], issuer: authority });
    server = await makeCertificate({ names: [SERVER_NAME], issuer: authority });
    fleet = await TransferFleet.create();
    dotPort = await freePort();
    const secondaries = [];
    for (const name of [...PROGRAMS, 'misled-nsd', 'misled-bind'])
      secondaries.push(await fleet.addPeer(name, { tls: strict() }));
    await fleet.setPolicy(...secondaries);
    await fleet.saveZones(1, ['nsd.test', 'bind.test', 'misled.test']);
    await fleet.startNodes(1, {
      DOT_LISTEN: `127.0.0.1:${dotPort}`,
      DNS_TLS_CERT: file('node.pem', node.pem),
      DNS_TLS_KEY: file('node.key', node.key),
    });
    for (const [i, peer] of secondaries.entries()) {
      const program = PROGRAMS[i % 2] as (typeof PROGRAMS)[number];
      const [zone, name] = i < 2 ? [program, NODE_NAME] : ['misled', 'other.fleet.test'];
      await fleet.startSecondary(program, peer, { zones: [`${zone}.test`], tls: tlsOf(dotPort, name) });
      ports.push(peer.port);
    }
    const { key } = secondaries[0]!;
    keyOfNsd = `hmac-sha256:${key.name}:${key.secret}`;
    await fleet.startWorkers(1, { NODE_EXTRA_CA_CERTS: file('ca.pem', authority.pem) });
  });
  afterAll(async () => {
    await fleet?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Those of the secondaries: NSD, BIND, and both with the wrong name of the node. */
  const ports: number[] = [];
  let keyOfNsd = '';

  const untilHas = async (port: number, serial: number, zone: string, wanted: string) => {
    let lines: string[] = [];
    await until(
      async () => {
        lines = await transferred(port, parseName(`${zone}.`));
        return lines.some((line) => line.includes(` ${serial} 3600 `)) && lines.join('\n').includes(wanted);
      },
      () => `port ${port} has ${zone} ${serial}: ${lines.join('\n')}`,
    );
  };

  it.each(PROGRAMS)('%s transfers a zone, and then its differences', async (name) => {
    const port = ports[PROGRAMS.indexOf(name)] as number;
    const differences = await fleet.metric(
      'zonefleet_transfers_total{direction="out",form="ixfr",outcome="sent"}',
    );
    await untilHas(port, 1, `${name}.test`, 'NS');
    await fleet.saveZones(2, [`${name}.test`], ['www TXT "new"']);
    await untilHas(port, 2, `${name}.test`, '"new"');
    await until(
      async () =>
        (await fleet.metric('zonefleet_transfers_total{direction="out",form="ixfr",outcome="sent"}')) >
        differences,
      'differences were transferred',
    );
  });

  it('a server does not transfer from a node with another name', async () => {
    // BIND verifies the name after the handshake.
    const handshakes = () => fleet.metric('zonefleet_tls_handshakes_total');
    const before = await handshakes();
    await fleet.saveZones(2, ['misled.test']); // sends NOTIFY
    await until(async () => (await handshakes()) >= before + 2, 'both have tried');
    for (const port of ports.slice(2))
      expect(await dig(port, 'misled.test', 'SOA')).not.toContain('ANSWER: 1');
  });

  it('a strict peer is refused without TLS', async () => {
    const query = ['-y', keyOfNsd, 'nsd.test', 'AXFR'];
    expect(await dig(fleet.nodes[0]!.address.port, ...query)).toContain('Transfer failed');
    expect(await dig(dotPort, '+tls', ...query)).toContain('XFR size');
  });

  it('several transfers and queries share a connection, each with its signatures (RFC 9103 §6)', async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => `n${i} TXT "${'x'.repeat(200)}"`);
    const zones = ['large-1.test', 'large-2.test', 'large-3.test'];
    await fleet.saveZones(1, zones, lines);
    const { port } = fleet.nodes[0]!.address;
    for (const zone of zones) await until(async () => (await dig(port, zone, 'SOA')).includes('ANSWER: 1'));
    const [, name, secret] = keyOfNsd.split(':') as [string, string, string];
    const key = {
      name: parseName(name),
      algorithm: 'hmac-sha256',
      secret: Buffer.from(secret, 'base64'),
    } as const;
    const tls = { ca: authority.pem, servername: NODE_NAME, ALPNProtocols: ['dot'] };
    const client = await TcpClient.open({ address: '127.0.0.1', port: dotPort }, { tls });
    const nowSeconds = Math.floor(Date.now() / 1000);
    const transfers = zones.map((zone, i) => {
      const query = queryFor(`${zone}.`, TYPE.AXFR);
      query.writeUInt16BE(i);
      const { message, mac } = signMessage(query, key, { nowSeconds });
      const server = `${i}`;
      const limits = { maxRecords: 10_000, maxOctets: 2 ** 24 };
      const expected = {
        apex: parseName(`${zone}.`),
        type: TYPE.AXFR,
        id: i,
        serial: undefined,
        server,
        ...limits,
      };
      return { message, verifier: new TsigStreamVerifier(key, mac), reader: new TransferReader(expected) };
    });
    const soa = queryFor('nsd.test.', TYPE.SOA);
    soa.writeUInt16BE(transfers.length);
    client.socket.write(framed(...transfers.map(({ message }) => message), soa));
    const order: number[] = [];
    const records = new Map<number, number>();
    await until(() => {
      for (const octets of client.messages.splice(0)) {
        const id = octets.readUInt16BE();
        order.push(id);
        const transfer = transfers[id];
        if (transfer === undefined) continue;
        const verified = transfer.verifier.accept(octets, nowSeconds);
        if (verified.kind !== 'ok') throw new Error(verified.error);
        const result = transfer.reader.accept(verified.message);
        if (result !== undefined) records.set(id, result.kind === 'zone' ? result.records.length : -1);
      }
      return records.size === transfers.length && order.includes(transfers.length);
    }, 'all are answered');
    client.socket.destroy();
    expect([...records.values()]).toEqual([3003, 3003, 3003]);
    // The first transfer did not end before the others began.
    expect(order.indexOf(2)).toBeLessThan(order.lastIndexOf(0));
  });

  describe.each(PROGRAMS)('from %s', (name) => {
    it('are verified', async () => {
      const port = await freePort();
      const settings: Record<string, PeerTls> = {
        named: strict({ port, name: SERVER_NAME }),
        pinned: strict({ port, pins: [pinOf(authority), pinOf(server)] }),
        both: strict({ port, name: SERVER_NAME, pins: [pinOf(server)] }),
        other: strict({ port, name: 'other.hidden.test' }),
        unpinned: strict({ port, pins: [pinOf(authority)] }),
        opportunistic: strict({ port, mode: 'opportunistic' }),
        closed: strict({ port: 1, mode: 'opportunistic' }),
      };
      const zones = Object.keys(settings).map((each) => `${each}.${name}.test`);
      const first = await fleet.addPeer(`${name}-named`, { isPrimary: true, tls: settings.named! });
      await fleet.startPrimary(name, first, {
        zones,
        files: Object.fromEntries(zones.map((zone) => [`${zone}.zone`, zoneText(1)])),
        tls: tlsOf(port),
      });
      const keyId = sql`(select key_id from peers where name = ${first.name})`;
      for (const [each, { mode, port: tlsPort, name: tlsName, pins }] of Object.entries(settings)) {
        if (each !== 'named')
          await sql`insert into peers (name, addresses, port, key_id, tls, tls_port, tls_name, tls_pins)
            values (${`${name}-${each}`}, '{127.0.0.1}', ${first.port}, ${keyId}, ${mode}, ${tlsPort}, ${tlsName},
              ${pins}::bytea[])`.execute(fleet.db);
        await fleet.copyZones({ ...first, name: `${name}-${each}` }, `${each}.${name}.test`);
      }
      const states = async () => {
        const { rows } = await sql<{ zone: string; serial: number | null; error: string | null }>`
          select split_part(zone_name, '.', 1) as zone, serial, last_error || ' ' || last_message as error
          from secondaries where zone_name like ${`%.${name}.test.`}`.execute(fleet.db);
        return rows;
      };
      const all = await until(async () => {
        const rows = await states();
        return rows.every(({ serial, error }) => serial !== null || error !== null) && rows;
      }, 'all zones were transferred or failed');
      const found = Object.fromEntries(
        all.map(({ zone, serial, error }) => [zone, serial ?? error?.replace(/127\.0\.0\.1:\d+/, 'it')]),
      );
      expect(found).toEqual({
        ...{ named: 1, pinned: 1, both: 1, opportunistic: 1 },
        // BIND is configured to transfer only over TLS.
        closed: name === 'bind' ? 'PRIMARY_REFUSED it answered REFUSED to AXFR' : 1,
        other: `PRIMARY_TLS it failed the TLS handshake: Host: other.hidden.test. is not in the cert's altnames: DNS:${SERVER_NAME}`,
        unpinned: `PRIMARY_TLS it has a key with another pin: ${pinOf(server).toString('base64')}`,
      });
    });
  });
});
