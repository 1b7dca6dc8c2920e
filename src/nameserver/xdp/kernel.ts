// The system calls for AF_XDP and eBPF, in addition to those of `Libc`.

import type { Libc } from '../threads/libc.ts';

/** Each call returns -1 on failure and sets `errno`. */
export interface XdpKernel extends Libc {
  getsockopt(socket: number, level: number, option: number, value: Uint8Array, bytes: Uint32Array): number;
  mmap(
    address: 0,
    bytes: number,
    protection: number,
    flags: number,
    descriptor: number,
    offset: number,
  ): number;
  munmap(address: number, bytes: number): number;
  memfdCreate(name: string, flags: number): number;
  ftruncate(descriptor: number, bytes: number): number;
  ioctl(descriptor: number, request: number, argument: Uint8Array): number;
  bpf(command: number, attributes: Uint8Array): number;
  /** Makes the kernel send the frames in the send ring. */
  sendRing(socket: number): number;
  /** Returns the memory at an address, which stays valid until it is unmapped. */
  view(address: number, bytes: number): ArrayBuffer;
}

export const AF_XDP = 44;
export const SOCK_RAW = 3;
export const SOL_XDP = 283;
export const PROT_READ_WRITE = 3;
export const MAP_SHARED = 1;
export const MAP_POPULATE = 0x8000;
export const MFD_CLOEXEC = 1;
export const POLLOUT = 4;

const SYS_BPF = { x64: 321, arm64: 280 } as const;

export async function openXdpKernel(libc: Libc): Promise<XdpKernel> {
  const { default: koffi } = await import('koffi');
  const library = koffi.load(null);
  const number = SYS_BPF[process.arch as keyof typeof SYS_BPF];
  const syscall = library.func('long syscall(long number, int command, void *attributes, uint32_t bytes)');
  const sendto = library.func(
    'int64_t sendto(int fd, intptr_t bytes, uint64_t count, int flags, intptr_t address, uint32_t addressBytes)',
  );
  const MSG_DONTWAIT = 0x40;
  return {
    ...libc,
    getsockopt: library.func('int getsockopt(int fd, int level, int option, void *value, void *bytes)'),
    mmap: library.func(
      'intptr_t mmap(intptr_t address, uint64_t bytes, int protection, int flags, int fd, int64_t offset)',
    ),
    munmap: library.func('int munmap(intptr_t address, uint64_t bytes)'),
    memfdCreate: library.func('int memfd_create(str name, uint32_t flags)'),
    ftruncate: library.func('int ftruncate(int fd, int64_t bytes)'),
    ioctl: library.func('int ioctl(int fd, uint64_t request, void *argument)'), // variadic, but passed equally on Linux
    bpf: (command, attributes) => syscall(number, command, attributes, attributes.length),
    sendRing: (socket) => sendto(socket, 0, 0, MSG_DONTWAIT, 0, 0),
    view: (address, bytes) => koffi.view(BigInt(address), bytes),
  };
}
