import { describe, expect, it } from 'vitest';
import { NameserverSets } from '../../../src/api/schemas/nameservers.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';

const api = sharedTestApi();

const setsOf = async (as = 'owner') => {
  const { status, body } = await api.ask('GET', '/domains/ns-sets', { as });
  expect(status).toBe(200);
  expect(NameserverSets.parse(body)).toEqual(body);
  return body as string[][];
};
describe('the nameserver sets', () => {
  it('without a pool are those of the fleet', async () => {
    for (const as of ['owner', 'stranger']) expect(await setsOf(as)).toEqual(TEST_SETTINGS.nameserverSets);
  });

  it('with a pool are one set of the account, which it keeps, with names that no customer may have', async () => {
    await migrate(api.db, {
      ...TEST_SETTINGS,
      nameserverPool: [['ns[01-40].fleet-a.test.'], ['ns[01-40].fleet-b.test.']],
      nameserverAddresses: [['192.0.2.53'], ['198.51.100.53']],
    });
    const [set, ...more] = await setsOf();
    expect(more).toEqual([]);
    expect(set?.join(' ')).toMatch(/^ns\d\d\.fleet-a\.test ns\d\d\.fleet-b\.test$/);
    expect(await setsOf()).toEqual([set]);
    expect(await setsOf('stranger')).not.toEqual([set]);
    for (const name of ['ns07.fleet-a.test', 'x.ns40.fleet-b.test', 'fleet-b.test']) {
      const { status, body } = await api.ask('POST', '/domains/', { body: { name } });
      expect([status, body.code]).toEqual([409, 'domain_taken']);
      expect(body.error).toContain('its nameservers are there');
    }
    expect((await api.ask('POST', '/domains/', { body: { name: 'ns41.fleet-a.test' } })).status).toBe(200);
  });
});
