// Packets that the transfer thread answers: passed to the main thread with what the answer needs to be sent later from
// the same socket and address.

import { type Libc, MSG_DONTWAIT, MSG_NOSIGNAL } from '../threads/libc.ts';

export interface SlowPacket {
  readonly octets: Uint8Array;
  readonly descriptor: number;
  /** The client: struct sockaddr_in or sockaddr_in6. */
  readonly name: Uint8Array;
  /** The control message that sets the source address of the answer. Empty if the socket has only one address. */
  readonly control: Uint8Array;
}

const SOCKADDR_IN_BYTES = 16;

/** Returns the client's address, 4 or 16 octets. */
export function addressOf({ name }: SlowPacket): Uint8Array {
  return new Uint8Array(name.length === SOCKADDR_IN_BYTES ? name.subarray(4, 8) : name.subarray(8, 24));
}

// struct msghdr and struct iovec, in words of 64 bits.
const NAME_AT = 0;
const NAME_BYTES = 1;
const PIECES_AT = 2;
const PIECES = 3;
const CONTROL_AT = 4;
const CONTROL_BYTES = 5;
const PIECE_AT = 7;
const PIECE_BYTES = 8;
const NAME_FROM = 72;
const CONTROL_FROM = 104;
const ANSWER_FROM = 168;

/** Returns false if the system does not take the answer now. */
export function sendAnswer(libc: Libc, packet: SlowPacket, answer: Uint8Array): boolean {
  const { descriptor, name, control } = packet;
  const bytes = new Uint8Array(ANSWER_FROM + answer.length);
  bytes.set(name, NAME_FROM);
  bytes.set(control, CONTROL_FROM);
  bytes.set(answer, ANSWER_FROM);
  const address = libc.addressOf(bytes);
  const words = new BigInt64Array(bytes.buffer, 0, NAME_FROM / 8);
  words[NAME_AT] = address + BigInt(NAME_FROM);
  words[NAME_BYTES] = BigInt(name.length);
  words[PIECES_AT] = address + BigInt(8 * PIECE_AT);
  words[PIECES] = 1n;
  words[CONTROL_AT] = control.length === 0 ? 0n : address + BigInt(CONTROL_FROM);
  words[CONTROL_BYTES] = BigInt(control.length);
  words[PIECE_AT] = address + BigInt(ANSWER_FROM);
  words[PIECE_BYTES] = BigInt(answer.length);
  return Number(libc.sendmsg(descriptor, address, MSG_DONTWAIT | MSG_NOSIGNAL)) === answer.length;
}
