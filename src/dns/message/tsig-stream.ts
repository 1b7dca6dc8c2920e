// TSIG of a response of several messages, such as a zone transfer (RFC 8945 §5.3.1).

import type { Hmac } from 'node:crypto';
import {
  checkMac,
  digestMessage,
  digestTimers,
  digestVariables,
  isMadeWith,
  readTsig,
  signMessage,
  startDigest,
  type TsigKey,
  tsigErrorName,
  withoutTsig,
} from './tsig.ts';

/** Most unsigned messages between two signed ones. */
const MAX_UNSIGNED = 99;

/** Signs every message of a response: the first with the MAC of the request, each later one with the previous MAC. */
export class TsigStreamSigner {
  readonly #key: TsigKey;
  #priorMac: Uint8Array;
  #isTimersOnly = false;

  constructor(key: TsigKey, requestMac: Uint8Array) {
    this.#key = key;
    this.#priorMac = requestMac;
  }

  sign(message: Uint8Array, nowSeconds: number): Uint8Array {
    const signed = signMessage(message, this.#key, {
      nowSeconds,
      requestMac: this.#priorMac,
      isTimersOnly: this.#isTimersOnly,
    });
    this.#priorMac = signed.mac;
    this.#isTimersOnly = true;
    return signed.message;
  }
}

/**
 * Verifies the messages of a response. An unsigned message is authentic only if a later signed one is accepted. After
 * one bad message, all are bad.
 */
export class TsigStreamVerifier {
  readonly #key: TsigKey;
  #digest: Hmac;
  #unsigned = 0;
  #isFirst = true;
  #isSigned = false;
  #failure: string | undefined;

  constructor(key: TsigKey, requestMac: Uint8Array) {
    this.#key = key;
    this.#digest = startDigest(key, requestMac);
  }

  /** True if the last message was signed and all were accepted. */
  get isComplete(): boolean {
    return this.#isSigned && this.#failure === undefined;
  }

  /** `message` in the result is without the TSIG record. */
  accept(
    message: Uint8Array,
    nowSeconds: number,
  ): { kind: 'ok'; message: Uint8Array } | { kind: 'bad'; error: string } {
    if (this.#failure !== undefined) return { kind: 'bad', error: this.#failure };
    const found = readTsig(message);
    if (found.kind === 'malformed') return this.#fail('the message or its TSIG record is malformed');
    if (found.kind === 'none') {
      if (this.#isFirst) return this.#fail('the first message is not signed');
      if (++this.#unsigned > MAX_UNSIGNED) return this.#fail('100 consecutive messages are not signed');
      this.#digest.update(message);
      this.#isSigned = false;
      return { kind: 'ok', message };
    }
    const { tsig } = found;
    if (tsig.mac.length === 0 && tsig.error !== 0)
      return this.#fail(`the server reports ${tsigErrorName(tsig.error)}`);
    if (!isMadeWith(tsig, this.#key)) return this.#fail('the message is signed with another key');
    digestMessage(this.#digest, message, tsig);
    if (this.#isFirst) digestVariables(this.#digest, this.#key, tsig);
    else digestTimers(this.#digest, tsig);
    const error = checkMac(this.#digest, tsig, this.#key, nowSeconds);
    if (error !== 0) return this.#fail(tsigErrorName(error));
    if (tsig.error !== 0) return this.#fail(`the server reports ${tsigErrorName(tsig.error)}`);
    this.#digest = startDigest(this.#key, tsig.mac);
    this.#unsigned = 0;
    this.#isFirst = false;
    this.#isSigned = true;
    return { kind: 'ok', message: withoutTsig(message, tsig) };
  }

  #fail(error: string): { kind: 'bad'; error: string } {
    this.#failure = error;
    return { kind: 'bad', error };
  }
}
