// Three other servers consume a catalog: zones are created, deleted, created again with other content, banned and unbanned.
// Each server then has exactly the zones of the fleet, with the same content.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { createCatalog } from '../../../src/features/catalogs/sql-manage.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { addPeer } from '../../../src/store/transfers/peers.ts';
import { setPolicy } from '../../../src/store/transfers/policies.ts';
import { unloadZones } from '../../../src/store/zones/save-zones.ts';
import { queryFor } from '../../support/answer/queries.ts';
import { BY, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import {
  CONSUMERS,
  type Consumer,
  MISSING_CONSUMERS,
  startConsumer,
} from '../../support/peers/catalog-consumers.ts';
import { DNSPYTHON } from '../../support/peers/dnspython.ts';
import { askMany, isInstalled } from '../../support/peers/peers.ts';
import { dig, type FleetPeer, TransferFleet, UNSIGNED } from '../../support/peers/transfer-fleet.ts';
import { scale } from '../../support/tests/scale.ts';
import { until } from '../../support/tests/until.ts';

const missing = [...MISSING_CONSUMERS, ...['dig', DNSPYTHON].filter((each) => !isInstalled(each))];
const needs = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;
const CATALOG = 'catalog.example.net';
const ZONES = scale(1000, 100);
const DELETED = (ZONES * 3) / 10;
const RECREATED = ZONES / 20;
const DOMAIN = 'example.com.';

const zone = (i: number) => `zone-${i}.test`;
const zones = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => zone(from + i));

describe.skipIf(needs !== '')(`a catalog${needs}`, () => {
  let fleet: TransferFleet;
  let peers: FleetPeer[];
  const consumers: Consumer[] = [];
  /** The content of each zone that should be served; undefined if it should not. */
  const wanted = new Map<string, string | undefined>();
  let domainId: number;

  const setZones = async (serial: number, names: readonly string[], text: string) => {
    for (let at = 0; at < names.length; at += 500)
      await fleet.saveZones(serial, names.slice(at, at + 500), [`@ TXT "${text}"`]);
    for (const name of names) wanted.set(`${name}.`, text);
  };

  beforeAll(async () => {
    fleet = await TransferFleet.create();
    const account = await newAccount(fleet.db, 'a@example.org');
    domainId = (await newDomain(fleet.db, account, DOMAIN)).id;
    peers = [];
    for (const name of CONSUMERS) peers.push(await fleet.addPeer(name));
    const names = peers.map(({ name }) => name);
    await setPolicy(fleet.db, { name: 'catalog', transfers: ['unsigned', ...names], notified: names });
    // PowerDNS 4.7 does not sign its requests for members.
    const members = { addresses: [], port: 53, networks: ['127.0.0.1/32'], keyId: null };
    await addPeer(fleet.db, { name: 'members', ...members });
    await setPolicy(fleet.db, {
      name: 'default',
      transfers: ['unsigned', 'members', ...names],
      notified: names,
    });
    const created = await createCatalog(
      fleet.db,
      {
        name: `${CATALOG}.`,
        selects: { kind: 'all' },
        policy: 'catalog',
        isGroupedByPolicy: false,
        maxMembers: 100_000,
      },
      'test',
    );
    expect(created).toEqual({ kind: 'created', hasKey: true });
    await fleet.startNodes(1);
    await fleet.startWorkers(2);
    const primary = fleet.nodes[0]?.address.port as number;
    for (const [i, name] of CONSUMERS.entries()) {
      const { port, key } = peers[i] as FleetPeer;
      consumers.push(await startConsumer(name, { port, key, primary }));
    }
  }, 120_000);
  afterAll(async () => {
    await Promise.all(consumers.map((each) => each.stop()));
    await fleet.stop();
  });

  /** Returns the zones that a server has in another form than they should be. */
  async function differing({ port }: Pick<Consumer, 'port'>): Promise<string[]> {
    const names = [...wanted.keys()];
    const queries = names.map((name) =>
      queryFor({ name: parseName(name), type: TYPE.TXT, udpPayloadSize: 1232 }),
    );
    const replies = await askMany(port, queries, { tries: 2, timeoutMs: 2000 });
    return names.filter((name, i) => {
      const reply = replies[i];
      if (reply === undefined) return true;
      const { rcode, answers } = decodeMessage(reply);
      const text = wanted.get(name);
      if (text === undefined) return rcode === 0;
      return (
        rcode !== 0 || !answers.some(({ rdata }) => Buffer.from(rdata).toString('latin1').includes(text))
      );
    });
  }

  async function expectEqual(): Promise<void> {
    for (const consumer of consumers) {
      let left: string[] = [];
      await until(
        async () => {
          left = await differing(consumer);
          return left.length === 0;
        },
        () =>
          `${consumer.name} has the zones of the fleet, but differs in ${left.length}: ${left.slice(0, 5)}`,
      );
    }
  }

  it('creates zones at each consumer', async () => {
    await setZones(10, zones(0, ZONES), 'first');
    await saved(fleet.db, domainId, ['@ TXT shop']);
    wanted.set(DOMAIN, 'shop');
    await expectEqual();
  }, 300_000);

  it('removes zones, and replaces zones that were created again, also with an older serial', async () => {
    const gone = zones(0, DELETED);
    await unloadZones(
      fleet.db,
      gone.map((name) => parseName(`${name}.`)),
      { source: 'test' },
    );
    for (const name of gone) wanted.set(`${name}.`, undefined);
    const again = zones(DELETED, DELETED + RECREATED);
    await unloadZones(
      fleet.db,
      again.map((name) => parseName(`${name}.`)),
      { source: 'test' },
    );
    await setZones(1, again, 'second');
    await expectEqual();
  }, 300_000);

  it('removes a domain that is banned, and creates it again when it is unbanned', async () => {
    await changeStatus(fleet.db, { ...BY, domainId, event: 'ban' });
    wanted.set(DOMAIN, undefined);
    await expectEqual();
    await changeStatus(fleet.db, { ...BY, domainId, event: 'unban', exempt: true });
    wanted.set(DOMAIN, 'shop');
    await expectEqual();
  }, 300_000);

  it('is valid by each rule of RFC 9432 §4, as dnspython reads it', async () => {
    const { key } = peers[0] as FleetPeer;
    const primary = fleet.nodes[0]?.address.port as number;
    const given = JSON.stringify({
      port: primary,
      zone: CATALOG,
      key: [key.algorithm, key.name, key.secret],
    });
    const { stdout } = await promisify(execFile)('/usr/bin/python3', ['-c', WALK, given]);
    const members = [...wanted].flatMap(([name, text]) => (text === undefined ? [] : [name]));
    expect(JSON.parse(stdout)).toEqual(members.sort());
  });

  it('sends one more member in less than 1 KiB', async () => {
    const port = fleet.nodes[0]?.address.port as number;
    const soa = async () => await dig(port, '-b', UNSIGNED, '+short', `${CATALOG}.`, 'SOA');
    const before = (await soa()).split(' ')[2] as string;
    await setZones(10, [zone(ZONES)], 'more');
    await expectEqual();
    const shown = await dig(port, '-b', UNSIGNED, `${CATALOG}.`, `IXFR=${before}`);
    const [, records, octets] = /XFR size: (\d+) records \(messages 1, bytes (\d+)\)/.exec(shown) ?? [];
    expect([Number(records), Number(octets) < 1024]).toEqual([5, true]);
  });

  it('is refused to others, over UDP and TCP', async () => {
    const port = fleet.nodes[0]?.address.port as number;
    for (const transport of ['+notcp', '+tcp'])
      for (const [name, type] of [
        [CATALOG, 'SOA'],
        [CATALOG, 'NS'],
        [CATALOG, 'ANY'],
        [`version.${CATALOG}`, 'TXT'],
        [`absent.${CATALOG}`, 'A'],
        [CATALOG, 'AXFR'],
      ] as const) {
        if (type === 'AXFR' && transport === '+notcp') continue;
        const shown = await dig(port, transport, name, type);
        expect([
          name,
          type,
          /REFUSED|Transfer failed/.test(shown),
          /(ANSWER|AUTHORITY) SECTION/.test(shown),
        ]).toEqual([...[name, type, true, false]]);
      }
  });
});

