import { expect, it } from 'vitest';
import { cdnOfAddress, cdnOfTarget } from '../../../src/checks/scan/cdn-networks.ts';
import { parseName, ROOT } from '../../../src/dns/name.ts';
import { parseIpv4, parseIpv6 } from '../../../src/dns/record/ip-address.ts';

it.each([
  ['104.16.0.0', 'Cloudflare'],
  ['104.23.255.255', 'Cloudflare'],
  ['104.28.0.0', undefined],
  ['151.101.1.1', 'Fastly'],
  ['13.225.0.1', 'CloudFront'],
  ['23.15.0.1', 'Akamai'],
  ['75.2.60.5', 'Netlify'],
  ['75.2.60.6', undefined],
  ['2606:4700:1::1', 'Cloudflare'],
  ['2a04:4e43::1', undefined],
  ['2a04:4e42::1', 'Fastly'],
  ['5.6.7.8', undefined],
])('%s belongs to %s', (address, cdn) => {
  expect(cdnOfAddress(address.includes(':') ? parseIpv6(address) : parseIpv4(address))).toBe(cdn);
});

it.each([
  ['d111.cloudfront.net', 'CloudFront'],
  ['cloudfront.net', 'CloudFront'],
  ['notcloudfront.net', undefined],
  ['shop.com.cdn.cloudflare.net', 'Cloudflare'],
  ['www.shop.com.edgekey.net', 'Akamai'],
  ['host.net', undefined],
])('an alias to %s leads to %s', (target, cdn) => {
  expect(cdnOfTarget(parseName(target, ROOT))).toBe(cdn);
});
