// Parses arguments of commands on edges: names, regions, countries, addresses.

import { judgeEdgeAddress } from '../../edge/judge-edge-address.ts';
import { canonicalAddress } from '../../zone/pool/address-lists.ts';
import { Failure } from '../terminal/failure.ts';

const NAME = /^[a-z0-9]([a-z0-9.-]{0,62})$/;
export const REGION = /^[a-z0-9]([a-z0-9-]{0,31})$/;
const COUNTRY = /^[A-Z]{2}$/;
const MOST_ADDRESSES = 64;

export function readEdgeName(name: string): string {
  if (NAME.test(name)) return name;
  throw new Failure('usage', `${name}: a name is 1 to 63 lowercase letters, digits, dots and hyphens`);
}

export function readRegion(region: string): string {
  if (REGION.test(region)) return region;
  throw new Failure('usage', `${region}: a region is 1 to 32 lowercase letters, digits and hyphens`);
}

export function readCountries(words: readonly string[]): string[] {
  return words.map((word) => {
    const country = word.toUpperCase();
    if (COUNTRY.test(country)) return country;
    throw new Failure('usage', `${word}: expected a country with two letters, such as SE`);
  });
}

interface ReadAddresses {
  readonly v4: string[];
  readonly v6: string[];
  /** Addresses that only some visitors can reach. */
  readonly private: string[];
}

/** Normalizes addresses. Loopback addresses are for tests on one machine. */
export function readAddresses(words: readonly string[], allowLoopback: boolean): ReadAddresses {
  const addresses = words.flatMap((word) => word.split(',')).map((word) => word.trim());
  if (addresses.length > MOST_ADDRESSES) throw new Failure('usage', `--address: at most ${MOST_ADDRESSES}`);
  const canonical = addresses.map((word) => {
    const address = canonicalAddress(word);
    if (address === undefined) throw new Failure('usage', `--address ${word}: not an IP address`);
    const reach = judgeEdgeAddress(address);
    if (reach === 'nowhere')
      throw new Failure('usage', `--address ${word}: visitors cannot reach an edge at this address`);
    if (reach === 'loopback' && !allowLoopback)
      throw new Failure(
        'usage',
        `--address ${word}: visitors cannot reach a loopback address; for tests, pass --allow-loopback`,
      );
    return address;
  });
  const twice = canonical.find((address, i) => canonical.indexOf(address) !== i);
  if (twice !== undefined) throw new Failure('usage', `--address ${twice}: is given twice`);
  return {
    v4: canonical.filter((address) => !address.includes(':')),
    v6: canonical.filter((address) => address.includes(':')),
    private: canonical.filter((address) => judgeEdgeAddress(address) !== 'public'),
  };
}
