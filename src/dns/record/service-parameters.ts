// The parameters of SVCB and HTTPS records: one value form per key (RFC 9460 §7, 9461 §5, 9540 §4), stored as wire
// octets. Text has two layers of escapes: the character-string, and inside it the list separated by commas.

import { TextError } from '../errors.ts';
import { parseBase64, printBase64 } from './base-encodings.ts';
import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from './ip-address.ts';

export const MANDATORY = 0;
export const ALPN = 1;
export const NO_DEFAULT_ALPN = 2;
const IPV6HINT = 6; // the last key of RFC 9460
const INVALID_KEY = 65535; // RFC 9460 §14.3.2

/**
 * `parse` takes the unescaped text of a value and throws TextError. `fault` returns an error message for invalid wire octets.
 */
interface ValueForm {
  parse(text: Buffer): Uint8Array;
  /** Prints the text before character-string escapes are added. */
  print(value: Uint8Array): Uint8Array;
  fault(value: Uint8Array): string | undefined;
}

interface ServiceKey {
  readonly name: string;
  readonly form: ValueForm;
}

const opaque: ValueForm = { parse: (text) => text, print: (value) => value, fault: () => undefined };

const empty: ValueForm = {
  ...opaque,
  fault: (value) => (value.length > 0 ? 'it takes no value' : undefined),
};

const mandatory: ValueForm = {
  parse(text) {
    const keys = text
      .toString('latin1')
      .split(',')
      .map((name) => {
        const key = serviceKey(name);
        if (key === undefined) throw new TextError(`"${name}" is not a key`);
        return key;
      });
    return octetsOfKeys(keys.sort((a, b) => a - b)); // any order in text (RFC 9460 §8); duplicates are rejected below
  },
  print: (value) => Buffer.from(keysIn(value).map(serviceKeyName).join(',')),
  fault(value) {
    const keys = keysIn(value);
    if (value.length === 0 || value.length % 2 !== 0) return 'it is not a list of keys';
    if (keys.includes(MANDATORY)) return 'it lists itself';
    if (keys.includes(INVALID_KEY)) return 'key65535 is reserved';
    return keys.some((key, i) => i > 0 && key <= (keys[i - 1] as number))
      ? 'its keys repeat or do not rise'
      : undefined;
  },
};

/** Returns the keys that a `mandatory` value lists. */
export function keysIn(value: Uint8Array): number[] {
  const keys: number[] = [];
  for (let i = 0; i + 1 < value.length; i += 2)
    keys.push((value[i] as number) * 256 + (value[i + 1] as number));
  return keys;
}

function octetsOfKeys(keys: readonly number[]): Uint8Array {
  return Uint8Array.from(keys.flatMap((key) => [key >> 8, key & 0xff]));
}

const alpn: ValueForm = {
  parse(text) {
    const ids = splitList(text.toString('latin1'));
    if (ids.some((id) => id.length === 0 || id.length > 255))
      throw new TextError('a protocol is not 1 to 255 octets');
    return Buffer.from(ids.map((id) => String.fromCharCode(id.length) + id).join(''), 'latin1');
  },
  print: (value) =>
    Buffer.from(
      (idsIn(value) ?? []).map((id) => id.replace(/[\\,]/g, '\\$&')).join(','), // RFC 9460 appendix A.1
      'latin1',
    ),
  fault: (value) => (idsIn(value) === undefined ? 'it is not a list of protocols' : undefined),
};

function idsIn(value: Uint8Array): string[] | undefined {
  const ids: string[] = [];
  for (let i = 0; i < value.length; ) {
    const length = value[i] as number;
    if (length === 0 || i + 1 + length > value.length) return undefined;
    ids.push(Buffer.from(value.subarray(i + 1, i + 1 + length)).toString('latin1'));
    i += 1 + length;
  }
  return ids.length > 0 ? ids : undefined;
}

/** Splits at commas. A backslash escapes the comma or backslash after it (RFC 9460 appendix A.1). */
function splitList(text: string): string[] {
  const items = [''];
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char === ',') {
      items.push('');
    } else if (char === '\\') {
      const next = text[++i];
      if (next !== ',' && next !== '\\') throw new TextError('in a list only "," and "\\" can be escaped');
      items[items.length - 1] += next;
    } else {
      items[items.length - 1] += char;
    }
  }
  return items;
}

