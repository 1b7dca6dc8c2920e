// TSIG of the messages to the transfer thread (RFC 8945 §5): verifies them, and signs the answers.

import { HEADER_OCTETS } from '../../dns/message/header.ts';
import {
  readTsig,
  signErrorAnswer,
  TSIG_ERROR,
  type TsigKey,
  type TsigRecord,
  tsigErrorName,
  tsigOctets,
  verifyRequest,
  withoutTsig,
} from '../../dns/message/tsig.ts';
import { TsigStreamSigner } from '../../dns/message/tsig-stream.ts';
import type { Name } from '../../dns/name.ts';
import { isValidAt, type ServedKey } from './transfer-config.ts';

/** Signs the answer to one request, message by message. */
export interface AnswerSigner {
  readonly keyId: number;
  readonly keyName: Name;
  /** MAC of the request. */
  readonly requestMac: Uint8Array;
  /** Octets of each TSIG record. */
  readonly octets: number;
  sign(message: Uint8Array): Uint8Array;
}

type VerifiedMessage =
  /** `octets` is the message without its TSIG record. */
  | { readonly kind: 'accepted'; readonly octets: Uint8Array; readonly signer: AnswerSigner | undefined }
  /** FORMERR without TSIG. */
  | { readonly kind: 'malformed' }
  /** This node cannot open the key. */
  | { readonly kind: 'unreadable'; readonly octets: Uint8Array }
  /** NOTAUTH (RFC 8945 §5.2), with the TSIG record that `finish` appends. */
  | {
      readonly kind: 'refused';
      readonly octets: Uint8Array;
      readonly keyName: Name;
      readonly error: string;
      finish(reply: Uint8Array): Uint8Array;
    };

/** Verifies a message. `keysFor` returns the keys that may have signed it; all of them have the name in the record. */
export function verifyMessage(
  message: Uint8Array,
  keysFor: (tsig: TsigRecord) => readonly ServedKey[],
  clockMs: () => number,
): VerifiedMessage {
  const found = readTsig(message);
  if (found.kind === 'malformed') return found;
  if (found.kind === 'none') return { kind: 'accepted', octets: message, signer: undefined };
  const { tsig } = found;
  const octets = withoutTsig(message, tsig);
  const nowMs = clockMs();
  const nowSeconds = Math.floor(nowMs / 1000);
  const candidates = keysFor(tsig).filter((key) => isValidAt(key, nowMs));
  let error: number = TSIG_ERROR.BADKEY;
  let used: TsigKey | undefined;
  for (const candidate of candidates) {
    if (candidate.key === undefined) continue;
    const verified = verifyRequest(message, tsig, candidate.key, nowSeconds);
    if (verified.kind === 'ok')
      return { kind: 'accepted', octets, signer: signerOf(candidate.id, candidate.key, tsig, clockMs) };
    if (verified.error === TSIG_ERROR.BADKEY) continue;
    error = verified.error;
    used = candidate.key;
    if (error !== TSIG_ERROR.BADSIG) break;
  }
  if (used === undefined && candidates.some(({ key }) => key === undefined))
    return { kind: 'unreadable', octets };
  const key = used;
  return {
    kind: 'refused',
    octets,
    keyName: tsig.keyName,
    error: tsigErrorName(error),
    finish: (reply) => signErrorAnswer(reply, tsig, key, error, nowSeconds),
  };
}

function signerOf(keyId: number, key: TsigKey, tsig: TsigRecord, clockMs: () => number): AnswerSigner {
  const stream = new TsigStreamSigner(key, tsig.mac);
  return {
    keyId,
    keyName: key.name,
    requestMac: tsig.mac,
    octets: tsigOctets(key),
    sign: (message) => stream.sign(message, Math.floor(clockMs() / 1000)),
  };
}

/** True if the octets can be a query: a whole header without QR. */
export function isRequest(octets: Uint8Array): boolean {
  return octets.length >= HEADER_OCTETS && ((octets[2] as number) & 0x80) === 0;
}
