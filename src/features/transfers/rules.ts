// Reads the names, addresses and secrets of keys and peers, and decides to which addresses the fleet may send.

import type { TsigAlgorithm } from '../../dns/message/tsig.ts';
import { foldCase, parseName, printName, ROOT } from '../../dns/name.ts';
import { printAddress } from '../../dns/record/ip-address.ts';
import { addressOctets, type Network, parseNetwork } from '../../dns/record/network.ts';
import { DNS_PORT, type ListenAddress, parseServer } from '../../process/listen-address.ts';
import { isAskable } from '../../resolver/state/address-rules.ts';
import { DNS_OVER_TLS_PORT } from '../../store/transfers/peer-tls.ts';

/** Ports up to this one belong to well-known services, to which customers must not send. */
const LAST_SYSTEM_PORT = 1023;
export const WRONG_PORT = `expected ${DNS_PORT}, ${DNS_OVER_TLS_PORT} or a port above ${LAST_SYSTEM_PORT}`;

export function isPeerPort(port: number): boolean {
  return port === DNS_PORT || port === DNS_OVER_TLS_PORT || port > LAST_SYSTEM_PORT;
}

/** Returns the address in canonical form, or undefined if the text is not an address. */
export function readAddress(text: string): string | undefined {
  const octets = addressOctets(text);
  return octets && printAddress(octets);
}

/** Returns an address that a customer's peer must not have, because it is not public. `allowed` are exceptions. */
export function refusedAddress(
  addresses: readonly string[],
  allowed: readonly Network[],
): string | undefined {
  return addresses.find((address) => !isAskable(address, allowed));
}

/** Like `parseServer`, with the address in canonical form. */
export function readServer(text: string): ListenAddress | undefined {
  const server = parseServer(text);
  if (server === undefined) return undefined;
  const address = readAddress(server.address);
  return address === undefined ? undefined : { address, port: server.port };
}

/** Returns a network in canonical form: a single address has a prefix length, and bits after the prefix are 0. */
export function readNetwork(text: string): string | undefined {
  const network = parseNetwork(text);
  return network && `${printAddress(network.octets)}/${network.bits}`;
}

/** The largest networks of customers' peers. Packets from peers' networks are not limited per network. */
const LEAST_BITS = { ipv4: 24, ipv6: 48 };
export const LARGE_NETWORK = `expected a network of at most a /${LEAST_BITS.ipv4} (IPv4) or a /${LEAST_BITS.ipv6} (IPv6)`;

export function isSmallNetwork(text: string): boolean {
  const bits = Number(text.split('/')[1]);
  return bits >= (text.includes(':') ? LEAST_BITS.ipv6 : LEAST_BITS.ipv4);
}

/** First part of a created key's name. */
export const KEY_LABEL = /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/;
export const WRONG_LABEL =
  'expected 1 to 32 letters, digits and hyphens, with a letter or digit at both ends';

/** Name of a peer or a policy. */
export const PEER_NAME = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;
export const WRONG_PEER_NAME = 'expected 1 to 63 lower-case letters, digits, dots, hyphens and underscores';

/** Returns the name of a key as folded text with the final dot, or undefined if the text is not a domain name. */
export function readKeyName(text: string): string | undefined {
  try {
    const name = foldCase(parseName(text.endsWith('.') ? text : `${text}.`));
    return name === ROOT ? undefined : printName(name);
  } catch {
    return undefined;
  }
}

/** Returns the name of a host in lower case without the final dot, or undefined if the text is another one. */
export function readTlsName(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, '');
  const isHost = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name);
  return isHost && name.length <= 253 ? name : undefined;
}

const PIN_OCTETS = 32;
export const WRONG_PIN = 'expected the SHA-256 of a public key in base64, as kdig prints it';

/** Returns undefined if the text is not a pin as in kdig's `+tls-pin`. */
export function readPin(text: string): Uint8Array | undefined {
  const pin = Buffer.from(text, 'base64');
  return pin.length === PIN_OCTETS && pin.toString('base64') === text ? pin : undefined;
}

const SECRET_OCTETS = { least: 8, most: 128 };
export const WRONG_SECRET = `expected base64 of ${SECRET_OCTETS.least} to ${SECRET_OCTETS.most} octets`;
export const SECRET_CHARACTERS = 172;

/** Returns undefined if the text is not valid base64 (RFC 4648 §4) of a secret. */
export function readSecret(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const secret = Buffer.from(text, 'base64');
  const isWhole = secret.toString('base64') === text;
  return isWhole && secret.length >= SECRET_OCTETS.least && secret.length <= SECRET_OCTETS.most
    ? secret
    : undefined;
}

/** Prints a key in the configuration language of BIND. */
export function printKey(name: string, algorithm: TsigAlgorithm, secret: Uint8Array): string {
  const base64 = Buffer.from(secret).toString('base64');
  return `key "${name}" {\n\talgorithm ${algorithm};\n\tsecret "${base64}";\n};`;
}
