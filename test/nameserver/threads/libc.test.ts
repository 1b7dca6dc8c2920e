import { afterEach, describe, expect, test } from 'vitest';
import { openLibc, SystemError } from '../../../src/nameserver/threads/libc.ts';

const real = { platform: process.platform, arch: process.arch };
afterEach(() => pretend(real));

function pretend(machine: Partial<typeof real>): void {
  for (const [name, value] of Object.entries(machine)) {
    Object.defineProperty(process, name, { ...Object.getOwnPropertyDescriptor(process, name), value });
  }
}

describe('the system calls', () => {
  test('reach the system, which says why one failed', async () => {
    const libc = await openLibc();
    expect(libc.close(-1)).toBe(-1);
    expect(new SystemError('close', libc.errno())).toMatchObject({
      message: 'close EBADF',
      code: 'EBADF',
      syscall: 'close',
      errno: -9,
    });
  });

  test('are not made on systems and processors that have others', async () => {
    pretend({ platform: 'darwin' });
    await expect(openLibc()).rejects.toThrow('the system is darwin, not linux');
    pretend({ ...real, arch: 's390x' });
    await expect(openLibc()).rejects.toThrow('the processor is s390x, not x64 or arm64');
  });

  test('find memory where it is', async () => {
    const libc = await openLibc();
    const memory = new Uint8Array(100);
    expect(libc.addressOf(memory.subarray(40)) - libc.addressOf(memory)).toBe(40n);
  });
});
