// Reads updates of the protocol dyndns2, and determines the edit and the answer for one host.

import { labelCount, type Name, ROOT } from '../../dns/name.ts';
import { isInNetwork, networksOf } from '../../dns/record/network.ts';
import { type Edit, NO_EDIT } from '../../zone/edit/edit.ts';
import { readFullName } from '../../zone/name-text.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';
import { parseDestination, printDestination } from '../../zone/records/destination.ts';

interface Address {
  readonly type: 'A' | 'AAAA';
  readonly rdata: Uint8Array;
}

export const MAX_HOSTS = 20;
const FAMILIES = ['A', 'AAAA'] as const;
/** TTL of a new record set. An existing set keeps its TTL. */
const TTL = 60;

/** Splits a list at commas. Routers send empty items if they have no address of a family. */
export function itemsOf(list = ''): string[] {
  return list.split(',').flatMap((item) => item.trim() || []);
}

/** Returns undefined if the text is not a name with at least two labels. */
export function readHost(text: string): Name | undefined {
  const read = readFullName(text);
  return read.kind === 'name' && labelCount(read.name) >= 2 ? read.name : undefined;
}

/** Reads at most one address of each family. If the list is undefined, reads the client's own address. */
export function readAddresses(
  listed: readonly string[] | undefined,
  client: string,
): { readonly addresses: readonly Address[] } | { readonly problem: string } {
  const read = (listed ?? [client]).map(readAddress);
  const addresses = read.flatMap((address) => address ?? []);
  const isValid =
    addresses.length > 0 &&
    addresses.length === read.length &&
    FAMILIES.every((family) => addresses.filter(({ type }) => type === family).length <= 1);
  if (!isValid) return { problem: 'expected one IPv4 or IPv6 address, or one of each' };
  const unusable = addresses.find(({ rdata }) => NO_HOSTS.some((network) => isInNetwork(network, rdata)));
  return listed === undefined || unusable === undefined
    ? { addresses }
    : { problem: `${printAddresses([unusable])} is not an address of a host` };
}

const NO_HOSTS = networksOf(
  '0.0.0.0/8', // this network: RFC 791 §3.2
  '127.0.0.0/8', // loopback: RFC 1122 §3.2.1.3
  '169.254.0.0/16', // link-local: RFC 3927
  '224.0.0.0/3', // multicast, reserved and broadcast: RFC 5771, RFC 1112 §4, RFC 919 §7
  '::/127', // unspecified, loopback: RFC 4291 §2.5.2, §2.5.3
  'fe80::/10', // link-local: RFC 4291 §2.5.6
  'ff00::/8', // multicast: RFC 4291 §2.7
);

/** Accepts the forms in which Node.js reports the address of a client: IPv4-mapped, and with a zone (RFC 4007 §11). */
function readAddress(text: string): Address | undefined {
  const plain = text.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  const type = plain.includes(':') ? 'AAAA' : 'A';
  const parsed = parseDestination(type, plain, undefined, ROOT);
  return parsed.kind === 'rdata' ? { type, rdata: parsed.rdata } : undefined;
}

export interface PlannedHost {
  /** Return code of the protocol. */
  readonly code: 'good' | 'nohost' | 'numhost';
  /** Empty if the host has the addresses already, or if it is refused. */
  readonly edit: Edit;
  /** The given addresses that the host has after the edit. */
  readonly addresses: readonly Address[];
}

const refused = (code: PlannedHost['code']): PlannedHost => ({ code, edit: NO_EDIT, addresses: [] });

/**
 * Plans the edit that gives the name these addresses. Sets of other families are not changed. `held` are the current records
 * at the name. Unless `mayCreate` is true, it omits an address if the name has no set of its family, so that a typing error
 * creates nothing.
 */
export function planHost(
  held: readonly CustomerRecord[],
  name: Name,
  { addresses, mayCreate }: { readonly addresses: readonly Address[]; readonly mayCreate: boolean },
): PlannedHost {
  const sets = addresses.map((address) => ({
    ...address,
    set: held.filter(({ type }) => type === address.type),
  }));
  if (sets.some(({ set }) => set.length > 1)) return refused('numhost');
  const used = sets.filter(({ set }) => mayCreate || set.length === 1);
  if (used.length === 0) return refused('nohost');
  const added = used.filter(({ set }) => set.length === 0);
  const edit = {
    ...NO_EDIT,
    // An update keeps all other settings of the record, such as `proxied` and the TTL.
    updates: used.flatMap(({ set: [record], rdata }) =>
      record === undefined || Buffer.compare(record.rdata, rdata) === 0
        ? []
        : [{ id: record.id, set: { rdata } }],
    ),
    creates: added.map(({ type, rdata }) => ({ name, type, rdata, ttl: TTL })),
  };
  return { code: 'good', edit, addresses: used };
}

export function printAddresses(addresses: readonly Address[]): string {
  return addresses.map(({ type, rdata }) => printDestination(type, rdata).destination).join();
}
