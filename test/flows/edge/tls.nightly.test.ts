// TLS at the edge, from the API call to what a TLS client sees: a customer's certificate, domains that are suspended,
// and the answers that a certificate authority asks for.

import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EdgeCertificate } from '../../../src/edge/edge-config.ts';
import { setServedRegions } from '../../../src/store/edges/edge-regions.ts';
import { createEdge } from '../../../src/store/edges/edges.ts';
import { DOMAIN, EdgeFleet, HOST } from '../../support/edge/edge-fleet.ts';
import { ConfigStore } from '../../support/edge/proxy/config-store.ts';
import { EdgeAgent } from '../../support/edge/proxy/edge-agent.ts';
import { until } from '../../support/tests/until.ts';

const PAGE = `https://${HOST}/page?a=1`;
const KEY_SECRETS = `test:${Buffer.alloc(32, 7).toString('base64')}`;

let fleet: EdgeFleet;
beforeAll(async () => {
  fleet = await EdgeFleet.start({ env: { KEY_SECRETS } });
});
afterAll(() => fleet?.stop());

const visit = (more: object = {}, url = PAGE) =>
  fleet.visit({ ca: fleet.authority.certificate, ...more }, url);

/** Uploads one of the test's authority. Returns the SHA-256 of the leaf. */
async function upload(...names: readonly string[]): Promise<string> {
  const { certificate, privateKey } = fleet.authority.issue(names);
  const chain = certificate + fleet.authority.certificate;
  await fleet.change('POST', '/ssl', { certificate: chain, private_key: privateKey });
  return new X509Certificate(certificate).fingerprint256;
}

it('without a certificate the handshake is refused; an uploaded one is what clients see, and the next in its place', async () => {
  await expect(visit()).rejects.toThrow();
  const first = await upload(HOST, `*.${DOMAIN}`);
  expect(await visit()).toMatchObject({
    certificate: { fingerprint256: first },
    json: { name: 'own', headers: { 'x-forwarded-proto': 'https' } },
  });
  const second = await upload(HOST);
  expect((await visit()).certificate?.fingerprint256).toBe(second);
  await fleet.change('DELETE', '/ssl');
  await expect(visit()).rejects.toThrow();
  await upload(HOST, `*.${DOMAIN}`);
});

it('a key is read when its certificate is first shown, once, and each read is in the audit log', async () => {
  const reads = async () => {
    const found = fleet.database.db
      .selectFrom('audit_log')
      .select('id')
      .where('action', '=', 'edge.read_key');
    return (await found.execute()).length;
  };
  expect(await reads()).toBe(2); // of the third nobody has seen anything yet
  expect([(await visit()).status, (await visit()).status]).toEqual([200, 200]);
  expect(await reads()).toBe(3);
});

it('a token opens no key of a domain that its region does not serve, nor what is not there', async () => {
  const created = await createEdge(fleet.database.db, { name: 'far', region: 'us', v4: [], v6: [] });
  if (created.kind !== 'created') throw new Error(created.kind);
  const far = new EdgeAgent(() => fleet.api.url, created.token);
  const { id } = fleet.config().certificates[0] as EdgeCertificate;
  const path = `/edge/v1/certificates/${id}`;
  const read = await far.ask('GET', path);
  expect([read.status, Object.keys(read.body)]).toEqual([200, ['id', 'certificate', 'private_key']]);
  await setServedRegions(fleet.database.db, fleet.domainId, ['eu']);
  await fleet.caughtUp();
  expect((await far.ask('GET', path)).status).toBe(404);
  expect((await fleet.edge.ask('GET', path)).status).toBe(200);
  expect((await fleet.edge.ask('GET', '/edge/v1/certificates/999999')).status).toBe(404);
  const configs = new ConfigStore();
  far.follow(configs);
  await until(() => configs.snapshots > 0, 'a snapshot');
  expect(configs.all()).toEqual([]);
  await far.stop();
  await setServedRegions(fleet.database.db, fleet.domainId, null);
});

it('while a domain is suspended its handshakes are refused and plain HTTP is a 403; then it is served again', async () => {
  await fleet.suspend(true);
  await expect(visit()).rejects.toThrow();
  expect((await fleet.visit()).status).toBe(403);
  await fleet.suspend(false);
  expect((await visit()).status).toBe(200);
});

it('a host that is not served here has no handshake, and is misdirected in plain HTTP and behind another name’s handshake', async () => {
  const gone = await fleet.addRecord('gone', fleet.other);
  const url = `https://gone.${DOMAIN}/`;
  expect((await visit({}, url)).json.name).toBe('other');
  await fleet.change('DELETE', `/records/${gone.id}`);
  await expect(visit({}, url)).rejects.toThrow();
  expect((await visit({ servername: HOST }, url)).status).toBe(421);
  expect((await fleet.visit({}, url.replace('https:', 'http:'))).status).toBe(421);
});

it('what an authority asks for over HTTP is answered before all rules, for as long as the order needs it', async () => {
  const ask = (token: string) => fleet.visit({}, `http://${HOST}/.well-known/acme-challenge/${token}`);
  const { db } = fleet.database;
  const answer = { host: HOST, token: 'tok-1', key_authorization: 'tok-1.thumb' };
  await db
    .insertInto('acme_answers')
    .values({ domain_id: fleet.domainId, ...answer })
    .execute();
  const { id } = await fleet.change('POST', '/rules/drop/', {});
  expect(await ask('tok-1')).toMatchObject({ status: 200, text: 'tok-1.thumb' });
  expect((await ask('tok-2')).status).toBe(403);
  await db.deleteFrom('acme_answers').where('token', '=', 'tok-1').execute();
  await fleet.caughtUp();
  expect((await ask('tok-1')).status).toBe(403);
  await fleet.change('DELETE', `/rules/drop/${id}`);
});
