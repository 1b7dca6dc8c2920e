// An edit reaches a secondary at another operator, and an edit at a hidden primary is answered by the fleet.

import { afterAll, beforeAll, describe, it } from 'vitest';
import { isInstalled } from '../support/peers/peers.ts';
import { dig, type FleetPeer, TransferFleet, zoneText } from '../support/peers/transfer-fleet.ts';
import type { TransferPeer } from '../support/peers/transfer-peers.ts';
import { until } from '../support/tests/until.ts';

const missing = ['nsd', 'knotd', 'dig'].filter((program) => !isInstalled(program));
const needs = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

describe.skipIf(needs !== '')(`zone transfers${needs}`, () => {
  let fleet: TransferFleet;
  let second: FleetPeer;
  let hidden: TransferPeer;

  beforeAll(async () => {
    fleet = await TransferFleet.create();
    second = await fleet.addPeer('second');
    const primary = await fleet.addPeer('hidden', { isPrimary: true });
    await fleet.setPolicy(second);
    await fleet.saveZones(1, ['own.test']);
    await fleet.copyZones(primary, 'copy.test');
    await Promise.all([fleet.startNodes(1), fleet.startWorkers()]);
    const files = { 'copy.test.zone': zoneText(1) };
    [hidden] = await Promise.all([
      fleet.startPrimary('knot', primary, { zones: ['copy.test'], files }),
      fleet.startSecondary('nsd', second, { zones: ['own.test', 'copy.test'] }),
    ]);
  });
  afterAll(() => fleet?.stop());

  const untilAnswers = async (port: number, name: string) =>
    await until(async () => (await dig(port, '+short', name, 'TXT')) === '"new"\n', `${name} is answered`);

  it('notify a secondary, which transfers the change with TSIG', async () => {
    await fleet.saveZones(2, ['own.test'], ['www TXT "new"']);
    await untilAnswers(second.port, 'www.own.test');
  });

  it('copy a zone from a primary, and pass its changes on', async () => {
    const node = fleet.nodes[0]?.address.port as number;
    await until(async () => (await dig(node, '+short', 'copy.test', 'NS')) !== '', 'the zone is copied');
    await hidden.rewrite('copy.test', zoneText(2, ['www TXT "new"']));
    await untilAnswers(node, 'www.copy.test');
    await untilAnswers(second.port, 'www.copy.test');
  });
});
