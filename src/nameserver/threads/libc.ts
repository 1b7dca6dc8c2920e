// The system calls for the UDP threads, the zone image's memory and the handover of sockets, through koffi. Supports
// 64-bit Linux on x86-64 and arm64, whose constants and layouts are equal. Loaded only where it is used: without koffi,
// or on other systems, a node uses node:dgram.

import { endianness } from 'node:os';
import { getSystemErrorName } from 'node:util';

/** Each call returns -1 on failure and sets `errno`. Memory addresses are BigInt: numbers would be boxed for each call. */
export interface Libc {
  socket(family: number, type: number, protocol: number): number;
  setsockopt(socket: number, level: number, option: number, value: Uint8Array, bytes: number): number;
  bind(socket: number, address: Uint8Array, bytes: number): number;
  getsockname(socket: number, address: Uint8Array, bytes: Uint32Array): number;
  shutdown(socket: number, how: number): number;
  close(descriptor: number): number;
  fcntl(descriptor: number, command: number, value: number): number;
  connect(socket: number, address: Uint8Array, bytes: number): number;
  sendmsg(socket: number, message: bigint, flags: number): number;
  recvmsg(socket: number, message: bigint, flags: number): number;
  poll(descriptors: bigint, count: number, timeoutMs: number): number;
  recvmmsg(socket: number, messages: bigint, count: number, flags: number, timeout: 0): number;
  sendmmsg(socket: number, messages: bigint, count: number, flags: number): number;
  madvise(address: bigint, bytes: bigint, advice: number): number;
  errno(): number;
  /** Returns the address of the bytes of `memory`, which is valid as long as `memory` is referenced. */
  addressOf(memory: Uint8Array): bigint;
}

export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_CLOEXEC = 0o2000000;
export const SHUT_RD = 0;

export const SOL_SOCKET = 1;
export const SO_SNDBUF = 7;
export const SO_RCVBUF = 8;
export const SO_REUSEPORT = 15;
export const SCM_RIGHTS = 1;
export const SO_RCVTIMEO = 20;
export const SO_SNDTIMEO = 21;
export const SO_RCVBUFFORCE = 33;
export const IPPROTO_IP = 0;
export const IP_PKTINFO = 8;
export const IP_MTU_DISCOVER = 10;
export const IPPROTO_IPV6 = 41;
export const IPV6_MTU_DISCOVER = 23;
export const IPV6_V6ONLY = 26;
export const IPV6_RECVPKTINFO = 49;
export const IPV6_PKTINFO = 50;
export const PMTUDISC_PROBE = 3;

export const MSG_TRUNC = 0x20;
export const MSG_DONTWAIT = 0x40;
export const MSG_NOSIGNAL = 0x4000;
export const MSG_WAITFORONE = 0x10000;
export const MSG_CMSG_CLOEXEC = 0x40000000;
export const POLLIN = 1;

export const F_DUPFD_CLOEXEC = 1030;

export const MADV_HUGEPAGE = 14;

export const EINTR = 4;
export const EAGAIN = 11;
export const ENOMEM = 12;
export const ENOBUFS = 105;

const ARCHITECTURES: readonly string[] = ['x64', 'arm64'];

/** Rejects with the reason if these calls are not available. */
export async function openLibc(): Promise<Libc> {
  if (process.platform !== 'linux') throw new Error(`the operating system is ${process.platform}, not linux`);
  if (!ARCHITECTURES.includes(process.arch) || endianness() !== 'LE') {
    throw new Error(`the processor is ${process.arch}, not ${ARCHITECTURES.join(' or ')}`);
  }
  const { default: koffi } = await import('koffi');
  const library = koffi.load(null); // the library that Node is linked with: glibc or musl
  return {
    socket: library.func('int socket(int family, int type, int protocol)'),
    setsockopt: library.func('int setsockopt(int fd, int level, int option, void *value, uint32_t bytes)'),
    bind: library.func('int bind(int fd, void *address, uint32_t bytes)'),
    getsockname: library.func('int getsockname(int fd, void *address, void *bytes)'),
    shutdown: library.func('int shutdown(int fd, int how)'),
    close: library.func('int close(int fd)'),
    fcntl: library.func('int fcntl(int fd, int command, int value)'), // variadic, but passed equally on Linux
    connect: library.func('int connect(int fd, void *address, uint32_t bytes)'),
    sendmsg: library.func('int64_t sendmsg(int fd, intptr_t message, int flags)'),
    recvmsg: library.func('int64_t recvmsg(int fd, intptr_t message, int flags)'),
    // Addresses are declared as intptr_t, so that koffi does not examine the type of each value.
    poll: library.func('int poll(intptr_t descriptors, uint64_t count, int timeout)'),
    recvmmsg: library.func(
      'int recvmmsg(int fd, intptr_t messages, uint32_t count, int flags, intptr_t timeout)',
    ),
    sendmmsg: library.func('int sendmmsg(int fd, intptr_t messages, uint32_t count, int flags)'),
    madvise: library.func('int madvise(intptr_t address, uint64_t bytes, int advice)'),
    errno: () => koffi.errno(),
    addressOf: (memory) => koffi.address(memory),
  };
}

/** The system error of a failed call, in the form of Node's own errors. */
export class SystemError extends Error {
  readonly errno: number;
  readonly code: string;
  readonly syscall: string;

  constructor(syscall: string, errno: number, at = '') {
    const code = getSystemErrorName(-errno);
    super(`${syscall} ${code}${at === '' ? '' : ` ${at}`}`);
    this.errno = -errno;
    this.code = code;
    this.syscall = syscall;
  }
}
