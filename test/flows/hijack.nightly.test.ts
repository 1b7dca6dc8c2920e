// A zone that is delegated to our servers but is in no account: a check of a claimed name below it would ask our own
// servers, which confirm every claim. Real parent, real processes, an attacker with nothing but the API.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../support/peers/peers.ts';
import { FLEET_SETS, NEEDS_PARENT, type RealParent, startRealParent } from '../support/peers/real-parent.ts';
import { dig, RealFleet, type Replied } from '../support/processes/real-fleet.ts';
import { until } from '../support/tests/until.ts';

const [FIRST_SET, SECOND_SET] = FLEET_SETS;
const PRIZE = '198.51.100.66';
const needs = NEEDS_PARENT || (isInstalled('dig') ? '' : ' (skipped: needs dig)');

describe.skipIf(needs !== '')(`a name below a zone that dangles here${needs}`, () => {
  let parent: RealParent;
  let fleet: RealFleet;

  beforeAll(async () => {
    parent = await startRealParent({ corp: FIRST_SET });
    fleet = await RealFleet.start(parent, { answers: true });
  });
  afterAll(async () => {
    await fleet?.stop();
    await parent?.stop();
  });

  const look = (name: string) => fleet.get(`/domains/${name}`);
  const digOurs = (...words: string[]) =>
    dig(parent.ours[0] as { address: string; port: number }, '+norecurse', ...words);

  async function claim(name: string, dnsMode: string, status: string): Promise<void> {
    const asked = { name, dns_mode: dnsMode, scan: false };
    expect(await fleet.ask('POST', '/domains/', asked)).toMatchObject({ status: 200, body: { status } });
  }

  async function untilServed(name: string): Promise<void> {
    await until(async () => (await digOurs(name, 'SOA')).status === 'NOERROR', `${name} is served`);
  }

  async function publish(name: string, record: { name: string; type: string; destination: string }) {
    expect(await fleet.ask('POST', `/domains/${name}/records/`, record)).toMatchObject({ status: 200 });
  }

  /** Of the claim www.corp.zz and all around it nothing is answered but what proves no ownership. */
  async function expectNothingGained(set: readonly string[]): Promise<void> {
    expect(await look('www.corp.zz')).toMatchObject({
      status: 'pending',
      served: 'apex',
      findings: [{ code: 'OWN_ANSWER' }],
    });
    const apex = await digOurs('www.corp.zz', 'NS');
    expect([apex.status, apex.answer]).toEqual([
      'NOERROR',
      set.map((server) => `www.corp.zz. NS ${server}.`),
    ]);
    for (const [name, type] of [
      ['www.corp.zz', 'A'],
      ['www.corp.zz', 'TXT'],
      ['api.www.corp.zz', 'A'],
      ['any.thing.www.corp.zz', 'A'],
      ['_acme-challenge.www.corp.zz', 'TXT'],
      ['corp.zz', 'A'],
    ] as const) {
      const { status, answer } = await digOurs(name, type);
      expect([name, answer], `${name} ${type} ${status}`).toEqual([name, []]);
    }
  }

  const isOwnAnswer = expect.objectContaining({
    verdict: 'unknown',
    parent: 'corp.zz',
    status_before: 'pending',
    status_after: 'pending',
    findings: [expect.objectContaining({ code: 'OWN_ANSWER' })],
  });

  it('is accepted as a claim, of which only SOA and NS are answered', async () => {
    await claim('www.corp.zz', 'managed', 'pending');
    await publish('www.corp.zz', { name: '@', type: 'A', destination: PRIZE });
    await publish('www.corp.zz', { name: 'api', type: 'A', destination: PRIZE });
    await publish('www.corp.zz', { name: '*', type: 'A', destination: PRIZE });
    await publish('www.corp.zz', { name: '_acme-challenge', type: 'TXT', destination: 'prize' });
    await untilServed('www.corp.zz');
  });

  it('is not activated by what our own servers say of it, however often they are asked', async () => {
    await fleet.startWorkers();
    const first = await fleet.checksUntil('www.corp.zz', ({ repeated }) => repeated >= 1);
    expect(first).toEqual(isOwnAnswer);
    for (const said of first.evidence) {
      expect(said).toMatchObject({ outcome: 'answer', aa: true, ns: FIRST_SET });
      expect(FIRST_SET).toContain(said.server);
    }
    await expectNothingGained(FIRST_SET);
  });

  it('nor by a check that its claimant or an operator asks for', async () => {
    const manual = await fleet.ask('POST', '/domains/www.corp.zz/ns-check');
    expect(manual).toMatchObject({ status: 200, body: { status: 'pending' } });
    expect(manual.body.check).toEqual(isOwnAnswer);
    const asked = [fleet.cli('domain', 'check', 'www.corp.zz'), fleet.cli('check', 'www.corp.zz')];
    expect((await Promise.all(asked)).map(({ code }) => code)).toEqual([1, 1]);
    await expectNothingGained(FIRST_SET);
  });

  it('nor by choosing another of our sets', async () => {
    const chosen = await fleet.ask('PUT', '/domains/www.corp.zz', { svc_ns: SECOND_SET });
    expect(chosen).toMatchObject({ status: 200, body: { svc_ns: SECOND_SET } });
    await until(
      async () => (await digOurs('www.corp.zz', 'NS')).answer[0] === `www.corp.zz. NS ${SECOND_SET[0]}.`,
      'the other set is answered',
    );
    expect(await fleet.checksUntil('www.corp.zz', () => true)).toEqual(isOwnAnswer);
    await expectNothingGained(SECOND_SET);
  });

  it('nor by a TXT record that our own servers would answer with', async () => {
    await claim('shop.corp.zz', 'external', 'unverified');
    const { host, value } = (await look('shop.corp.zz')).verification;
    await claim(host, 'managed', 'pending');
    await publish(host, { name: '@', type: 'TXT', destination: value });
    await untilServed(host);
    await fleet.checksUntil(host, () => true);
    const verified = await fleet.ask('POST', '/domains/shop.corp.zz/verify');
    expect(verified).toMatchObject({
      status: 200,
      body: { status: 'unverified', verification: { verified: false, found: 0 } },
    });
    expect((await digOurs(host, 'TXT')).answer).toEqual([]);
  });

  it('nor by going to external mode after the mistake of an operator: then nothing is answered any more', async () => {
    expect(await fleet.cli('domain', 'approve', 'www.corp.zz')).toMatchObject({ code: 0 });
    const moved = await fleet.ask('PUT', '/domains/www.corp.zz', { dns_mode: 'external' });
    expect(moved).toMatchObject({ status: 200, body: { status: 'unverified', served: 'none' } });
    const { host, value } = (await look('www.corp.zz')).verification;
    await publish('www.corp.zz', { name: '_svc-challenge', type: 'TXT', destination: value });
    const verified = await fleet.ask('POST', '/domains/www.corp.zz/verify');
    expect(verified).toMatchObject({
      status: 200,
      body: { status: 'unverified', verification: { verified: false } },
    });
    expect((await digOurs(host, 'TXT')).answer).toEqual([]);
  });

  it('is over when the owner of the zone comes here, who alone is active', async () => {
    const { verification } = await look('shop.corp.zz');
    const owned = await fleet.api.ask('POST', '/domains/', { name: 'corp.zz', scan: false });
    expect(owned).toMatchObject({ status: 200, body: { status: 'pending' } });
    await until(async () => {
      const { body } = await fleet.api.ask('GET', '/domains/corp.zz');
      return body.status === 'active';
    }, 'corp.zz is active');
    expect(await look(verification.host)).toMatchObject({
      status: 'disabled',
      served: 'none',
      findings: expect.arrayContaining([expect.objectContaining({ code: 'CLAIM_LOST' })]),
    });
    for (const name of ['www.corp.zz', 'shop.corp.zz', verification.host]) {
      const changes: Replied['body'][] = await fleet.get(`/domains/${name}/changes`);
      expect(changes.map(({ status }) => status?.to)).not.toContain('active');
    }
  });
});
