import type { NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { watchIpv6 } from '../../../src/resolver/exchange/has-ipv6.ts';

function interfacesWith(address: string, { internal = false } = {}): Record<string, NetworkInterfaceInfo[]> {
  const common = { netmask: '', mac: '', internal, cidr: null };
  const family = address.includes(':')
    ? ({ family: 'IPv6', scopeid: 0 } as const)
    : ({ family: 'IPv4' } as const);
  return { eth0: [{ ...common, ...family, address } as NetworkInterfaceInfo] };
}

function hasIpv6(interfaces: ReturnType<typeof networkInterfaces>, privateToo: boolean): boolean {
  return watchIpv6(privateToo, () => interfaces)();
}

describe('a machine can ask over IPv6', () => {
  it.each([
    ['2001:db8::1', false, true],
    ['3fff::1', false, true],
    ['fe80::1', true, false], // link-local leads nowhere
    ['fd00::1', false, false],
    ['fd00::1', true, true],
    ['fc00::1', true, true],
    ['::1', true, false],
    ['192.0.2.1', true, false],
  ])('with %s, private ones taken: %s → %s', (address, privateToo, can) => {
    expect(hasIpv6(interfacesWith(address), privateToo)).toBe(can);
  });

  it('not with an address that is only for itself, nor without any', () => {
    expect(hasIpv6(interfacesWith('2001:db8::1', { internal: true }), true)).toBe(false);
    expect(hasIpv6({}, true)).toBe(false);
    expect(hasIpv6({ eth0: undefined }, true)).toBe(false);
  });
});
