// Writes the answers of the transfer thread besides its records: header, question and OPT record.

import { EDNS_OPTION, PADDING_BLOCK_OCTETS } from '../../dns/message/edns.ts';
import { HEADER_OCTETS } from '../../dns/message/header.ts';
import { FLAG, type Message } from '../../dns/message/message.ts';
import { ednsOption, optRecord, questionEnd, type ReplyFields, replyTo } from '../../dns/message/reply.ts';
import type { EncodedTransfer } from './encoding/transfer-writer.ts';

/** A message without its TSIG record. `decoded` is undefined if it is malformed. */
export interface Request {
  readonly octets: Uint8Array;
  readonly decoded: Message | undefined;
}

/** Returns an answer without records. It echoes the question if that is readable. */
export function writeReply({ octets, decoded }: Request, fields: ReplyFields): Uint8Array {
  return replyTo(octets, decoded?.edns, fields);
}

const OPTION_HEAD_OCTETS = 4;

export interface TransferReply {
  /** Value of EXPIRE, which is sent if the client requests it (RFC 7314 §3). */
  readonly expireSeconds: number | undefined;
  /** True if messages are padded if the request is (RFC 7830 §4): they are sent over TLS. */
  readonly pads: boolean;
  /** Length of the TSIG record that follows each message. */
  readonly signatureOctets: number;
}

/**
 * Returns message `index` of a transfer as the answer to this request. The first one has the question. All have an OPT
 * record if the request has one (RFC 9103 §6.3.4).
 */
export function writeTransferMessage(
  { octets, decoded }: Request,
  { messages }: EncodedTransfer,
  index: number,
  { expireSeconds, pads, signatureOctets }: TransferReply,
): Uint8Array {
  const message = messages[index] as Uint8Array;
  const isFirst = index === 0;
  const wants = (option: number) => decoded?.edns?.options.some(({ code }) => code === option) === true;
  const sendsExpire = isFirst && expireSeconds !== undefined && wants(EDNS_OPTION.EXPIRE);
  const options = sendsExpire ? [expireOption(expireSeconds)] : [];
  let opt = optRecord(decoded?.edns, 0, options);
  if (pads && wants(EDNS_OPTION.PADDING)) {
    const least = message.length + opt.length + OPTION_HEAD_OCTETS + signatureOctets;
    const padded = Math.ceil(least / PADDING_BLOCK_OCTETS) * PADDING_BLOCK_OCTETS;
    const padding = ednsOption(EDNS_OPTION.PADDING, new Uint8Array(padded - least));
    opt = optRecord(decoded?.edns, 0, [...options, padding]);
  }
  const reply = Buffer.allocUnsafe(message.length + opt.length);
  reply.set(message);
  reply.set(opt, message.length);
  reply[0] = octets[0] as number;
  reply[1] = octets[1] as number;
  reply[2] = (reply[2] as number) | ((octets[2] as number) & (FLAG.RD >> 8));
  reply.writeUInt16BE(opt.length > 0 ? 1 : 0, 10);
  if (isFirst) reply.set(octets.subarray(HEADER_OCTETS, questionEnd(octets)), HEADER_OCTETS);
  return reply;
}

function expireOption(seconds: number): Uint8Array {
  const value = Buffer.alloc(4);
  value.writeUInt32BE(seconds);
  return ednsOption(EDNS_OPTION.EXPIRE, value);
}
