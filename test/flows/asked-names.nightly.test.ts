// A name that waits and is answered whole, since its parent showed no name of ours; then its registry brings it back to another
// account's set. Its first visitor causes the check that ends what a stranger put there. Real parent, processes and questions.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../support/peers/peers.ts';
import { NEEDS_PARENT, type RealParent, startRealParent } from '../support/peers/real-parent.ts';
import { type Asker, dig, RealFleet } from '../support/processes/real-fleet.ts';
import { until } from '../support/tests/until.ts';

const PRIZE = '198.51.100.66';
const needs = NEEDS_PARENT || (isInstalled('dig') ? '' : ' (skipped: needs dig)');

describe.skipIf(needs !== '')(`a name that waits and comes back to another account's set${needs}`, () => {
  let parent: RealParent;
  let fleet: RealFleet;
  let stranger: Asker;
  let owners: readonly string[];

  beforeAll(async () => {
    parent = await startRealParent({});
    fleet = await RealFleet.start(parent, { answers: true, hasPool: true });
    stranger = await fleet.newAccount('stranger@example.org');
    const owner = await fleet.newAccount('owner2@example.org');
    owners = (await owner('GET', '/domains/ns-sets')).body[0];
    await fleet.startWorkers();
  });
  afterAll(async () => {
    await fleet?.stop();
    await parent?.stop();
  });

  const digOurs = (...words: string[]) =>
    dig(parent.ours[0] as { address: string; port: number }, '+norecurse', ...words);
  const see = async (name: string) => (await stranger('GET', `/domains/${name}`)).body;
  async function serialOf(name: string): Promise<string> {
    const { rows } = await sql<{ serial: number }>`
      select serial from domains where name = ${`${name}.`}`.execute(fleet.database.db);
    return String(rows[0]?.serial);
  }
  /** Its next check is hours away: whatever is checked before has another cause. */
  const postpone = (name: string) =>
    sql`
      update domain_checks c set due_at = now() + interval '6 hours', next_at = now() + interval '6 hours'
      from domains d where d.id = c.domain_id and d.name = ${`${name}.`}`.execute(fleet.database.db);
  const checkedForThat = async (name: string): Promise<boolean> => {
    const { rows } = await sql<{ is: boolean }>`
      select c.asked_at is not null as is from domain_checks c join domains d on d.id = c.domain_id
      where d.name = ${`${name}.`}`.execute(fleet.database.db);
    return rows[0]?.is === true;
  };

  it.each([
    ['UDP', 'overudp', []],
    ['TCP', 'overtcp', ['+tcp']],
  ] as const)('is checked when it is first asked for over %s, and only its apex is answered then', async (_, label, how) => {
    const name = `${label}.zz`;
    expect(await stranger('POST', '/domains/', { name, scan: false })).toMatchObject({ status: 200 });
    const record = { name: 'www', type: 'A', destination: PRIZE };
    expect(await stranger('POST', `/domains/${name}/records/`, record)).toMatchObject({ status: 200 });
    await until(async () => (await see(name)).served === 'full', 'it is answered whole');
    const serial = await serialOf(name);
    await until(
      async () => (await digOurs(name, 'SOA')).answer[0]?.split(' ')[4] === serial,
      'the node has all of it',
    );
    await postpone(name);
    await parent.delegate({ [label]: owners });
    // Registries ask for these: they cause nothing.
    for (const type of ['SOA', 'NS', 'DNSKEY']) await digOurs(...how, name, type);
    expect(await checkedForThat(name)).toBe(false);

    const visited = await digOurs(...how, `www.${name}`, 'A');
    expect(visited.answer).toEqual([`www.${name}. A ${PRIZE}`]);
    await until(async () => (await see(name)).served === 'apex', 'only its apex is answered');
    expect(await checkedForThat(name)).toBe(true);
    await until(
      async () => (await digOurs(...how, `www.${name}`, 'A')).status === 'REFUSED',
      'visitors are refused',
    );
    expect((await digOurs(name, 'SOA')).status).toBe('NOERROR');
    expect(await see(name)).toMatchObject({
      status: 'pending',
      findings: expect.arrayContaining([expect.objectContaining({ code: 'PRESET_DELEGATION' })]),
    });
  });
});
