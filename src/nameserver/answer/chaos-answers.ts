// Answers queries of class CH about the node: its name (RFC 4892) and the software version.

import { encodeName, type Name, parseName } from '../../dns/name.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import type { FoldedName } from '../image/find/folded-name.ts';

const NODE_NAMES = ['id.server.', 'hostname.bind.'].map(octetsOf);
const VERSION_NAMES = ['version.bind.', 'version.server.'].map(octetsOf);

const RECORD_HEAD_OCTETS = 12;
const MAX_STRING_OCTETS = 255;

export class ChaosAnswers {
  /** The record that was found, with the query name as its owner. */
  record: DataView;
  readonly #nodeName: DataView;
  readonly #version: DataView;

  constructor(nodeName: string, version: string) {
    this.#nodeName = textRecord(nodeName);
    this.#version = textRecord(version);
    this.record = this.#nodeName;
  }

  /** Sets `record` to the TXT record for `name`. Returns false if there is none. */
  find(name: FoldedName): boolean {
    if (isOneOf(name, NODE_NAMES)) this.record = this.#nodeName;
    else if (isOneOf(name, VERSION_NAMES)) this.record = this.#version;
    else return false;
    return true;
  }
}

function octetsOf(text: string): Uint8Array {
  return encodeName(parseName(text) as Name);
}

function isOneOf(name: FoldedName, names: readonly Uint8Array[]): boolean {
  for (let i = 0; i < names.length; i++) if (isName(name, names[i] as Uint8Array)) return true;
  return false;
}

function isName(name: FoldedName, octets: Uint8Array): boolean {
  if (name.length !== octets.length) return false;
  for (let i = 0; i < octets.length; i++) if (name.octets[i] !== octets[i]) return false;
  return true;
}

function textRecord(text: string): DataView {
  const string = Buffer.from(text).subarray(0, MAX_STRING_OCTETS);
  const record = new DataView(new ArrayBuffer(RECORD_HEAD_OCTETS + 1 + string.length));
  record.setUint16(0, 0xc000 | 12); // pointer to the query name
  record.setUint16(2, TYPE.TXT);
  record.setUint16(4, CLASS.CH);
  record.setUint32(6, 0);
  record.setUint16(10, 1 + string.length);
  record.setUint8(12, string.length);
  for (const [i, octet] of string.entries()) record.setUint8(RECORD_HEAD_OCTETS + 1 + i, octet);
  return record;
}
