// A zone read back out of an image, whole: for edits that concern all of it, for tests, for whoever may take the time.
// The caller is the writer or has entered a reader slot.

import type { Name } from '../../dns/name.ts';
import { nameFields, readRdata } from '../../dns/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { RecordSet, Zone, ZoneNode } from '../zone.ts';
import { setStart } from './compile-set.ts';
import type { Image } from './image.ts';
import {
  NODE,
  NODE_FLAG,
  octetOf,
  RECORD_HEAD_OCTETS,
  SET,
  SET_FLAG,
  SET_WORDS,
  segmentOf,
  wordOf,
} from './layout.ts';
import { forEachName } from './name-index.ts';
import type { NodeContent } from './write-node.ts';
import { readRoot } from './zone-root.ts';
import { findRoot } from './zone-table.ts';

/** `apex` must be folded. */
export function readZone(image: Image, apex: Name): Zone | undefined {
  const root = findRoot(image, apex);
  return root === 0 ? undefined : readZoneAt(image, root);
}

export function readZoneAt(image: Image, root: number): Zone {
  const { apex, serial, negativeTtl, records } = readRoot(image, root);
  const nodes = new Map<Name, ZoneNode>();
  const marks = new Set<Name>();
  forEachName(image, root, (_, ref) => {
    const { name, sets, marked } = readNode(image, ref, apex);
    nodes.set(name, { name, sets });
    if (marked) marks.add(name);
  });
  const soa = nodes.get(apex)?.sets.get(TYPE.SOA) as RecordSet;
  return { apex, soa, negativeTtl, serial, nodes, marked: marks, records };
}

export function readNode(image: Image, ref: number, apex: Name): NodeContent {
  const words = image.words[segmentOf(ref)] as Int32Array;
  const octets = image.octets[segmentOf(ref)] as Uint8Array;
  const at = wordOf(ref);
  const shape = words[at + NODE.SHAPE] as number;
  const relative = (shape >>> 8) & 0xff;
  const setsEnd = at + NODE.SETS + (shape >>> 16) * SET_WORDS;
  let octetsAt = octetOf(ref) + (setsEnd - at) * 4;
  let name = '';
  for (let i = 0; i < relative; i++) name += String.fromCharCode(octets[octetsAt + i] as number);
  name += apex;
  octetsAt += relative;
  const sets = new Map<number, RecordSet>();
  for (let set = at + NODE.SETS; set < setsEnd; set += SET_WORDS) {
    const first = words[set + SET.TYPE] as number;
    const second = words[set + SET.OCTETS] as number;
    const end = octetsAt + (second & 0xffff);
    const compiled = octets.subarray(octetsAt, end);
    sets.set(first & 0xffff, readSet(name as Name, first & 0xffff, first >>> 16, compiled, second));
    octetsAt = end;
  }
  return {
    name: name as Name,
    sets,
    children: words[at + NODE.CHILDREN] as number,
    hasWildcardChild: (shape & NODE_FLAG.HAS_WILDCARD_CHILD) !== 0,
    marked: (shape & NODE_FLAG.MARKED) !== 0,
  };
}

function readSet(owner: Name, type: number, records: number, compiled: Uint8Array, flags: number): RecordSet {
  const isCompressed = (flags & SET_FLAG.HAS_POINTERS) !== 0 && nameFields(type).length > 0;
  const message = isCompressed ? asMessage(owner, compiled) : compiled;
  const rdata: Uint8Array[] = [];
  let at = message.length - compiled.length;
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const ttl = view.getUint32(at + 6);
  for (let i = 0; i < records; i++) {
    const length = view.getUint16(at + 10);
    const start = at + RECORD_HEAD_OCTETS;
    rdata.push(
      isCompressed
        ? readRdata(type, message, start, length)
        : Uint8Array.from(message.subarray(start, start + length)),
    );
    at = start + length;
  }
  return { owner, type, ttl, rdata };
}

/** The answer that the set was compiled for, as far as pointers lead into it. */
function asMessage(owner: Name, compiled: Uint8Array): Uint8Array {
  const start = setStart(owner.length);
  const message = new Uint8Array(start + compiled.length);
  for (let i = 0; i < owner.length; i++) message[12 + i] = owner.charCodeAt(i);
  message.set(compiled, start);
  return message;
}
