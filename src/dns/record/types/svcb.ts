// Service bindings: SVCB and HTTPS (RFC 9460).

import { TYPE } from '../../type-codes.ts';
import { parseCharacterString, printWord } from '../character-string.ts';
import { domainName, encodeNumber, u16 } from '../fields.ts';
import { type Field, recordType } from '../record-type.ts';
import {
  ALPN,
  keysIn,
  MANDATORY,
  NO_DEFAULT_ALPN,
  parseServiceValue,
  printServiceValue,
  serviceKey,
  serviceKeyName,
  serviceValueFault,
} from '../service-parameters.ts';
import type { Token } from '../token.ts';
import type { TokenReader } from '../token-reader.ts';

interface ServiceParameter {
  readonly key: number;
  readonly value: Uint8Array;
}

const parameters: Field<ServiceParameter[]> = {
  parse(tokens) {
    const found = new Map<number, ServiceParameter>();
    for (let token = tokens.peek(); token !== undefined; token = tokens.peek()) {
      const parameter = parseParameter(tokens);
      const name = serviceKeyName(parameter.key);
      if (found.has(parameter.key)) tokens.fail(`${name} is given twice`, token); // RFC 9460 §2.1
      const fault = serviceValueFault(parameter.key, parameter.value);
      if (fault !== undefined) tokens.fail(`${name}: ${fault}`, token);
      found.set(parameter.key, parameter);
    }
    return [...found.values()].sort((a, b) => a.key - b.key); // RFC 9460 §2.2
  },
  print: (list) => list.map(printParameter).join(' '),
  decode(wire) {
    const list: ServiceParameter[] = [];
    while (wire.left > 0) {
      const key = wire.u16();
      const value = wire.take(wire.u16());
      if (key <= (list.at(-1)?.key ?? -1)) wire.fail('the keys are not in strictly ascending order'); // RFC 9460 §2.2
      const fault = serviceValueFault(key, value);
      if (fault !== undefined) wire.fail(`${serviceKeyName(key)}: ${fault}`);
      list.push({ key, value });
    }
    return list;
  },
  encode: (list) =>
    Buffer.concat(
      list.flatMap(({ key, value }) => [encodeNumber(key, 2), encodeNumber(value.length, 2), value]),
    ),
};

function parseParameter(tokens: TokenReader): ServiceParameter {
  const word = tokens.word();
  const equals = word.text.indexOf('=');
  const name = equals < 0 ? word.text : word.text.slice(0, equals);
  const key = serviceKey(name) ?? tokens.fail(`"${name}" is not a key`, word);
  const text = equals < 0 ? '' : valueText(tokens, word, word.text.slice(equals + 1));
  const value = tokens.read({ ...word, text }, (escaped) =>
    parseServiceValue(key, parseCharacterString(escaped), name.startsWith('key')),
  );
  return { key, value };
}

/** Returns the value after the `=`: the rest of the word, or else the quoted string that follows without a space. */
function valueText(tokens: TokenReader, word: Token, rest: string): string {
  const next = tokens.peek();
  const touches = next?.line === word.line && next.column === word.column + word.text.length;
  if (rest !== '' || next === undefined || !next.quoted || !touches) return rest;
  return tokens.next().text;
}

function printParameter({ key, value }: ServiceParameter): string {
  const name = serviceKeyName(key);
  return value.length === 0 ? name : `${name}=${printWord(printServiceValue(key, value))}`;
}

/** Checks the consistency of the record (RFC 9460 §2.4.3, §7.1.1, §8). */
function checkConsistency(value: { priority: number; parameters: readonly ServiceParameter[] }) {
  if (value.priority === 0) return undefined;
  const keys = new Set(value.parameters.map((parameter) => parameter.key));
  const field = 'parameters';
  if (keys.has(NO_DEFAULT_ALPN) && !keys.has(ALPN))
    return { field, message: 'no-default-alpn requires alpn' };
  const list = value.parameters.find((parameter) => parameter.key === MANDATORY)?.value ?? new Uint8Array(0);
  const missing = keysIn(list).find((key) => !keys.has(key));
  if (missing === undefined) return undefined;
  return { field, message: `mandatory lists ${serviceKeyName(missing)}, which is missing` };
}

/** HTTPS has the same rdata (RFC 9460 §9). */
function serviceBinding(code: number) {
  return recordType(code, { priority: u16, target: domainName, parameters }, { check: checkConsistency });
}

/**
 * How a service is reached (RFC 9460). Priority 0 is AliasMode, in which parameters are allowed but ignored (§2.4.2).
 * The lexer ends a word at a quote, so `alpn="h2"` is the word `alpn=` followed by a string.
 */
export const SVCB = serviceBinding(TYPE.SVCB);

/** SVCB for the web (RFC 9460 §9). */
export const HTTPS = serviceBinding(TYPE.HTTPS);
