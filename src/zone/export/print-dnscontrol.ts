// Prints the records of a domain as a dnsconfig.js of dnscontrol.

import { sortNames } from '../../dns/dnssec/sort-names.ts';
import { type Name, printName } from '../../dns/name.ts';
import { printWithoutDot } from '../name-text.ts';
import { NS_TTL_SECONDS } from '../publish/publish.ts';
import type { CustomerRecord } from '../records/customer-record.ts';
import { DEFAULT_TTL_SECONDS } from '../records/customer-types.ts';
import { printRecordName } from '../records/record-name.ts';
import { type LeaveOut, leftOut, leftOutLine, toolType, txtOctets, wordsOf } from './record-words.ts';

type Argument = string | number;

const texts = (words: readonly string[]): Argument[] => [...words];
/** Converts the first words to numbers, and joins the others to one text. */
const numbersAndData =
  (count: number) =>
  (words: readonly string[]): Argument[] => [
    ...words.slice(0, count).map(Number),
    words.slice(count).join(''),
  ];

function service([priority, target = '', ...params]: readonly string[]): Argument[] {
  return [Number(priority), target, params.join(' ')];
}

function location(words: readonly string[]): Argument[] {
  return words.map((word, i) => (i === 3 || i === 7 ? word : Number(word.replace('m', ''))));
}

/** Converts the words of a record to the arguments after its name. */
const ARGUMENTS: Readonly<Record<string, (words: readonly string[]) => Argument[]>> = {
  A: texts,
  AAAA: texts,
  ALIAS: texts,
  CNAME: texts,
  DNAME: texts,
  NS: texts,
  PTR: texts,
  MX: numbersAndData(1),
  SRV: numbersAndData(3),
  CAA: ([, tag = '', value = '']) => [tag, value],
  DS: numbersAndData(3),
  SSHFP: numbersAndData(2),
  TLSA: numbersAndData(3),
  SMIMEA: numbersAndData(3),
  OPENPGPKEY: numbersAndData(0),
  DHCID: numbersAndData(0),
  NAPTR: ([order, preference, ...rest]) => [Number(order), Number(preference), ...rest],
  LOC: location,
  HTTPS: service,
  SVCB: service,
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Yields lines without line breaks. Comments list the records that dnscontrol cannot express. Without the nameservers of
 * the domain, dnscontrol would delete the NS records of the apex.
 */
export function* printDnscontrol(
  apex: Name,
  records: ReadonlyMap<Name, readonly CustomerRecord[]>,
  leave: LeaveOut,
  nameservers: readonly Name[] = [],
): Generator<string> {
  yield 'var REG_NONE = NewRegistrar("none");';
  yield 'var DSP_ZONEFLEET = NewDnsProvider("zonefleet");';
  yield '';
  yield `D(${JSON.stringify(printWithoutDot(apex))}, REG_NONE, DnsProvider(DSP_ZONEFLEET, 0),`;
  yield `  NAMESERVER_TTL(${NS_TTL_SECONDS}),`;
  for (const host of nameservers) yield `  NAMESERVER(${JSON.stringify(printName(host))}),`;
  yield `  DefaultTTL(${DEFAULT_TTL_SECONDS}),`;
  for (const name of sortNames(records.keys())) {
    for (const record of records.get(name) ?? []) {
      const call = callOf(record, apex);
      if ('reason' in call) {
        const item = leftOut(record, apex, call.reason);
        leave(item);
        yield `  // ${leftOutLine(item)}`;
      } else {
        yield `  ${call.text},${record.proxied ? ' // proxied' : ''}`;
      }
    }
  }
  yield 'END);';
}

function callOf(record: CustomerRecord, apex: Name): { readonly text: string } | { readonly reason: string } {
  const type = toolType(record, apex);
  const name = printRecordName(record.name, apex);
  if (name.includes('\\')) return { reason: 'dnscontrol has no escapes in names' };
  const content = type === 'TXT' ? txtOf(record.rdata) : argumentsOf(record, type);
  if ('reason' in content) return content;
  const all = [name, ...content.values].map((value) => JSON.stringify(value));
  return { text: `${type}(${[...all, ...content.modifiers, `TTL(${record.ttl})`].join(', ')})` };
}

type Content =
  | { readonly values: readonly Argument[]; readonly modifiers: readonly string[] }
  | { readonly reason: string };

const CRITICAL = 128;

function argumentsOf(record: CustomerRecord, type: string): Content {
  const make = ARGUMENTS[type];
  if (make === undefined) return { reason: 'dnscontrol does not know the type' };
  const words = wordsOf(record);
  if (words === undefined) return { reason: 'dnscontrol cannot express its octets' };
  const flags = type === 'CAA' ? Number(words[0]) : 0;
  if (flags !== 0 && flags !== CRITICAL) return { reason: 'dnscontrol does not know the flags' };
  return { values: make(words), modifiers: flags === CRITICAL ? ['CAA_CRITICAL'] : [] };
}

function txtOf(rdata: Uint8Array): Content {
  try {
    const text = utf8.decode(txtOctets(rdata));
    if (text !== '' && !/\p{Cc}/u.test(text)) return { values: [text], modifiers: [] };
  } catch {
    // The octets are not UTF-8, so no JavaScript string can express them.
  }
  return { reason: 'dnscontrol cannot express the text' };
}
