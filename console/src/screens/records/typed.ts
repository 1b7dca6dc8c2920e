// A record as typed: every field is a text or a switch, so that incomplete numbers can be kept and shown.

export const TYPES = [
  'A',
  'AAAA',
  'CNAME',
  'ANAME',
  'MX',
  'TXT',
  'NS',
  'SRV',
  'CAA',
  'PTR',
  'HTTPS',
  'SVCB',
  'TLSA',
  'SSHFP',
  'URI',
  'DS',
  'NAPTR',
  'LOC',
  'DNAME',
  'SMIMEA',
  'OPENPGPKEY',
  'CERT',
  'HINFO',
  'DHCID',
] as const;

export type RecordType = (typeof TYPES)[number];

/** Returns the types to select from, including `type` if it is unusual (TYPEnnn). */
export function typesWith(type: string): readonly string[] {
  const types: readonly string[] = TYPES;
  return type === '' || types.includes(type) ? types : [...types, type];
}

/** Returns the types of the records and the chosen one: first those of `TYPES` in its order, then others. */
export function typesToFilter(there: ReadonlySet<string>, chosen: string): string[] {
  const types: readonly string[] = TYPES;
  const wanted = new Set(chosen === '' ? there : [...there, chosen]);
  const others = [...wanted].filter((type) => !types.includes(type)).sort();
  return [...types.filter((type) => wanted.has(type)), ...others];
}

/** The editable fields of a record from the API. */
export interface RecordFields {
  readonly name: string;
  readonly type: string;
  readonly destination: string;
  readonly mx_priority?: number;
  readonly ttl?: number;
  readonly proxied?: boolean;
  readonly captcha?: boolean;
  readonly scheme?: string;
  readonly port?: number;
  readonly host_header?: string;
  readonly monitor?: boolean;
  readonly dest_country?: string;
  readonly timeout?: number;
  readonly comment?: string;
}

export interface KeptRecord extends RecordFields {
  readonly id: number;
  readonly ttl: number;
  readonly dns_content: string;
  readonly editable: boolean;
}

export interface Typed {
  readonly name: string;
  readonly type: string;
  readonly destination: string;
  readonly mx_priority: string;
  readonly ttl: string;
  readonly proxied: boolean;
  readonly captcha: boolean;
  readonly scheme: string;
  readonly port: string;
  readonly host_header: string;
  readonly monitor: boolean;
  readonly dest_country: string;
  readonly timeout: string;
  readonly comment: string;
}

export type Field = keyof Typed;

export const FIELDS: readonly Field[] = [
  'name',
  'type',
  'destination',
  'mx_priority',
  'ttl',
  'proxied',
  'captcha',
  'scheme',
  'port',
  'host_header',
  'monitor',
  'dest_country',
  'timeout',
  'comment',
];

/** Settings of proxied records for connecting to the origin. */
export const EDGE_FIELDS = [
  'scheme',
  'port',
  'host_header',
  'timeout',
  'dest_country',
  'captcha',
  'monitor',
] as const;

export const NEW_RECORD: Typed = {
  name: '',
  type: 'A',
  destination: '',
  mx_priority: '',
  ttl: '',
  proxied: false,
  captcha: false,
  scheme: 'Default',
  port: '443',
  host_header: '',
  monitor: false,
  dest_country: '',
  timeout: '15',
  comment: '',
};

export function typedOf(record: RecordFields): Typed {
  const text = (value: number | undefined) => (value === undefined ? '' : String(value));
  return {
    name: record.name,
    type: record.type,
    destination: record.destination,
    mx_priority: text(record.mx_priority),
    ttl: text(record.ttl),
    proxied: record.proxied ?? false,
    captcha: record.captcha ?? false,
    scheme: record.scheme ?? 'Default',
    port: text(record.port ?? 443),
    host_header: record.host_header ?? '',
    monitor: record.monitor ?? false,
    dest_country: record.dest_country ?? '',
    timeout: text(record.timeout ?? 15),
    comment: record.comment ?? '',
  };
}

export function fieldsThatDiffer(a: Typed, b: Typed): Field[] {
  return FIELDS.filter((field) => a[field] !== b[field]);
}

/** Types that have the address of a host: only these can be proxied. */
export function canBeProxied(type: string): boolean {
  return type === 'A' || type === 'AAAA' || type === 'CNAME' || type === 'ANAME';
}

/** Converts text for the API: to a number if it is one; otherwise unchanged, so that the API reports the error. */
function numberOr(text: string): number | string {
  return /^\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : text;
}

/** Returns a field for the API, or undefined if it is omitted. */
export function fieldValue(typed: Typed, field: Field): unknown {
  switch (field) {
    case 'mx_priority':
      return typed.type === 'MX' ? numberOr(typed.mx_priority) : undefined;
    case 'ttl':
      return typed.ttl.trim() === '' ? undefined : numberOr(typed.ttl);
    case 'port':
    case 'timeout':
      return numberOr(typed[field]);
    case 'name':
      return typed.name.trim() === '' ? '@' : typed.name.trim();
    case 'destination':
      return typed.type === 'TXT' ? typed.destination : typed.destination.trim();
    default:
      return typed[field];
  }
}
