// Well-known CDN networks, by the ranges and host names that their operators publish. An operator may reassign an address
// at any time, which breaks a record with that address. The list is sufficient for a warning, but not complete.

import { labelsOf, type Name } from '../../dns/name.ts';
import { parseAddress } from '../../dns/record/ip-address.ts';

interface Cdn {
  readonly name: string;
  readonly networks: readonly Prefix[];
  /** Suffixes of the names that customers' aliases point to. */
  readonly hosts: readonly string[];
}

interface Prefix {
  readonly octets: Uint8Array;
  readonly bits: number;
}

const CDNS: readonly Cdn[] = [
  cdn(
    'Cloudflare',
    `173.245.48.0/20 103.21.244.0/22 103.22.200.0/22 103.31.4.0/22 141.101.64.0/18 108.162.192.0/18 190.93.240.0/20
    188.114.96.0/20 197.234.240.0/22 198.41.128.0/17 162.158.0.0/15 104.16.0.0/13 104.24.0.0/14 172.64.0.0/13
    131.0.72.0/22 2400:cb00::/32 2606:4700::/32 2803:f800::/32 2405:b500::/32 2405:8100::/32 2a06:98c0::/29
    2c0f:f248::/32`,
    'cdn.cloudflare.net cdn.cloudflareanycast.net',
  ),
  cdn(
    'Fastly',
    `23.235.32.0/20 43.249.72.0/22 103.244.50.0/24 103.245.222.0/23 103.245.224.0/24 104.156.80.0/20 140.248.64.0/18
    140.248.128.0/17 146.75.0.0/17 151.101.0.0/16 157.52.64.0/18 167.82.0.0/17 167.82.128.0/20 167.82.160.0/20
    167.82.224.0/20 172.111.64.0/18 185.31.16.0/22 199.27.72.0/21 199.232.0.0/16 2a04:4e40::/32 2a04:4e42::/32`,
    'fastly.net fastlylb.net',
  ),
  cdn(
    'CloudFront',
    `13.32.0.0/15 13.35.0.0/16 13.224.0.0/14 13.249.0.0/16 18.64.0.0/14 18.154.0.0/15 18.160.0.0/15 18.164.0.0/15
    18.172.0.0/15 18.238.0.0/15 18.244.0.0/15 52.84.0.0/15 52.222.128.0/17 54.182.0.0/16 54.192.0.0/16 54.230.0.0/17
    54.239.128.0/18 99.84.0.0/16 99.86.0.0/16 108.138.0.0/15 108.156.0.0/14 143.204.0.0/16 65.8.0.0/16 65.9.0.0/17
    3.160.0.0/14 2600:9000::/28`,
    'cloudfront.net',
  ),
  cdn(
    'Akamai',
    `2.16.0.0/13 23.0.0.0/12 23.32.0.0/11 23.64.0.0/14 23.72.0.0/13 72.246.0.0/15 88.221.0.0/16 92.122.0.0/15
    95.100.0.0/15 96.6.0.0/15 96.16.0.0/15 104.64.0.0/10 184.24.0.0/13 184.50.0.0/15 184.84.0.0/14 2600:1400::/24
    2a02:26f0::/29`,
    'edgekey.net edgesuite.net akamaiedge.net akamai.net akamaized.net',
  ),
  cdn(
    'Imperva',
    `45.60.0.0/16 45.64.64.0/22 103.28.248.0/22 107.154.0.0/16 149.126.72.0/21 185.11.124.0/22 192.230.64.0/18
    198.143.32.0/19 199.83.128.0/21 2a02:e980::/29`,
    'incapdns.net impervadns.net',
  ),
  cdn(
    'Sucuri',
    '66.248.200.0/22 185.93.228.0/22 192.88.134.0/23 208.109.0.0/22 2a02:fe80::/29',
    'sucuridns.com',
  ),
  cdn('Azure Front Door', '13.107.213.0/24 13.107.246.0/24 2620:1ec:bdf::/48', 'azurefd.net azureedge.net'),
  cdn('Vercel', '64.29.17.0/24 76.76.21.0/24 216.198.79.0/24', 'vercel-dns.com vercel.app'),
  cdn('Netlify', '75.2.60.5/32 99.83.190.102/32', 'netlify.app netlifyglobalcdn.com'),
  cdn('GitHub Pages', '185.199.108.0/22 2606:50c0:8000::/46', 'github.io'),
  cdn('Bunny', '', 'b-cdn.net'),
  cdn('KeyCDN', '', 'kxcdn.com'),
  cdn('Google Cloud CDN', '', 'googleusercontent.com'),
];

/** Returns the operator of the network that contains the address of an A or AAAA record. */
export function cdnOfAddress(octets: Uint8Array): string | undefined {
  return CDNS.find(({ networks }) => networks.some((network) => holds(network, octets)))?.name;
}

/** Returns the operator whose name an alias points to. `target` is folded. */
export function cdnOfTarget(target: Name): string | undefined {
  const host = labelsOf(target).join('.');
  return CDNS.find(({ hosts }) => hosts.some((end) => host === end || host.endsWith(`.${end}`)))?.name;
}

function holds({ octets: prefix, bits }: Prefix, octets: Uint8Array): boolean {
  if (prefix.length !== octets.length) return false;
  for (let i = 0; 8 * i < bits; i++) {
    const mask = bits - 8 * i >= 8 ? 0xff : (0xff00 >> (bits - 8 * i)) & 0xff;
    if (((octets[i] as number) & mask) !== prefix[i]) return false;
  }
  return true;
}

function cdn(name: string, networks: string, hosts: string): Cdn {
  return {
    name,
    networks: networks === '' ? [] : networks.split(/\s+/).map(prefix),
    hosts: hosts.split(' '),
  };
}

function prefix(text: string): Prefix {
  const [address = '', bits] = text.split('/');
  return { octets: parseAddress(address), bits: Number(bits) };
}
