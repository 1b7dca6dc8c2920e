// The eBPF objects of an interface: the map of sockets, the program and the link, which attaches the program. All are
// descriptors, so the kernel deletes them when the processes that hold them have ended, even by kill -9.

import { EAGAIN, SystemError } from '../threads/libc.ts';
import { INSTRUCTION_BYTES } from './assemble-bpf.ts';
import type { XdpKernel } from './kernel.ts';
import { assembleFilter, type FilterRules } from './packet-filter.ts';

const COMMAND = { MAP_CREATE: 0, MAP_UPDATE_ELEM: 2, PROG_LOAD: 5, LINK_CREATE: 28 } as const;
const XSKMAP = 17;
const PROGRAM_XDP = 6;
const ATTACH_XDP = 37;
const NAME = 'zonefleet'; // shown by bpftool
/** The kernel stops checking a program with EAGAIN if a signal arrives, for example from a profiler. */
const MAX_TRIES = 20;

/** XDP_FLAGS_… */
export const ATTACH = { GENERIC: 2, DRIVER: 4 } as const;
export type AttachMode = (typeof ATTACH)[keyof typeof ATTACH];

/** Length of a union bpf_attr. The kernel accepts unknown fields if they are zero. */
const ATTRIBUTE_BYTES = 72;

export function createSocketMap(kernel: XdpKernel, queues: number): number {
  const { bytes, view } = attributes();
  view.setUint32(0, XSKMAP, true);
  view.setUint32(4, 4, true); // bytes of a key
  view.setUint32(8, 4, true); // bytes of a value
  view.setUint32(12, queues, true);
  writeName(bytes, 28);
  return call(kernel, 'map', COMMAND.MAP_CREATE, bytes);
}

export function setSocket(kernel: XdpKernel, map: number, queue: number, socket: number): void {
  const key = new Uint8Array(Uint32Array.of(queue).buffer);
  const value = new Uint8Array(Uint32Array.of(socket).buffer);
  const { bytes, view } = attributes();
  view.setUint32(0, map, true);
  view.setBigUint64(8, kernel.addressOf(key), true);
  view.setBigUint64(16, kernel.addressOf(value), true);
  call(kernel, 'map update', COMMAND.MAP_UPDATE_ELEM, bytes);
}

export function loadFilter(kernel: XdpKernel, rules: FilterRules, map: number): number {
  const code = assembleFilter(rules, map);
  const license = Uint8Array.from(Buffer.from('MIT\0'));
  const { bytes, view } = attributes();
  view.setUint32(0, PROGRAM_XDP, true);
  view.setUint32(4, code.length / INSTRUCTION_BYTES, true);
  view.setBigUint64(8, kernel.addressOf(code), true);
  view.setBigUint64(16, kernel.addressOf(license), true);
  writeName(bytes, 48);
  return call(kernel, 'program', COMMAND.PROG_LOAD, bytes);
}

export function attach(kernel: XdpKernel, program: number, interfaceIndex: number, mode: AttachMode): number {
  const { bytes, view } = attributes();
  view.setUint32(0, program, true);
  view.setUint32(4, interfaceIndex, true);
  view.setUint32(8, ATTACH_XDP, true);
  view.setUint32(12, mode, true);
  return call(kernel, 'link', COMMAND.LINK_CREATE, bytes);
}

function attributes(): { bytes: Uint8Array; view: DataView } {
  const bytes = new Uint8Array(ATTRIBUTE_BYTES);
  return { bytes, view: new DataView(bytes.buffer) };
}

function writeName(bytes: Uint8Array, at: number): void {
  bytes.set(Buffer.from(NAME), at);
}

function call(kernel: XdpKernel, what: string, command: number, bytes: Uint8Array): number {
  for (let tries = 1; ; tries++) {
    const result = kernel.bpf(command, bytes);
    if (result >= 0) return result;
    const errno = kernel.errno();
    if (errno !== EAGAIN || tries === MAX_TRIES) throw new SystemError('bpf', errno, what);
  }
}
