// Converts the form of a new secondary to the request, and the reported transfers to a state.

import type { FieldError } from '../../api/api-error.ts';
import type { Schemas } from '../../api/client.ts';
import { listed } from '../account/key-wish.ts';

export type Secondary = Schemas['Secondary'];
export type SecondaryTransfers = Schemas['SecondaryTransfers'];
type NewSecondary = Schemas['NewSecondary'];

/** Value of the choice that creates a key. */
export const NEW_KEY = 'new';

/** The most secondaries of a domain. */
export const MOST_SECONDARIES = 8;

export interface Wish {
  readonly addresses: string;
  readonly port: string;
  readonly networks: string;
  /** Id of a key, `NEW_KEY`, or empty for no key. */
  readonly key: string;
  /** First part of the name of a new key. */
  readonly label: string;
  readonly transfer: boolean;
  readonly notify: boolean;
}

export const NOTHING: Wish = {
  addresses: '',
  port: '53',
  networks: '',
  key: NEW_KEY,
  label: 'secondary',
  transfer: true,
  notify: true,
};

/** Without a key and networks, the secondary may transfer from its own addresses. */
export function secondaryOf(wish: Wish, keyId: number | null): NewSecondary {
  const addresses = listed(wish.addresses);
  const networks = listed(wish.networks);
  const { transfer, notify } = wish;
  return {
    addresses,
    port: Number(wish.port),
    networks: networks.length === 0 && keyId === null && transfer ? addresses : networks,
    tsig_key: keyId,
    transfer,
    notify,
  };
}

const FIELDS = ['addresses', 'port', 'networks', 'tsig_key', 'label'] as const;
type Field = (typeof FIELDS)[number];

interface Problems {
  readonly of: Partial<Record<Field, string>>;
  /** The API's names of the fields that have an error. */
  readonly shown: readonly string[];
}

/** Assigns errors to the fields of the form. The new secondary is the first in the request. */
export function problemsOf(errors: readonly FieldError[] | undefined, wish: Wish): Problems {
  const items = { addresses: listed(wish.addresses), networks: listed(wish.networks) };
  const of: Partial<Record<Field, string>> = {};
  const shown: string[] = [];
  for (const { field, error } of errors ?? []) {
    const [, name, index] = /^(?:secondaries\[0\]\.)?(\w+)(?:\[(\d+)\])?$/.exec(field) ?? [];
    const known = FIELDS.find((each) => each === name);
    if (known === undefined) continue;
    shown.push(field);
    const item = known === 'addresses' || known === 'networks' ? items[known][Number(index)] : undefined;
    if (index === undefined) of[known] ??= error;
    else if (item !== undefined) of[known] ??= `${item}: ${error}`; // networks may repeat the addresses
  }
  return { of, shown };
}

/** `9.9.9.9:53` or `[2620:fe::fe]:53`. A secondary without addresses is identified by its networks or its key. */
export function serversOf({ addresses, port }: Pick<Secondary, 'addresses' | 'port'>): string[] {
  return addresses.map((address) => `${address.includes(':') ? `[${address}]` : address}:${port}`);
}

/** `notified`: it receives only NOTIFY, so its serial is unknown. */
export function stateOf(
  transfers: SecondaryTransfers | undefined,
): 'current' | 'behind' | 'unseen' | 'notified' {
  if (transfers === undefined || lastContactOf(transfers) === undefined) return 'unseen';
  if (!transfers.transfer) return 'notified';
  return transfers.lag_seconds === 0 ? 'current' : 'behind';
}

/** Returns when the secondary last transferred or answered a NOTIFY. */
export function lastContactOf({ served_at, acknowledged_at }: SecondaryTransfers): string | undefined {
  return [served_at, acknowledged_at]
    .filter((at) => at !== null)
    .sort()
    .at(-1);
}
