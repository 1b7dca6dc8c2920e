// Writes the answers of the transfer thread besides its records: header, question and OPT record.

import { EDNS_OPTION } from '../../dns/message/edns.ts';
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

/**
 * Returns message `index` of a transfer as the answer to this request. The first one has the question, and an OPT record
 * if the request has one; `expireSeconds` is the value of EXPIRE, sent if the client requests it (RFC 7314 §3).
 */
export function writeTransferMessage(
  { octets, decoded }: Request,
  { messages }: EncodedTransfer,
  index: number,
  expireSeconds: number | undefined,
): Uint8Array {
  const message = messages[index] as Uint8Array;
  const isFirst = index === 0;
  const wantsExpire = decoded?.edns?.options.some(({ code }) => code === EDNS_OPTION.EXPIRE) === true;
  const options = wantsExpire && expireSeconds !== undefined ? [expireOption(expireSeconds)] : [];
  const opt = isFirst ? optRecord(decoded?.edns, 0, options) : new Uint8Array(0);
  const reply = Buffer.allocUnsafe(message.length + opt.length);
  reply.set(message);
  reply.set(opt, message.length);
  reply[0] = octets[0] as number;
  reply[1] = octets[1] as number;
  reply[2] = (reply[2] as number) | ((octets[2] as number) & (FLAG.RD >> 8));
  if (!isFirst) return reply;
  reply.set(octets.subarray(HEADER_OCTETS, questionEnd(octets)), HEADER_OCTETS);
  reply.writeUInt16BE(opt.length > 0 ? 1 : 0, 10);
  return reply;
}

function expireOption(seconds: number): Uint8Array {
  const value = Buffer.alloc(4);
  value.writeUInt32BE(seconds);
  return ednsOption(EDNS_OPTION.EXPIRE, value);
}
