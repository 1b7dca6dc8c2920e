import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listenTcp } from '../../src/nameserver/tcp/tcp.ts';
import { listenFault } from '../../src/process/listen-fault.ts';
import { StartFault } from '../../src/process/start-fault.ts';
import { listenUdpFor } from '../support/answer/listen-udp-for.ts';
import { testNode } from '../support/answer/test-node.ts';

const node = testNode();
const IO = ['koffi', 'dgram'] as const;

async function faultOf(listening: Promise<unknown>): Promise<string | undefined> {
  return await listening.then(() => undefined, explain);
}

/** Undefined where the operator can mend nothing. */
function explain(error: unknown): string | undefined {
  const fault = listenFault('DNS_LISTEN', error);
  if (fault instanceof StartFault) return fault.message;
  expect(fault).toBe(error);
  return undefined;
}

describe('a fault of listening', () => {
  it.each(IO)('on a UDP port that another program has names the setting and the port (%s)', async (io) => {
    const socket = createSocket('udp4');
    await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
    const { port } = socket.address();
    const fault = await faultOf(listenUdpFor(node, [{ address: '127.0.0.1', port }], io));
    expect(fault).toContain(`DNS_LISTEN: 127.0.0.1:${port} is in use`);
    socket.close();
  });

  it('on a TCP port that another program has names the setting and the port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    const { port } = server.address() as { port: number };
    const fault = await faultOf(listenTcp([{ address: '127.0.0.1', port }], node));
    expect(fault).toContain(`DNS_LISTEN: 127.0.0.1:${port} is in use`);
    server.close();
  });

  it.each(IO)('on an address that the machine lacks says so (%s)', async (io) => {
    const fault = await faultOf(listenUdpFor(node, [{ address: '192.0.2.1', port: 5300 }], io));
    expect(fault).toBe('DNS_LISTEN: this machine does not have the address of 192.0.2.1:5300');
  });

  it('on a port that is not for this user says so', () => {
    const error = Object.assign(new Error(), { code: 'EACCES', syscall: 'bind', address: '::1', port: 53 });
    expect(explain(error)).toContain('DNS_LISTEN: [::1]:53 may not be used by this user');
  });

  it('is none where something else went wrong', () => {
    expect(explain(new TypeError('a bug'))).toBeUndefined();
    const refused = Object.assign(new Error(), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
      address: '::1',
      port: 5432,
    });
    expect(explain(refused)).toBeUndefined();
  });
});