const port: ValueForm = {
  parse(text) {
    const digits = text.toString('latin1');
    if (!/^[0-9]{1,5}$/.test(digits) || Number(digits) > 0xffff) {
      throw new TextError(`"${digits}" is not a port from 0 to 65535`);
    }
    return Uint8Array.of(Number(digits) >> 8, Number(digits) & 0xff);
  },
  print: (value) => Buffer.from(String((value[0] as number) * 256 + (value[1] as number))),
  fault: (value) => (value.length !== 2 ? 'it is not a port' : undefined),
};

function addresses(
  octets: number,
  parse: (text: string) => Uint8Array,
  print: (octets: Uint8Array) => string,
): ValueForm {
  return {
    parse: (text) => Buffer.concat(text.toString('latin1').split(',').map(parse)),
    print(value) {
      const count = value.length / octets;
      const parts = Array.from({ length: count }, (_, i) =>
        print(value.subarray(i * octets, (i + 1) * octets)),
      );
      return Buffer.from(parts.join(','));
    },
    fault: (value) =>
      value.length === 0 || value.length % octets !== 0 ? 'it is not a list of addresses' : undefined,
  };
}

const ech: ValueForm = {
  parse: (text) => parseBase64(text.toString('latin1')),
  print: (value) => Buffer.from(printBase64(value)),
  fault: (value) => (value.length === 0 ? 'it is empty' : undefined),
};

/** A relative URI Template in UTF-8 with the variable "dns" (RFC 9461 §5). */
const dohpath: ValueForm = {
  ...opaque,
  fault(value) {
    const text = Buffer.from(value).toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(value)) return 'it is not UTF-8';
    const variables = [...text.matchAll(/\{[+#./;?&]?([^{}]*)\}/g)].flatMap((match) =>
      (match[1] as string).split(','),
    );
    if (
      !text.startsWith('/') ||
      !variables.some((variable) => /^dns(?:\*|:[1-9][0-9]{0,3})?$/.test(variable))
    ) {
      return 'it is not a path with the variable "dns", such as /dns-query{?dns}';
    }
    return undefined;
  },
};

const KEYS: ReadonlyMap<number, ServiceKey> = new Map([
  [MANDATORY, { name: 'mandatory', form: mandatory }],
  [ALPN, { name: 'alpn', form: alpn }],
  [NO_DEFAULT_ALPN, { name: 'no-default-alpn', form: empty }],
  [3, { name: 'port', form: port }],
  [4, { name: 'ipv4hint', form: addresses(4, parseIpv4, printIpv4) }],
  [5, { name: 'ech', form: ech }],
  [IPV6HINT, { name: 'ipv6hint', form: addresses(16, parseIpv6, printIpv6) }],
  [7, { name: 'dohpath', form: dohpath }],
  [8, { name: 'ohttp', form: empty }],
]);
const CODES: ReadonlyMap<string, number> = new Map([...KEYS].map(([code, key]) => [key.name, code]));

/** Returns the number of `alpn` or `key667`, or undefined. Keys are in lower case (RFC 9460 §2.1). */
export function serviceKey(name: string): number | undefined {
  const code = CODES.get(name);
  if (code !== undefined) return code;
  if (!/^key(?:0|[1-9][0-9]{0,4})$/.test(name)) return undefined;
  return Number(name.slice(3)) < INVALID_KEY ? Number(name.slice(3)) : undefined;
}

/** Returns the name of a key. Knot 3.2 and BIND 9.18 do not know all keys newer than RFC 9460: print them as keyN. */
export function serviceKeyName(key: number): string {
  return (key <= IPV6HINT ? KEYS.get(key)?.name : undefined) ?? `key${key}`;
}

/** Parses a value from `text`, whose character-string escapes are resolved. `generic`: the key was written as keyNNNNN. */
export function parseServiceValue(key: number, text: Uint8Array, generic: boolean): Uint8Array {
  const form = generic ? opaque : (KEYS.get(key)?.form ?? opaque);
  const value = form.parse(Buffer.from(text));
  if (value.length > 0xffff) throw new TextError('the value is longer than 65535 octets');
  return value;
}

export function printServiceValue(key: number, value: Uint8Array): Uint8Array {
  return (KEYS.get(key)?.form ?? opaque).print(value);
}

/** Returns an error message for an invalid value on the wire, or undefined. */
export function serviceValueFault(key: number, value: Uint8Array): string | undefined {
  return key === INVALID_KEY ? 'it is reserved' : KEYS.get(key)?.form.fault(value);
}
