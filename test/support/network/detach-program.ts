// Detaches the XDP program of a process, as an operator can with bpftool.

import { readdirSync, readFileSync } from 'node:fs';

const SYS_BPF = process.arch === 'arm64' ? 280 : 321;
const BPF_LINK_GET_FD_BY_ID = 30;
const BPF_LINK_DETACH = 34;
const ATTRIBUTES_BYTES = 128;

/** Returns the number of links of the process, each of which is detached from its interface. */
export async function detachProgram(pid: number): Promise<number> {
  const { default: koffi } = await import('koffi');
  const syscall = koffi
    .load(null)
    .func('int64_t syscall(int64_t number, int command, void *attributes, uint32_t bytes)');
  const bpf = (command: number, value: number): number => {
    const attributes = new Uint8Array(ATTRIBUTES_BYTES);
    new DataView(attributes.buffer).setUint32(0, value, true);
    const result = Number(syscall(SYS_BPF, command, attributes, ATTRIBUTES_BYTES));
    if (result < 0) throw new Error(`bpf: errno ${koffi.errno()}`);
    return result;
  };
  const links = linksOf(pid);
  for (const id of links) bpf(BPF_LINK_DETACH, bpf(BPF_LINK_GET_FD_BY_ID, id));
  return links.length;
}

function linksOf(pid: number): number[] {
  const texts = readdirSync(`/proc/${pid}/fdinfo`).map((name) =>
    readFileSync(`/proc/${pid}/fdinfo/${name}`, 'utf8'),
  );
  return texts
    .filter((text) => /^link_type:\s+xdp$/m.test(text))
    .map((text) => Number(/^link_id:\s+(\d+)$/m.exec(text)?.[1]));
}
