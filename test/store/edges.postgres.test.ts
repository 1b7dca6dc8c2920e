import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setPlan } from '../../src/store/change/set-plan.ts';
import { setSuspended } from '../../src/store/change/update-domain.ts';
import { startTestApi, type TestApi } from '../support/api/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const DOMAIN = 'noted.example.com';
async function versionOf(name = `${DOMAIN}.`): Promise<number | undefined> {
  const { rows } = await sql<{
    version: number;
  }>`select version from edge_changes where name = ${name}`.execute(api.db);
  return rows[0]?.version;
}
async function notes(work: () => Promise<unknown>): Promise<boolean> {
  const before = await versionOf();
  await work();
  return (await versionOf()) !== before;
}
const edit = (method: string, path: string, body?: unknown) => async () => {
  const { status, body: answer } = await api.ask(method, `/domains/${DOMAIN}${path}`, { body });
  expect([status, answer]).toEqual([200, expect.anything()]);
  return answer;
};

describe('changes are recorded for edges', () => {
  it('from the first proxied record of a domain on, once per transaction', async () => {
    const domain = await api.makeDomain(DOMAIN);
    const plain = { name: 'plain', type: 'A', destination: '198.51.100.1' };
    expect(await notes(edit('POST', '/records/', plain))).toBe(false);
    expect(await versionOf()).toBeUndefined();
    expect(await notes(edit('POST', '/records/', { ...plain, name: 'www', proxied: true }))).toBe(true);
    const before = (await versionOf()) as number;
    const create = Array.from({ length: 200 }, (_, i) => ({
      name: `h${i}`,
      type: 'A',
      destination: '198.51.100.2',
      proxied: true,
    }));
    await edit('PUT', '/records/batch', { create })();
    expect(await versionOf()).toBeGreaterThan(before);
    expect(await notes(() => setSuspended(api.db, { domainId: domain.id, suspended: true }))).toBe(true);
    expect(await notes(() => setSuspended(api.db, { domainId: domain.id, suspended: true }))).toBe(false);
    expect(await notes(() => setPlan(api.db, { domainId: domain.id, planSlug: 'free' }))).toBe(true);
    expect(await notes(edit('PUT', '', { sec_no_sniff: !domain.secNoSniff }))).toBe(true);
    expect(await notes(edit('PUT', '', { outage_alerts: !domain.outageAlerts }))).toBe(false);
  });

  it('but not if an unproxied record changes', async () => {
    const { body: rows } = await api.ask('GET', `/domains/${DOMAIN}/records/?name=plain`);
    expect(await notes(edit('PUT', `/records/${rows[0].id}`, { destination: '198.51.100.77' }))).toBe(false);
    expect(await notes(edit('PUT', `/records/${rows[0].id}`, { proxied: true }))).toBe(true);
    expect(await notes(edit('PUT', `/records/${rows[0].id}`, { proxied: false }))).toBe(true);
  });
});
