import { describe, expect, it } from 'vitest';
import { networksOf } from '../../src/dns/record/network.ts';
import { isExample, judgeOrigin } from '../../src/edge/judge-origin.ts';

const NOTHING = { allowed: [], edges: [] };

describe('an origin', () => {
  it.each([
    '8.8.8.8',
    '192.0.2.7',
    '2600::1',
    '2001:db8::7',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
    'origin.example.net',
    '172.32.0.1',
    '100.128.0.1',
  ])('may be %s', (host) => {
    expect(judgeOrigin(host, NOTHING)).toBeUndefined();
  });

  it.each([
    '10.1.2.3',
    '127.0.0.1',
    '127.255.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.0.1',
    '100.127.0.1',
    '198.19.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
    '0.0.0.0',
    '::',
    '::1',
    '::127.0.0.1',
    'fe80::1',
    'fec0::1',
    'fc00::1',
    'fdff::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::127.0.0.1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '2001::1',
    '4000::1',
    'localhost',
    'a.localhost',
  ])('is never %s', (host) => {
    expect(judgeOrigin(host, NOTHING)).toBeDefined();
  });

  it('may be where the operator allows it, also in the form of another protocol', () => {
    const rules = { allowed: networksOf('10.0.0.0/8', 'fd00::/8'), edges: [] };
    for (const host of ['10.0.0.1', 'fd00::1', '::ffff:10.0.0.1'])
      expect(judgeOrigin(host, rules)).toBeUndefined();
    for (const host of ['127.0.0.1', '::ffff:127.0.0.1', 'fe80::1'])
      expect(judgeOrigin(host, rules)).toBeDefined();
  });

  it('is never an edge, allowed or not', () => {
    const rules = { allowed: networksOf('0.0.0.0/0', '::/0'), edges: ['8.8.8.8', '2600::9'] };
    for (const host of ['8.8.8.8', '2600::9', '2600:0::9', '::ffff:8.8.8.8', '64:ff9b::808:808'])
      expect(judgeOrigin(host, rules)).toContain('edge');
    expect(judgeOrigin('8.8.8.9', rules)).toBeUndefined();
  });
});

it('examples are the documentation networks', () => {
  expect(['192.0.2.1', '2001:db8::1', '8.8.8.8', 'name.example'].map(isExample)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
