// Delegations on real parts: a root and a TLD on NSD and Knot, our processes as an operator runs them, Unbound from the
// root down, dig. A parent is changed, and what the checks make of it is looked at from every side.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { TEST_SETTINGS } from '../support/database/database.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { FLEET_SETS, NEEDS_PARENT, type RealParent, startRealParent } from '../support/peers/real-parent.ts';
import type { HttpAnswer } from '../support/processes/api-process.ts';
import { dig, MOVED_AFTER_MS, RealFleet } from '../support/processes/real-fleet.ts';
import { until } from '../support/tests/until.ts';
import { startUnbound } from '../support/validators/unbound.ts';

const [FIRST_SET, SECOND_SET] = FLEET_SETS;
const FOREIGN = ['ns1.other.zz', 'ns2.other.zz'];
const EDGE = TEST_SETTINGS.edgeIpv4[0] as string;
const needs = NEEDS_PARENT || (isInstalled('dig') ? '' : ' (skipped: needs dig)');

describe.skipIf(needs !== '')(`a real parent and a real fleet${needs}`, () => {
  let parent: RealParent;
  let fleet: RealFleet;

  beforeAll(async () => {
    parent = await startRealParent({ shop: FOREIGN });
    fleet = await RealFleet.start(parent);
  });
  afterAll(async () => {
    await fleet?.stop();
    await parent?.stop();
  });

  const ours = () => parent.ours[0] as { address: string; port: number };
  const digOurs = (...words: string[]) => dig(ours(), '+norecurse', ...words);
  const look = (name: string) => fleet.get(`/domains/${name}`);

  /** The change that a check made of the status. */
  async function moveTo(status: string, name: string): Promise<HttpAnswer['body']> {
    const changes = await fleet.get(`/domains/${name}/changes`);
    return changes.find((change: HttpAnswer['body']) => change.status?.to === status);
  }

  async function expectMove(name: string, from: string, to: string, run: { id: number }): Promise<void> {
    expect(await moveTo(to, name)).toMatchObject({
      source: 'status',
      actor: { kind: 'system' },
      status: { from, to, check_id: run.id },
    });
  }

  it('answers only SOA and NS of an apex until a check has looked at its parent', async () => {
    expect(await fleet.ask('POST', '/domains/', { name: 'shop.zz', scan: false })).toMatchObject({
      status: 200,
      body: { status: 'pending', svc_ns_sets: FLEET_SETS },
    });
    expect(await look('shop.zz')).toMatchObject({ served: 'apex' });
    const www = { name: 'www', type: 'A', destination: '198.51.100.7', proxied: true };
    expect(await fleet.ask('POST', '/domains/shop.zz/records/', www)).toMatchObject({ status: 200 });
    await until(async () => (await digOurs('shop.zz', 'SOA')).status === 'NOERROR', 'the apex is served');
    const { status, flags, answer } = await digOurs('shop.zz', 'NS');
    expect([status, flags, answer]).toEqual(['NOERROR', ['qr', 'aa'], nsLines('shop.zz', FIRST_SET)]);
    expect(await digOurs('www.shop.zz', 'A')).toMatchObject({ status: 'REFUSED', answer: [] });
  });

  it('answers in full once a check has seen that the name points elsewhere', async () => {
    await fleet.startWorkers();
    const [run] = await until(async () => {
      const runs = await fleet.get('/domains/shop.zz/checks?evidence=true');
      return runs.length > 0 && runs;
    }, 'it is checked');
    expect(run).toMatchObject({
      kind: 'background',
      verdict: 'foreign',
      parent: 'zz',
      status_before: 'pending',
      status_after: 'pending',
      current_ns: FOREIGN,
      findings: [{ code: 'NS_FOREIGN', names: FOREIGN }],
    });
    expect(run.evidence.map(({ server }: { server: string }) => server).sort()).toEqual([
      'a.nic.zz',
      'b.nic.zz',
    ]);
    for (const said of run.evidence) {
      expect(said).toMatchObject({ outcome: 'referral', aa: false, transport: 'udp', ns: FOREIGN });
    }
    expect(await look('shop.zz')).toMatchObject({
      status: 'pending',
      served: 'full',
      current_ns: FOREIGN,
      ns_check_interval_seconds: 60,
      findings: [{ code: 'NS_FOREIGN' }],
    });
    await until(async () => (await digOurs('www.shop.zz', 'A')).status === 'NOERROR', 'www is served');
    expect((await digOurs('www.shop.zz', 'A')).answer).toEqual([`www.shop.zz. A ${EDGE}`]);
  });

  it('becomes active when the parent names one accepted set', async () => {
    await parent.delegate({ shop: [...FIRST_SET].reverse() });
    const run = await fleet.checksUntil('shop.zz', ({ status_after }) => status_after === 'active');
    expect(run).toMatchObject({
      kind: 'background',
      verdict: 'match',
      matched_set: FIRST_SET,
      current_ns: FIRST_SET,
      status_before: 'pending',
      findings: [],
    });
    await expectMove('shop.zz', 'pending', 'active', run);
    expect(await look('shop.zz')).toMatchObject({
      status: 'active',
      served: 'full',
      svc_ns: FIRST_SET,
      current_ns: FIRST_SET,
      ns_check_interval_seconds: 43_200,
      findings: [],
    });
    expect((await digOurs('shop.zz', 'NS')).answer).toEqual(nsLines('shop.zz', FIRST_SET));
    const { code, stdout } = await fleet.cli('check', 'shop.zz');
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(
        '\nVerdict match: delegated to exactly one accepted set (said by 2 addresses)\n',
      ),
    ]);
  });

  it('is found by Unbound, from the root through the TLD', async (context) => {
    if (!isInstalled('unbound')) context.skip('needs unbound');
    if (!parent.has53) context.skip('needs port 53');
    const [, root = ''] = /A (\S+)/.exec(parent.rootHints) ?? [];
    const unbound = await startUnbound({ anchors: [], reached: { root } }, { kind: 'minimising' });
    try {
      const [www, nothing] = await unbound.ask(
        ['www.shop.zz.', 'nothing.shop.zz.'].map((name) => ({ name: parseName(name), type: TYPE.A })),
      );
      expect(www).toMatchObject({ rcode: 'NOERROR', answer: [`www.shop.zz. A ${EDGE}`] });
      expect(nothing?.rcode).toBe('NXDOMAIN');
    } finally {
      await unbound.stop();
    }
  });

  it('is moved when three checks over the set time miss it, and is answered on', async () => {
    await parent.delegate({ shop: FOREIGN });
    const miss = await fleet.checksUntil('shop.zz', ({ verdict }) => verdict === 'foreign');
    expect(miss).toMatchObject({ status_before: 'active', status_after: 'active' });
    expect(await look('shop.zz')).toMatchObject({ status: 'active', ns_check_interval_seconds: 3600 });
    const run = await fleet.checksUntil('shop.zz', ({ status_after }) => status_after === 'moved');
    expect(run).toMatchObject({ verdict: 'foreign', status_before: 'active' });
    const [last, first] = await fleet.get('/domains/shop.zz/checks?limit=2');
    expect([last.id, first.id]).toEqual([run.id, miss.id]);
    expect(first.repeated + 2).toBeGreaterThanOrEqual(3);
    expect(Date.parse(last.finished_at) - Date.parse(first.finished_at)).toBeGreaterThanOrEqual(
      MOVED_AFTER_MS,
    );
    await expectMove('shop.zz', 'active', 'moved', run);
    expect(await look('shop.zz')).toMatchObject({
      status: 'moved',
      served: 'full',
      current_ns: FOREIGN,
      findings: [{ code: 'NS_FOREIGN' }],
    });
    expect((await digOurs('www.shop.zz', 'A')).answer).toEqual([`www.shop.zz. A ${EDGE}`]);
    expect((await fleet.cli('check', 'shop.zz')).code).toBe(1);
  });

  it('is active again with one match, here of an operator, and at another set', async () => {
    await parent.delegate({ shop: SECOND_SET });
    const { code, stdout } = await fleet.cli('domain', 'check', 'shop.zz');
    const [run] = await fleet.get('/domains/shop.zz/checks?limit=1');
    expect(run).toMatchObject({ kind: 'operator', verdict: 'match', matched_set: SECOND_SET });
    expect([code, stdout.split('\n')[0]]).toEqual([
      0,
      `checked shop.zz match status moved -> active check ${run.id}`,
    ]);
    await expectMove('shop.zz', 'moved', 'active', run);
    expect(await look('shop.zz')).toMatchObject({
      status: 'active',
      svc_ns: SECOND_SET,
      current_ns: SECOND_SET,
      findings: [{ code: 'NS_UNSTEADY' }],
    });
    await until(
      async () => (await digOurs('shop.zz', 'NS')).answer.join() === nsLines('shop.zz', SECOND_SET).join(),
      'the set that the parent names is answered',
    );
  });
});

function nsLines(name: string, set: readonly string[]): string[] {
  return set.map((server) => `${name}. NS ${server}.`);
}
