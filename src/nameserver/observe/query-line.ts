// Prints samples as lines of JSON.

import { HEADER_OCTETS } from '../../dns/message/header.ts';
import { rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { foldCase, type Name, printName } from '../../dns/name.ts';
import { printAddress, printIpv4, printIpv6 } from '../../dns/record/ip-address.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import { TRANSPORTS } from '../answer/transports.ts';
import type { ReadSample } from './sample-record.ts';

const IPV6_PREFIX_OCTETS = 6;

/** Returns the line of a sample, without its end. Names are in lower case, and escaped as in zone files. */
export function printQueryLine(sample: ReadSample, client: 'prefix' | 'full'): string {
  const { nameEnd, zoneAt, query } = sample;
  const name = nameEnd === 0 ? undefined : printOctets(query, HEADER_OCTETS, nameEnd);
  return JSON.stringify({
    at: new Date(sample.startedAtMs).toISOString(),
    client: client === 'full' ? printAddress(sample.address) : printNetwork(sample.address),
    name: name ?? null,
    type: name === undefined ? null : typeMnemonic(sample.type),
    rcode: rcodeMnemonic(sample.rcode),
    transport: TRANSPORTS[sample.transport],
    zone: zoneAt === 0 ? null : printOctets(query, zoneAt, nameEnd),
    us: Math.round((sample.endedAtMs - sample.startedAtMs) * 1000),
  });
}

function printOctets(octets: Uint8Array, from: number, end: number): string {
  const { buffer, byteOffset } = octets;
  const wire = Buffer.from(buffer, byteOffset + from, end - from).toString('latin1');
  return printName(foldCase(wire as Name));
}

/** Returns the /24 or /48 network of an address. */
function printNetwork(address: Uint8Array): string {
  const network = new Uint8Array(address.length);
  if (address.length === 4) {
    network.set(address.subarray(0, 3));
    return `${printIpv4(network)}/24`;
  }
  network.set(address.subarray(0, IPV6_PREFIX_OCTETS));
  return `${printIpv6(network)}/48`;
}
