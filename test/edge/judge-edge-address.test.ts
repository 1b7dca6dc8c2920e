import { describe, expect, it } from 'vitest';
import { judgeEdgeAddress } from '../../src/edge/judge-edge-address.ts';

describe('an address of an edge', () => {
  it.each([
    ['203.0.113.10', 'public'],
    ['8.8.8.8', 'public'],
    ['2001:db8::1', 'public'],
    ['2a00:1450::1', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['172.31.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd00::1', 'private'],
    ['0.0.0.0', 'nowhere'],
    ['0.1.2.3', 'nowhere'],
    ['::', 'nowhere'],
    ['169.254.169.254', 'nowhere'],
    ['fe80::1', 'nowhere'],
    ['224.0.0.1', 'nowhere'],
    ['239.255.255.255', 'nowhere'],
    ['240.0.0.1', 'nowhere'],
    ['255.255.255.255', 'nowhere'],
    ['ff02::1', 'nowhere'],
    ['::127.0.0.1', 'nowhere'],
    ['64:ff9b::7f00:1', 'nowhere'],
    ['2002:7f00:1::', 'nowhere'],
  ])('%s is %s', (address, reach) => {
    expect(judgeEdgeAddress(address)).toBe(reach);
  });
});
