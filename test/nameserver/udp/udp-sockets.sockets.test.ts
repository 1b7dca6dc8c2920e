import { createSocket } from 'node:dgram';
import { readdirSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { openLibc } from '../../../src/nameserver/threads/libc.ts';
import { openUdpSockets } from '../../../src/nameserver/udp/udp-sockets.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import { FakeLibc } from '../../support/answer/fake-libc.ts';

const LOOPBACK = { address: '127.0.0.1', port: 0 };
const LOOPBACK6 = { address: '::1', port: 0 };
const libc = await openLibc();

/** Binds any address, whether the machine has it or not. */
class BindingLibc extends FakeLibc {
  bound: number[] = [];
  override socket = () => 3;
  override setsockopt = () => 0;
  override bind = (_socket: number, address: Uint8Array, bytes: number) => {
    this.bound = [...address.subarray(0, bytes)];
    return 0;
  };
  override getsockname = (_socket: number, address: Uint8Array) => {
    address.set(this.bound);
    return 0;
  };
  override close = () => 0;
}

/** The octets that are bound for the address, and the address that is read from them. */
function bind(address: ListenAddress) {
  const system = new BindingLibc();
  const sockets = openUdpSockets(system, [address], 1);
  sockets.close();
  return { octets: system.bound, address: sockets.addresses[0] };
}

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

describe('the sockets', () => {
  test('are one per address for each thread, and those of an address share its port', () => {
    const before = descriptors();
    const sockets = openUdpSockets(libc, [LOOPBACK, LOOPBACK6], 3);
    expect(sockets.addresses.map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
    expect(sockets.addresses.every(({ port }) => port > 0)).toBe(true);
    expect(sockets.ofThread.map((own) => own.map(({ ipv6 }) => ipv6))).toEqual(Array(3).fill([false, true]));
    expect(descriptors()).toBe(before + 6);
    sockets.close();
    expect(descriptors()).toBe(before);
  });

  test('know which address is every address', () => {
    const addresses = ['0.0.0.0', '127.0.0.1', '::', '::0', '::1'].map((address) => ({ address, port: 0 }));
    const sockets = openUdpSockets(libc, addresses, 1);
    expect(sockets.ofThread[0]?.map(({ wildcard }) => wildcard)).toEqual([true, false, true, true, false]);
    sockets.close();
  });

  test('leave IPv4 alone when they are for IPv6', () => {
    const sockets = openUdpSockets(libc, [{ address: '::', port: 0 }], 1);
    const { port } = sockets.addresses[0]!;
    const same = openUdpSockets(libc, [{ address: '0.0.0.0', port }], 1);
    expect(same.addresses).toEqual([{ address: '0.0.0.0', port }]);
    same.close();
    sockets.close();
  });

  test('are not had where another has the address, and then none is held', async () => {
    const taken = createSocket('udp4');
    await new Promise<void>((done) => taken.bind(0, '127.0.0.1', done));
    const address = { address: '127.0.0.1', port: taken.address().port };
    const before = descriptors();
    const fault = { code: 'EADDRINUSE', syscall: 'bind', ...address };
    expect(() => openUdpSockets(libc, [LOOPBACK6, address], 2)).toThrow(expect.objectContaining(fault));
    expect(descriptors()).toBe(before);
    taken.close();
  });

  test('are not had on an address that the machine does not have', () => {
    const elsewhere = { address: '192.0.2.1', port: 5300 };
    const fault = { code: 'EADDRNOTAVAIL', syscall: 'bind', ...elsewhere };
    expect(() => openUdpSockets(libc, [elsewhere], 1)).toThrow(expect.objectContaining(fault));
  });
});

describe('an address for the system', () => {
  test.each([
    { address: '192.0.2.7', port: 53, octets: [2, 0, 0, 53, 192, 0, 2, 7, 0, 0, 0, 0, 0, 0, 0, 0] },
    {
      address: '2001:db8::7',
      port: 5300,
      octets: [10, 0, 0x14, 0xb4, 0, 0, 0, 0, 0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 7, 0, 0, 0, 0],
    },
    {
      address: 'fe80::7%3',
      port: 53,
      octets: [10, 0, 0, 53, 0, 0, 0, 0, 0xfe, 0x80, ...Array(13).fill(0), 7, 3, 0, 0, 0],
    },
  ])('$address, port $port', ({ address, port, octets }) => {
    expect(bind({ address, port })).toEqual({ octets, address: { address, port } });
  });

  test('has the number of the interface that is named', () => {
    for (const [name, addresses] of Object.entries(networkInterfaces())) {
      const { address, scopeid } =
        addresses?.find(({ family, address }) => family === 'IPv6' && address.startsWith('fe80:')) ??
        ({} as never);
      if (address === undefined) continue;
      expect(bind({ address: `${address}%${name}`, port: 53 }).address).toEqual({
        address: `${address}%${scopeid}`,
        port: 53,
      });
    }
    const unknown = { address: 'fe80::1%no-such', port: 53 };
    expect(bind(unknown).address).toEqual({ address: 'fe80::1', port: 53 });
  });
});
