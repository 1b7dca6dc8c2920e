// Identifies payment gateways by their signature over name, time and body. The headers are checked before the body is
// received, the signature before the body is parsed. The response is the same for every error.

import { type Gateways, isNoticeOf, readNoticeProof } from '../../billing/gateway.ts';
import { Problem } from '../answers/problem.ts';
import { MemoryWindows } from './rate-limits.ts';

/** A gateway sends one notice per payment, and repeats a few. */
const PER_MINUTE = 600;

export interface PresentedNotice {
  readonly gateway: string;
  /** Returns a problem if the body is not a notice of this gateway. */
  judgeBody(body: Uint8Array): Problem | undefined;
}

export class GatewayCallers {
  readonly #gateways: Gateways;
  readonly #nowMs: () => number;
  readonly #calls: MemoryWindows;

  constructor(gateways: Gateways, nowMs: () => number = Date.now) {
    this.#gateways = gateways;
    this.#nowMs = nowMs;
    this.#calls = new MemoryWindows(PER_MINUTE, nowMs);
  }

  present(
    gateway: string,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): PresentedNotice | Problem {
    const proof = readNoticeProof(headers['zonefleet-signature'], this.#nowMs());
    if (proof === undefined) return unsigned();
    const judgeBody = (body: Uint8Array) =>
      isNoticeOf(gateway, this.#gateways, proof, body) ? this.#count(gateway) : unsigned();
    return { gateway, judgeBody };
  }

  /** Counts only signed notices, so that others cannot use up the limit of a gateway. */
  #count(gateway: string): Problem | undefined {
    const { admitted, waitMs } = this.#calls.take(gateway);
    if (admitted) return undefined;
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    return new Problem(429, 'rate limit exceeded', { headers: { 'Retry-After': String(seconds) } });
  }
}

function unsigned(): Problem {
  return new Problem(401, 'the notice is not signed by a known gateway', {
    headers: { 'WWW-Authenticate': 'Zonefleet-Signature' },
  });
}
