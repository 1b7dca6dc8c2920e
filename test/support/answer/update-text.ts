// UPDATE messages (RFC 2136) from lines like those of nsupdate. Names are relative to the zone.
//
//     nxdomain NAME, yxdomain NAME, nxrrset NAME TYPE, yxrrset NAME TYPE [RDATA]      prerequisites
//     add NAME TTL TYPE RDATA, del NAME [TYPE [RDATA]]                                updates

import type { Edns } from '../../../src/dns/message/edns.ts';
import { OPCODE } from '../../../src/dns/message/header.ts';
import type { MessageRecord } from '../../../src/dns/message/message.ts';
import { foldCase, type Name, parseName, printName } from '../../../src/dns/name.ts';
import { CLASS, TYPE, typeCode } from '../../../src/dns/type-codes.ts';
import { recordsOf } from '../zone/zone-text.ts';
import { encodeMessage } from './encode-message.ts';

interface UpdateSections {
  readonly prerequisites: readonly MessageRecord[];
  readonly updates: readonly MessageRecord[];
}

export function updateOf(zone: Name, text: string): UpdateSections {
  const prerequisites: MessageRecord[] = [];
  const updates: MessageRecord[] = [];
  for (const line of text.split('\n')) {
    const [verb = '', name = '', ...rest] = line.trim().split(/\s+/);
    if (verb === '') continue;
    (/^(add|del)$/.test(verb) ? updates : prerequisites).push(recordOf(zone, verb, name, rest));
  }
  return { prerequisites, updates };
}

function recordOf(zone: Name, verb: string, name: string, rest: readonly string[]): MessageRecord {
  const owner = foldCase(parseName(name, zone));
  if (verb === 'add') return { ...written(zone, name, rest), class: CLASS.IN };
  const [type = 'ANY', ...rdata] = rest;
  if (rdata.length > 0) {
    const recordClass = verb === 'del' ? CLASS.NONE : CLASS.IN;
    return { ...written(zone, name, ['0', type, ...rdata]), class: recordClass };
  }
  const recordClass = verb.startsWith('nx') ? CLASS.NONE : CLASS.ANY;
  const code = type === 'ANY' ? TYPE.ANY : (typeCode(type) as number);
  return { owner, type: code, class: recordClass, ttl: 0, rdata: new Uint8Array() };
}

function written(zone: Name, name: string, words: readonly string[]): Omit<MessageRecord, 'class'> {
  const [record] = recordsOf(`${name} ${words.join(' ')}`, printName(zone));
  if (record === undefined) throw new Error(`not a record: ${name} ${words.join(' ')}`);
  const { owner, type, ttl, rdata } = record;
  return { owner: foldCase(owner), type, ttl, rdata };
}

interface UpdateHeader {
  readonly id?: number;
  readonly zoneClass?: number;
  readonly edns?: Edns;
}

export function encodeUpdate(
  zone: Name,
  { prerequisites: answers, updates: authorities }: UpdateSections,
  { id = 1, zoneClass = CLASS.IN, edns }: UpdateHeader = {},
): Uint8Array {
  const flags = { qr: false, aa: false, tc: false, rd: false, ra: false, ad: false, cd: false };
  const questions = [{ name: zone, type: TYPE.SOA, class: zoneClass }];
  const sections = { questions, answers, authorities, additionals: [] };
  return encodeMessage({ id, opcode: OPCODE.UPDATE, rcode: 0, ...flags, ...sections, ...(edns && { edns }) });
}
