import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { useHugePages } from '../../../src/nameserver/threads/huge-pages.ts';
import { openLibc } from '../../../src/nameserver/threads/libc.ts';

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
  const bytes = new Uint8Array(image);
  if (existsSync('/sys/kernel/mm/transparent_hugepage/hpage_pmd_size') && process.arch === 'x64') {
    useHugePages(libc, image);
    expect(flagsAt(libc.addressOf(bytes) + BigInt(32 * MIB))).toContain('hg');
  } else {
    expect(() => useHugePages(libc, image)).toThrow();
  }
  bytes.fill(7);
  for (let at = 0; at < bytes.length; at += 4096) if (bytes[at] !== 7) expect.unreachable(`byte ${at}`);
});

describe('where huge pages have', () => {
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const sized = (text: string) => {
    const file = join(directory, 'hpage_pmd_size');
    writeFileSync(file, text);
    return file;
  };
  const counting = () => {
    const asked: [bigint, bigint][] = [];
    const madvise = (from: bigint, bytes: bigint) => asked.push([from, bytes]) - asked.length;
    return { asked, libc: { ...libc, madvise } };
  };

  test('2 MiB, whole ones inside of the image are asked for, and none where it has none', () => {
    const { asked, libc: fake } = counting();
    const image = new SharedArrayBuffer(8 * MIB);
    useHugePages(fake, image, sized('2097152\n'));
    useHugePages(fake, new SharedArrayBuffer(MIB), sized('2097152\n'));
    const [[from, bytes] = [0n, 0n]] = asked;
    const start = libc.addressOf(new Uint8Array(image));
    expect(asked).toHaveLength(1);
    expect([from % BigInt(2 * MIB), bytes % BigInt(2 * MIB)]).toEqual([0n, 0n]);
    expect(from >= start && from + bytes <= start + BigInt(8 * MIB)).toBe(true);
    expect(bytes).toBeGreaterThanOrEqual(BigInt(6 * MIB));
  });

  test('another size, none are', () => {
    const { asked, libc: fake } = counting();
    const image = new SharedArrayBuffer(8 * MIB);
    expect(() => useHugePages(fake, image, sized('536870912\n'))).toThrow('536870912 bytes');
    expect(() => useHugePages(fake, image, join(directory, 'absent'))).toThrow('ENOENT');
    expect(asked).toEqual([]);
  });

  test('2 MiB and the kernel refuses, that is told', () => {
    const refusing = { ...libc, madvise: () => -1, errno: () => 22 };
    const file = sized('2097152\n');
    expect(() => useHugePages(refusing, new SharedArrayBuffer(8 * MIB), file)).toThrow('madvise EINVAL');
  });
});
