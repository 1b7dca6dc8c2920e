// Passes open descriptors to another process with a line of text (unix(7), SCM_RIGHTS).

import { setTimeout as pause } from 'node:timers/promises';
import {
  AF_UNIX,
  EAGAIN,
  EINTR,
  type Libc,
  MSG_CMSG_CLOEXEC,
  MSG_DONTWAIT,
  MSG_NOSIGNAL,
  SCM_RIGHTS,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_STREAM,
  SOL_SOCKET,
  SystemError,
} from '../threads/libc.ts';

/** The kernel's SCM_MAX_FD. */
export const MAX_DESCRIPTORS = 253;
/** Less than the system puts into one packet of a Unix socket, so that the descriptors arrive with the text. */
const MAX_TEXT_BYTES = 16_384;

const CONTROL_HEAD_BYTES = 16; // struct cmsghdr
const DESCRIPTOR_BYTES = 4;
const CONTROL_BYTES = CONTROL_HEAD_BYTES + Math.ceil(MAX_DESCRIPTORS / 2) * 2 * DESCRIPTOR_BYTES;
// struct msghdr, in words of 64 bits
const PIECES_AT = 2;
const PIECES = 3;
const CONTROL_AT = 4;
const CONTROL_OCTETS = 5;
const HEADER_WORDS = 7;
const PIECE_WORDS = 2; // struct iovec
const TEXT_AT = 8 * (HEADER_WORDS + PIECE_WORDS);
const CONTROL_FROM = TEXT_AT + MAX_TEXT_BYTES;

/** Makes a struct msghdr with space for a text and descriptors. */
function createMessage(libc: Libc): { bytes: Uint8Array; words: BigInt64Array; control: Int32Array } {
  const bytes = new Uint8Array(CONTROL_FROM + CONTROL_BYTES);
  const words = new BigInt64Array(bytes.buffer, 0, HEADER_WORDS + PIECE_WORDS);
  const control = new Int32Array(bytes.buffer, CONTROL_FROM);
  const address = libc.addressOf(bytes);
  words[PIECES_AT] = address + BigInt(8 * HEADER_WORDS);
  words[PIECES] = 1n;
  words[CONTROL_AT] = address + BigInt(CONTROL_FROM);
  words[CONTROL_OCTETS] = BigInt(CONTROL_BYTES);
  words[HEADER_WORDS] = address + BigInt(TEXT_AT);
  words[HEADER_WORDS + 1] = BigInt(MAX_TEXT_BYTES);
  return { bytes, words, control };
}

/** Sends `text` (without a line break) and at most MAX_DESCRIPTORS descriptors. The receiver gets copies of them. */
export function sendDescriptors(
  libc: Libc,
  socket: number,
  text: string,
  descriptors: readonly number[],
): void {
  const { bytes, words, control } = createMessage(libc);
  const line = Buffer.from(`${text}\n`);
  if (line.length > MAX_TEXT_BYTES || descriptors.length > MAX_DESCRIPTORS) {
    throw new Error(`cannot pass ${descriptors.length} sockets in one message`);
  }
  bytes.set(line, TEXT_AT);
  words[HEADER_WORDS + 1] = BigInt(line.length);
  const controlBytes = CONTROL_HEAD_BYTES + DESCRIPTOR_BYTES * descriptors.length;
  control.set([controlBytes, 0, SOL_SOCKET, SCM_RIGHTS, ...descriptors]);
  words[CONTROL_OCTETS] = BigInt(descriptors.length === 0 ? 0 : controlBytes);
  const sent = Number(libc.sendmsg(socket, libc.addressOf(bytes), MSG_NOSIGNAL));
  if (sent < 0) throw new SystemError('sendmsg', libc.errno());
  if (sent < line.length) throw new Error('the message was sent only in part');
}

const POLL_MS = 2;

/**
 * Waits for a message of `sendDescriptors`. The sender must wait for a reply before it sends the next one. Returns
 * undefined at the end of the stream.
 */
export async function receiveDescriptors(
  libc: Libc,
  socket: number,
): Promise<{ text: string; descriptors: number[] } | undefined> {
  const { bytes, words, control } = createMessage(libc);
  const address = libc.addressOf(bytes);
  for (;;) {
    const received = Number(libc.recvmsg(socket, address, MSG_CMSG_CLOEXEC | MSG_DONTWAIT));
    if (received === 0) return undefined;
    if (received > 0) return readMessage(bytes.subarray(TEXT_AT, TEXT_AT + received), words, control);
    const errno = libc.errno();
    if (errno !== EAGAIN && errno !== EINTR) throw new SystemError('recvmsg', errno);
    await pause(POLL_MS);
  }
}

function readMessage(line: Uint8Array, words: BigInt64Array, control: Int32Array) {
  const text = Buffer.from(line).toString();
  if (text.indexOf('\n') !== text.length - 1) throw new Error('the other process sent an incomplete line');
  const hasControl = Number(words[CONTROL_OCTETS]) > CONTROL_HEAD_BYTES;
  const count = hasControl ? ((control[0] as number) - CONTROL_HEAD_BYTES) / DESCRIPTOR_BYTES : 0;
  return { text: text.slice(0, -1), descriptors: [...control.subarray(4, 4 + count)] };
}

/** Connects to a Unix socket, and returns the descriptor. A path that begins with a zero byte is abstract (unix(7)). */
export function connectUnix(libc: Libc, path: string, kind: 'stream' | 'datagrams' = 'stream'): number {
  const socket = libc.socket(AF_UNIX, (kind === 'stream' ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
  if (socket < 0) throw new SystemError('socket', libc.errno());
  const end = path.startsWith('\0') ? [] : [0];
  const address = Uint8Array.of(AF_UNIX, 0, ...Buffer.from(path), ...end); // struct sockaddr_un
  if (libc.connect(socket, address, address.length) < 0) {
    const errno = libc.errno();
    libc.close(socket);
    throw new SystemError('connect', errno, path);
  }
  return socket;
}