/** Checks a catalog (RFC 9432 §4), and prints its members. */
const WALK = `
import json, sys
import dns.name, dns.query, dns.rdatatype, dns.tsig, dns.zone
given = json.loads(sys.argv[1])
algorithm, name, secret = given['key']
key = dns.tsig.Key(name, secret, algorithm)
origin = dns.name.from_text(given['zone'])
messages = dns.query.xfr('127.0.0.1', origin, port=given['port'], keyring={key.name: key}, keyalgorithm=algorithm, relativize=False)
zone = dns.zone.from_xfr(messages, relativize=False)
def only(owner, type):
    found = zone.find_rdataset(owner, type)
    assert len(found) == 1, (owner, type)
    return found[0]
assert only(origin, 'SOA')
assert only(origin, 'NS').target == dns.name.from_text('invalid.')
assert only(dns.name.Name((b'version',) + origin.labels), 'TXT').strings == (b'2',)
zones = dns.name.Name((b'zones',) + origin.labels)
members, labels = [], set()
for owner, node in zone.nodes.items():
    types = sorted(dns.rdatatype.to_text(each.rdtype) for each in node.rdatasets)
    relative = owner.relativize(zones).labels if owner.is_subdomain(zones) and owner != zones else None
    if relative is None:
        assert owner == origin or owner == zones or owner.labels[0] == b'version', owner
    elif len(relative) == 1:
        assert types == ['PTR'], (owner, types)
        assert relative[0] == relative[0].lower() and relative[0] not in labels
        labels.add(relative[0])
        members.append(only(owner, 'PTR').target.to_text())
    else:
        assert relative[0] in (b'group', b'coo'), owner
assert len(set(members)) == len(members)
print(json.dumps(sorted(members)))
`;
