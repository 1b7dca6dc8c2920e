import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { openDnsTlsFiles, startTls, tryTlsAddresses } from '../../src/nameserver/serve-tls.ts';
import { collectingLog } from '../support/processes/follow.ts';

const AT = [{ address: '127.0.0.1', port: 853 }];
const unset = {
  ...{ dotListen: [], dohListen: [], dohPlainListen: [], dnsTlsCert: undefined, dnsTlsKey: undefined },
  ...{ user: undefined, log: collectingLog() },
};

test.each([
  [{ dotListen: AT }, 'DOT_LISTEN: expected DNS_TLS_CERT and DNS_TLS_KEY'],
  [{ dohListen: AT }, 'DOH_LISTEN: expected DNS_TLS_CERT and DNS_TLS_KEY'],
  [{ dnsTlsCert: '/cert' }, 'DNS_TLS_CERT: set DOT_LISTEN or DOH_LISTEN too'],
  [{ dnsTlsKey: '/key', dohPlainListen: AT }, 'DNS_TLS_CERT: set DOT_LISTEN or DOH_LISTEN too'],
  [{ dotListen: AT, dnsTlsCert: '/cert' }, 'DNS_TLS_CERT and DNS_TLS_KEY: set both, or none'],
])('%j is refused at the start', async (settings, message) => {
  await expect(openDnsTlsFiles({ ...unset, ...settings })).rejects.toThrow(message);
});

test('neither a certificate nor the TLS thread is required by default', async () => {
  expect(await openDnsTlsFiles(unset)).toBeUndefined();
  expect(await openDnsTlsFiles({ ...unset, dohPlainListen: AT } as typeof unset)).toBeUndefined();
  expect(await startTls(unset, {} as Parameters<typeof startTls>[1])).toBeUndefined();
});

test('an address in use is reported with its setting', async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const listen = { ...unset, dotListen: [{ address: '127.0.0.1', port }] };
  await expect(tryTlsAddresses(listen)).rejects.toThrow(
    `DOT_LISTEN: 127.0.0.1:${port} is in use by another program`,
  );
  server.close();
});
