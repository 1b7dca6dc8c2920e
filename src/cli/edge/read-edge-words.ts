// The words of the commands on edges: names, regions, countries, addresses.

import { canonicalAddress } from '../../zone/pool/address-lists.ts';
import { Failure } from '../terminal/failure.ts';

const NAME = /^[a-z0-9]([a-z0-9.-]{0,62})$/;
export const REGION = /^[a-z0-9]([a-z0-9-]{0,31})$/;
const COUNTRY = /^[A-Z]{2}$/;
const MOST_ADDRESSES = 64;

export function readEdgeName(name: string): string {
  if (NAME.test(name)) return name;
  throw new Failure('usage', `${name}: a name is 1 to 63 small letters, digits, dots and hyphens`);
}

export function readRegion(region: string): string {
  if (REGION.test(region)) return region;
  throw new Failure('usage', `${region}: a region is 1 to 32 small letters, digits and hyphens`);
}

export function readCountries(words: readonly string[]): string[] {
  return words.map((word) => {
    const country = word.toUpperCase();
    if (COUNTRY.test(country)) return country;
    throw new Failure('usage', `${word}: a country has two letters, like SE`);
  });
}

/** In the form in which each address is written in one way only. */
export function readAddresses(words: readonly string[]): { readonly v4: string[]; readonly v6: string[] } {
  const addresses = words.flatMap((word) => word.split(',')).map((word) => word.trim());
  if (addresses.length > MOST_ADDRESSES) throw new Failure('usage', `--address: at most ${MOST_ADDRESSES}`);
  const canonical = addresses.map((word) => {
    const address = canonicalAddress(word);
    if (address === undefined) throw new Failure('usage', `--address ${word}: not an IP address`);
    if (isNowhere(address)) throw new Failure('usage', `--address ${word}: nobody can be reached there`);
    return address;
  });
  const twice = canonical.find((address, i) => canonical.indexOf(address) !== i);
  if (twice !== undefined) throw new Failure('usage', `--address ${twice}: is there twice`);
  return {
    v4: canonical.filter((address) => !address.includes(':')),
    v6: canonical.filter((address) => address.includes(':')),
  };
}

/** Of no host: the unspecified address, multicast, broadcast. Loopback and private ones are for laboratories. */
function isNowhere(address: string): boolean {
  return /^(0|22[4-9]|23\d|24\d|25[0-5])\./.test(address) || address === '::' || /^ff/i.test(address);
}
