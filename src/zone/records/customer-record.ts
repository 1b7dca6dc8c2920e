// A record as seen by its customer: the destination is the origin, even if other addresses are published.

import type { Name } from '../../dns/name.ts';
import type { ApiType } from './customer-types.ts';

export const ORIGIN_SCHEMES = ['Http', 'Https', 'Auto', 'Default'] as const;
export type OriginScheme = (typeof ORIGIN_SCHEMES)[number];

/** All settings besides name, type, content and TTL. All except `proxied` and `comment` are for the edge. */
export interface RecordSettings {
  readonly proxied: boolean;
  readonly captcha: boolean;
  readonly scheme: OriginScheme;
  readonly port: number;
  readonly hostHeader: string | null;
  readonly monitor: boolean;
  readonly destCountry: string | null;
  /** In seconds. */
  readonly timeout: number;
  readonly comment: string | null;
}

export const DEFAULT_SETTINGS: RecordSettings = {
  proxied: false,
  captcha: false,
  scheme: 'Default',
  port: 443,
  hostHeader: null,
  monitor: false,
  destCountry: null,
  timeout: 15,
  comment: null,
};

export const SETTING_NAMES = Object.keys(DEFAULT_SETTINGS) as (keyof RecordSettings)[];

/** The values of a record that a customer chooses. The name is folded, and the TTL is in seconds. */
export interface RecordValue extends RecordSettings {
  readonly name: Name;
  readonly type: ApiType;
  readonly rdata: Uint8Array;
  readonly ttl: number;
}

export interface CustomerRecord extends RecordValue {
  readonly id: number;
  /** True if the service wrote the record. It is published, and no edit may change it. */
  readonly managed?: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The proxy's addresses, as text. */
export interface EdgeAddresses {
  readonly v4: readonly string[];
  readonly v6: readonly string[];
  /** True if regions may publish other addresses. Names with these addresses then have an edge mark. */
  readonly regional?: boolean;
}

export function sameValue(a: RecordValue, b: RecordValue): boolean {
  return (
    a.name === b.name &&
    a.type === b.type &&
    a.ttl === b.ttl &&
    Buffer.compare(a.rdata, b.rdata) === 0 &&
    SETTING_NAMES.every((setting) => a[setting] === b[setting])
  );
}

/** Returns the key of a record set, which all records of this name and type share. */
export function setKey(name: Name, type: ApiType): string {
  return `${type} ${name}`;
}
