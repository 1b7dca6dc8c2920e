// Writes the answers of the transfer thread besides its records: header, question and OPT record.

import { EDNS_OPTION, OPT_OCTETS, optTtl } from '../../dns/message/edns.ts';
import { HEADER_OCTETS } from '../../dns/message/header.ts';
import { FLAG, type Message } from '../../dns/message/message.ts';
import { decodeName } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { MAX_UDP_OCTETS } from '../answer/opt-writer.ts';
import type { EncodedTransfer } from './encoding/transfer-writer.ts';

const OPCODE_AND_RD = 0x7900;
const OPTION_HEAD_OCTETS = 4;

/** A message without its TSIG record. `decoded` is undefined if it is malformed. */
export interface Request {
  readonly octets: Uint8Array;
  readonly decoded: Message | undefined;
}

export interface ReplyFields {
  readonly rcode: number;
  readonly isAuthoritative?: boolean;
  readonly isTruncated?: boolean;
  /** EDE code (RFC 8914), for clients that use EDNS. */
  readonly extendedError?: number | undefined;
}

/** Returns an answer without records. It echoes the question if that is readable. */
export function writeReply(request: Request, fields: ReplyFields): Uint8Array {
  const { octets } = request;
  const { rcode, isAuthoritative = false, isTruncated = false, extendedError } = fields;
  const end = questionEnd(octets);
  const opt = optRecord(
    request.decoded,
    rcode,
    extendedError === undefined ? [] : [option(EDNS_OPTION.EXTENDED_ERROR, 2, extendedError)],
  );
  const reply = Buffer.alloc(end + opt.length);
  reply.set(octets.subarray(0, end));
  reply.set(opt, end);
  reply.writeUInt16BE(
    FLAG.QR |
      (isAuthoritative ? FLAG.AA : 0) |
      (isTruncated ? FLAG.TC : 0) |
      (reply.readUInt16BE(2) & OPCODE_AND_RD) |
      (rcode & 15),
    2,
  );
  reply.writeUInt16BE(end > HEADER_OCTETS ? 1 : 0, 4);
  reply.writeUInt32BE(0, 6);
  reply.writeUInt16BE(opt.length > 0 ? 1 : 0, 10);
  return reply;
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
  const options =
    wantsExpire && expireSeconds !== undefined ? [option(EDNS_OPTION.EXPIRE, 4, expireSeconds)] : [];
  const opt = isFirst ? optRecord(decoded, 0, options) : NO_OCTETS;
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

const NO_OCTETS = new Uint8Array(0);

/** Returns the offset after the question, or HEADER_OCTETS unless there is exactly one, with an uncompressed name. */
function questionEnd(octets: Uint8Array): number {
  if ((((octets[4] as number) << 8) | (octets[5] as number)) !== 1) return HEADER_OCTETS;
  try {
    const { name, end } = decodeName(octets, HEADER_OCTETS);
    const isWhole = end - HEADER_OCTETS === name.length && end + 4 <= octets.length;
    return isWhole ? end + 4 : HEADER_OCTETS;
  } catch {
    return HEADER_OCTETS;
  }
}

/** Returns the OPT record of the answer: empty if the request has none (RFC 6891 §7). */
function optRecord(decoded: Message | undefined, rcode: number, options: readonly Uint8Array[]): Uint8Array {
  if (decoded?.edns === undefined) return NO_OCTETS;
  const rdata = Buffer.concat(options);
  const head = Buffer.alloc(OPT_OCTETS);
  head.writeUInt16BE(TYPE.OPT, 1);
  head.writeUInt16BE(MAX_UDP_OCTETS, 3);
  head.writeUInt32BE(optTtl(rcode, 0, decoded.edns.dnssecOk), 5);
  head.writeUInt16BE(rdata.length, 9);
  return Buffer.concat([head, rdata]);
}

function option(code: number, octets: 2 | 4, value: number): Uint8Array {
  const bytes = Buffer.alloc(OPTION_HEAD_OCTETS + octets);
  bytes.writeUInt16BE(code, 0);
  bytes.writeUInt16BE(octets, 2);
  bytes.writeUIntBE(value, OPTION_HEAD_OCTETS, octets);
  return bytes;
}
