import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPublicChecks } from '../../../src/api/public/open-public-checks.ts';
import { parseName } from '../../../src/dns/name.ts';
import { networksOf } from '../../../src/dns/record/network.ts';

let silent: Socket;
let packets: number;

beforeEach(async () => {
  packets = 0;
  silent = createSocket('udp4').on('message', () => packets++);
  silent.bind(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterEach(() => silent.close());

async function ask(allowed: readonly string[]) {
  const { checks, close } = openPublicChecks({
    rootServers: [{ name: parseName('a.root.'), addresses: ['127.0.0.1'] }],
    port: silent.address().port,
    allowed: networksOf(...allowed),
    hasPrivateIpv6: false,
  });
  try {
    return await checks.ask(parseName('shop.example.net.'), '192.0.2.1');
  } finally {
    await close();
  }
}

describe('a public check', () => {
  it('sends nothing to addresses that are not public', async () => {
    const asked = await ask([]);
    expect(asked).toMatchObject({
      kind: 'seen',
      evidence: { failure: { reason: 'no_address' }, servers: [] },
    });
    expect(packets).toBe(0);
  });

  it('ends on its own if no server responds, with few packets', async () => {
    const asked = await ask(['127.0.0.0/8']);
    expect(asked).toMatchObject({ kind: 'seen', evidence: { failure: { reason: 'unreachable' } } });
    expect(packets).toBeGreaterThan(0);
    expect(packets).toBeLessThanOrEqual(40);
  });
});
