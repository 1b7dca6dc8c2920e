import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useHugePages } from '../../src/nameserver/huge-pages.ts';
import { openLibc } from '../../src/nameserver/libc.ts';

const MIB = 2 ** 20;
const libc = await openLibc();

/** The flags of the mapping at the address: "hg" where huge pages were asked for. */
function flagsAt(address: bigint): string[] {
  let isInside = false;
  for (const line of readFileSync('/proc/self/smaps', 'utf8').split('\n')) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) /.exec(line) ?? [];
    if (from !== undefined) isInside = BigInt(`0x${from}`) <= address && address < BigInt(`0x${to}`);
    if (isInside && line.startsWith('VmFlags:')) return line.split(/\s+/).slice(1);
  }
  return [];
}

test('an image has huge pages where the kernel knows them, wherever it begins, and holds what is written', () => {
  const image = new SharedArrayBuffer(64 * MIB + 16);
  const octets = new Uint8Array(image);
  if (existsSync('/sys/kernel/mm/transparent_hugepage')) {
    useHugePages(libc, image);
    expect(flagsAt(libc.addressOf(octets) + BigInt(32 * MIB))).toContain('hg');
  } else {
    expect(() => useHugePages(libc, image)).toThrow('madvise EINVAL');
  }
  expect(octets.fill(7).every((octet) => octet === 7)).toBe(true);
});

test('an image smaller than a huge page is left as it is', () => {
  expect(() => useHugePages(libc, new SharedArrayBuffer(MIB))).not.toThrow();
});

test('a system without huge pages says so', () => {
  const without = { ...libc, madvise: () => -1, errno: () => 22 };
  expect(() => useHugePages(without, new SharedArrayBuffer(8 * MIB))).toThrow('madvise EINVAL');
});
