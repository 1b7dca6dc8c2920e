import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, test } from 'vitest';
import { useHugePages } from '../../src/nameserver/threads/huge-pages.ts';
import { type Doing, ImageProgress, StandstillWatch } from '../../src/nameserver/threads/image-progress.ts';
import { openLibc, SystemError } from '../../src/nameserver/threads/libc.ts';

const MIB = 2 ** 20;
const libc = await openLibc();

/** Returns the flags of the mapping at the address: "hg" if huge pages were requested. */
function flagsAt(address: bigint): string[] {
  let isInside = false;
  for (const line of readFileSync('/proc/self/smaps', 'utf8').split('\n')) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) /.exec(line) ?? [];
    if (from !== undefined) isInside = BigInt(`0x${from}`) <= address && address < BigInt(`0x${to}`);
    if (isInside && line.startsWith('VmFlags:')) return line.split(/\s+/).slice(1);
  }
  return [];
}

test('an image at any address uses huge pages if the kernel supports them, and preserves written data', () => {
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

describe('if huge pages have', () => {
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

  test('2 MiB, they are requested for whole pages inside the image, if it has any', () => {
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

  test('another size, none are requested', () => {
    const { asked, libc: fake } = counting();
    const image = new SharedArrayBuffer(8 * MIB);
    expect(() => useHugePages(fake, image, sized('536870912\n'))).toThrow('536870912 bytes');
    expect(() => useHugePages(fake, image, join(directory, 'absent'))).toThrow('ENOENT');
    expect(asked).toEqual([]);
  });

  test('2 MiB and the kernel refuses, the refusal is reported', () => {
    const refusing = { ...libc, madvise: () => -1, errno: () => 22 };
    const file = sized('2097152\n');
    expect(() => useHugePages(refusing, new SharedArrayBuffer(8 * MIB), file)).toThrow('madvise EINVAL');
  });
});

const MAX_LOOKS = 60;

/** Returns the number of reports in that many checks. `between` runs between two checks. */
function told(looks: number, doing: Doing, between: (progress: ImageProgress, look: number) => void): number {
  const progress = new ImageProgress();
  const watch = new StandstillWatch();
  progress.begin(doing);
  let count = 0;
  for (let look = 0; look < looks; look++) {
    if (watch.look({ doing: progress.doing, steps: progress.steps, beats: look % 2 })) count++;
    between(progress, look);
  }
  return count;
}

describe('a thread', () => {
  it('without a step during work is reported once as making no progress', () => {
    expect(told(MAX_LOOKS, 'building zones', () => undefined)).toBe(0);
    expect(told(5 * MAX_LOOKS, 'building zones', () => undefined)).toBe(1);
  });

  it('that takes an occasional step is never reported, regardless of the length of its work', () => {
    const seldom = (progress: ImageProgress, look: number) => {
      if (look % (MAX_LOOKS - 1) === 0) progress.step();
    };
    expect(told(100 * MAX_LOOKS, 'reading the snapshot', seldom)).toBe(0);
  });

  it('that waits for the database is not reported while its event loop turns', () => {
    expect(told(100 * MAX_LOOKS, 'waiting', () => undefined)).toBe(0);
    const watch = new StandstillWatch();
    const still = { doing: 'waiting', steps: 4, beats: 9 } as const;
    expect(Array.from({ length: MAX_LOOKS + 1 }, () => watch.look(still)).at(-1)).toBe(true);
  });
});

it('shared memory contains the task and its progress', () => {
  const inThread = new ImageProgress();
  const outside = new ImageProgress(inThread.buffer);
  expect(outside.doing).toBe('starting');
  inThread.begin('reading the snapshot');
  inThread.reach(3, 8);
  expect([outside.doing, outside.done, outside.total]).toEqual(['reading the snapshot', 3, 8]);
  expect(outside.steps).toBeGreaterThan(1);
});

const real = { platform: process.platform, arch: process.arch };
afterEach(() => pretend(real));

function pretend(machine: Partial<typeof real>): void {
  for (const [name, value] of Object.entries(machine)) {
    Object.defineProperty(process, name, { ...Object.getOwnPropertyDescriptor(process, name), value });
  }
}

describe('the system calls', () => {
  test('reach the system, and report why a call failed', async () => {
    const libc = await openLibc();
    expect(libc.close(-1)).toBe(-1);
    expect(new SystemError('close', libc.errno())).toMatchObject({
      message: 'close EBADF',
      code: 'EBADF',
      syscall: 'close',
      errno: -9,
    });
  });

  test('are not used on systems and processors with other constants', async () => {
    pretend({ platform: 'darwin' });
    await expect(openLibc()).rejects.toThrow('the operating system is darwin, not linux');
    pretend({ ...real, arch: 's390x' });
    await expect(openLibc()).rejects.toThrow('the processor is s390x, not x64 or arm64');
  });

  test('return the address of memory', async () => {
    const libc = await openLibc();
    const memory = new Uint8Array(100);
    expect(libc.addressOf(memory.subarray(40)) - libc.addressOf(memory)).toBe(40n);
  });
});
