// Many zones change. One secondary restarts again and again, one is silent, one refuses, and none of them delays another.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { parseName } from '../../../src/dns/name.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { addPeer } from '../../../src/store/transfers/peers.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';
import { BY, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { dig, TransferFleet, transferred, UNSIGNED } from '../../support/peers/transfer-fleet.ts';
import type { TransferPeer } from '../../support/peers/transfer-peers.ts';
import { scale } from '../../support/tests/scale.ts';
import { until } from '../../support/tests/until.ts';
import { type MisbehavingServer, misbehave } from '../../support/world/misbehaving-server.ts';
import { replyTo } from '../../support/world/world-server.ts';

const missing = ['dig', 'nsd'].filter((each) => !isInstalled(each));
const needs = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

const ZONES = Array.from({ length: scale(100_000, 2000) }, (_, i) => `z${i}.test`);
/** Those that the restarted secondary serves. */
const SERVED = ZONES.slice(0, 20);
const RESTARTS = 20;
/** A silent peer has at most 500 unanswered messages, and 20 more are repeated until it counts as silent. */
const MOST_IGNORED = 520;
const OPCODE_NOTIFY = 4;
const DOMAIN = parseName('example.com.');

describe.skipIf(needs !== '')(`NOTIFY${needs}`, () => {
  let fleet: TransferFleet;
  let accountId: number;
  let domainId: number;
  let restarted: TransferPeer;
  const others: MisbehavingServer[] = [];

  /** A peer that answers NOTIFY with this code, if any. */
  async function addOther(name: string, rcode?: number): Promise<MisbehavingServer> {
    const other = await misbehave({
      udp: ({ query }, send) => {
        if (rcode !== undefined) send(encodeMessage({ ...replyTo(query, { rcode }), opcode: OPCODE_NOTIFY }));
      },
    });
    others.push(other);
    await addPeer(fleet.db, {
      name,
      addresses: [other.address],
      port: other.port,
      networks: [],
      keyId: null,
    });
    return other;
  }

  beforeAll(async () => {
    fleet = await TransferFleet.create();
    accountId = await newAccount(fleet.db, 'a@example.org');
    domainId = (await newDomain(fleet.db, accountId)).id;
    await fleet.saveZones(1, ZONES);
    const peer = await fleet.addPeer('restarted');
    await addOther('healthy', RCODE.NOERROR);
    await addOther('refusing', RCODE.REFUSED);
    await addOther('silent');
    await fleet.setPolicy(peer, ...['healthy', 'refusing', 'silent'].map((name) => ({ name })));
    await fleet.startNodes(1, { NOTIFY_RATE: '2000' });
    restarted = await fleet.startSecondary('nsd', peer, { zones: [...SERVED, 'example.com'] });
  });
  afterAll(async () => {
    for (const other of others) await other.close();
    await fleet?.stop();
  });

  it('reaches each other secondary while one restarts, one is silent and one refuses', async () => {
    const [healthy, refusing, silent] = others as [MisbehavingServer, MisbehavingServer, MisbehavingServer];
    await fleet.saveZones(2, ZONES);
    for (let i = 1; i <= RESTARTS; i++) await restarted.restart(() => fleet.saveZones(2 + i, SERVED));
    const zonesSeen = ({ seen }: MisbehavingServer) =>
      new Set(seen.map(({ query }) => query.questions[0]?.name)).size;
    await until(
      () => zonesSeen(healthy) >= ZONES.length,
      () => `${zonesSeen(healthy)} zones`,
    );
    await until(
      () => zonesSeen(refusing) >= ZONES.length,
      () => `${zonesSeen(refusing)} zones`,
    );
    expect(silent.seen.length).toBeLessThanOrEqual(MOST_IGNORED);
    for (const zone of SERVED)
      await until(
        async () => (await dig(restarted.port, '+short', zone, 'SOA')).includes(` ${2 + RESTARTS} 3600 `),
        `the secondary has the last serial of ${zone}`,
      );
  });

  it('brings a domain that was deleted and created again', async () => {
    const port = fleet.nodes[0]?.address.port as number;
    const status = async () => /status: (\w+)/.exec(await dig(port, 'example.com', 'SOA'))?.[1];
    await until(
      async () => (await transferred(restarted.port, DOMAIN)).length > 0,
      'the secondary has the domain',
    );
    await deleteDomain(fleet.db, { ...BY, domainId });
    await until(async () => (await status()) === 'REFUSED', 'the domain is no longer answered');
    const { id } = await newDomain(fleet.db, accountId);
    await saved(fleet.db, id, ['again A 192.0.2.9']);
    await until(async () => (await status()) === 'NOERROR', 'the domain is answered again');
    const zone = await until(async () => {
      const lines = await transferred(port, DOMAIN, '-b', UNSIGNED);
      return lines.some((line) => line.startsWith('again.')) && lines.join('\n');
    });
    await until(
      async () => (await transferred(restarted.port, DOMAIN)).join('\n') === zone,
      'the secondary has the new domain',
    );
  });
});
