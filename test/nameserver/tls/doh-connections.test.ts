import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { DEFAULT_TCP_LIMITS, type TcpLimits } from '../../../src/nameserver/tcp/limited-connections.ts';
import { DohConnections } from '../../../src/nameserver/tls/doh-connections.ts';
import { testNode } from '../../support/answer/test-node.ts';

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  isDestroyed = false;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.isDestroyed = true;
  }
}

function connections(limits: Partial<TcpLimits>) {
  const node = testNode();
  const owner = new DohConnections(node, { ...DEFAULT_TCP_LIMITS, ...limits }, () => 0);
  const admit = (address: string) => {
    const socket = new FakeSocket(address);
    const wire = { end() {}, finish() {}, destroy: () => socket.destroy() };
    return { socket, connection: owner.admit(socket as unknown as Socket, wire) };
  };
  return { owner, admit, counters: node.counters };
}

it('an IPv4 address or an IPv6 /64 has a limited number of connections', () => {
  const { admit, owner, counters } = connections({ maxConnectionsPerAddress: 2 });
  const isAdmitted = (address: string) => !admit(address).socket.isDestroyed;
  expect(['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'].map(isAdmitted)).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect(['2001:db8::1', '2001:db8::2', '2001:db8::3'].map(isAdmitted)).toEqual([true, true, false]);
  expect([owner.size, counters.tcpRefused]).toEqual([5, 2]);
});

it('a client on loopback, which may be a proxy for many, has only the limits of all clients', () => {
  const { admit, owner } = connections({ maxConnectionsPerAddress: 1, maxUnreadBytesPerAddress: 100 });
  const admitted = [admit('127.0.0.1'), admit('127.0.0.1')];
  for (const { connection } of admitted) if (connection !== undefined) owner.hold(connection, 100);
  expect(admitted.map(({ socket }) => socket.isDestroyed)).toEqual([false, false]);
});

it('the connection that was idle for longest ends if there are too many', () => {
  const { admit, owner } = connections({ maxConnections: 2 });
  const [first, second] = [admit('192.0.2.1'), admit('192.0.2.2')];
  if (first.connection !== undefined) owner.progress(first.connection);
  admit('192.0.2.3');
  expect([first, second].map(({ socket }) => socket.isDestroyed)).toEqual([false, true]);
  first.socket.emit('close');
  expect(owner.size).toBe(1);
});

it('a connection that cancels 100 more requests than it has answered ends', () => {
  const { admit } = connections({});
  const { connection, socket } = admit('192.0.2.1');
  const request = { respond() {} };
  const cancel = (times: number) => {
    for (let i = 0; i < times; i++) {
      connection?.startReading(request);
      connection?.drop(request);
    }
    return socket.isDestroyed;
  };
  expect(cancel(100)).toBe(false);
  connection?.take(request, 404);
  expect([cancel(1), cancel(1)]).toEqual([false, true]);
});

it.each([
  ['of one client', { maxUnreadBytesPerAddress: 100 }, ['192.0.2.1', '192.0.2.1', '192.0.2.2']],
  ['of all clients', { maxUnreadBytes: 100 }, ['192.0.2.1', '192.0.2.3', '192.0.2.2']],
])('the bytes %s are limited: the connection that has released none for longest ends', (_, limits, addresses) => {
  const { admit, owner, counters } = connections(limits);
  const [first, second, other] = addresses.map(admit);
  const hold = (which: typeof first, bytes: number) => {
    if (which?.connection !== undefined) owner.hold(which.connection, bytes);
  };
  const release = (which: typeof first, bytes: number) => {
    if (which?.connection !== undefined) owner.release(which.connection, bytes);
  };
  hold(first, 30);
  hold(second, 40);
  hold(first, 30);
  release(first, 10);
  release(other, 10);
  expect(counters.tcpUnread).toBe(0);
  hold(first, 11);
  expect([first, second, other].map((each) => each?.socket.isDestroyed)).toEqual([false, true, false]);
  hold(second, 1000); // nothing is counted for a connection that has ended
  hold(first, 39);
  expect(counters.tcpUnread).toBe(1);
});
