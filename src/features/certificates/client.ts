// Account at a certificate authority, and its orders (ACME, RFC 8555).

import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { Agent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { rootCertificates } from 'node:tls';
import type { Authorization, Order } from 'acme-client';
import acme from 'acme-client';
import {
  askWithin,
  CaFault,
  isDirectory,
  isHere,
  judgeAuthorization,
  judgeAuthorizations,
  judgeOrder,
  judgeUrl,
  readRetryAfter,
  wordsOf,
} from './client-answers.ts';

interface AuthorityOptions {
  readonly directory: string;
  readonly binding?: { readonly kid: string; readonly hmacKey: string } | undefined;
  readonly contact?: string | undefined;
  /** CA certificates (PEM) trusted for the directory, in addition to those of Node. */
  readonly roots?: string | undefined;
  /** Time limit of one request. */
  readonly requestMs?: number;
}

interface CaChallenge {
  readonly url: string;
  readonly type: 'dns-01' | 'http-01';
  readonly host: string;
  readonly token: string;
  /** Text of the TXT record, or of the edge's response. */
  readonly value: string;
}

interface CaOrder {
  readonly url: string;
  readonly status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  readonly names: readonly string[];
  readonly error: string | undefined;
}

interface Renewal {
  readonly window: { readonly start: Date; readonly end: Date } | undefined;
  readonly retryAfterMs: number | undefined;
}

const REQUEST_MS = 20_000;
const NONCE_TRIES = 30;
/** Number of attempts, for errors that may pass quickly. */
const TRIES = 4;
const RETRY_MS = 100;
/** Number of authorizations of an order that are requested concurrently. */
const AT_ONCE = 4;

export function makePrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** All methods throw CaFault, and the signal's reason when the signal aborts. */
export class Authority {
  readonly #options: AuthorityOptions;
  readonly #agent: Agent;
  #client: acme.Client | undefined;
  #account: { readonly key: string; url: string | undefined } | undefined;

  constructor(options: AuthorityOptions) {
    this.#options = options;
    const { roots } = options;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 16,
      ...(roots !== undefined && { ca: [...rootCertificates, roots] }),
    });
  }

  get directory(): string {
    return this.#options.directory;
  }

  /** Selects the account, and creates it if it has no URL. Returns its URL. */
  async use(
    account: { readonly key: string; readonly url: string | undefined },
    signal: AbortSignal,
  ): Promise<string> {
    if (this.#client === undefined || this.#account?.key !== account.key) {
      const { directory, binding } = this.#options;
      this.#client = new acme.Client({
        directoryUrl: directory,
        accountKey: account.key,
        ...(account.url !== undefined && { accountUrl: account.url }),
        ...(binding !== undefined && { externalAccountBinding: binding }),
      });
      (this.#client as unknown as Inside).http.maxBadNonceRetries = NONCE_TRIES;
      this.#account = { ...account };
    }
    const known = this.#account as { key: string; url: string | undefined };
    if (known.url !== undefined) return known.url;
    const { contact } = this.#options;
    // not by the package's own method: it updates an account that already exists, which an authority may refuse
    const response = await this.#ask(signal, (client) =>
      (client as unknown as Inside).api.createAccount({
        termsOfServiceAgreed: true,
        ...(contact !== undefined && { contact: [`mailto:${contact}`] }),
      }),
    );
    const url = response.headers.location;
    const problem = judgeUrl(url, isHere(this.#options.directory));
    if (problem !== undefined) throw new CaFault('busy', `the authority created no account: ${problem}`);
    known.url = url as string;
    return known.url;
  }

  /** Returns the names that identify the authority in CAA records. */
  async caaIdentities(signal: AbortSignal): Promise<readonly string[]> {
    const meta = (await this.#directory(signal)).meta?.caaIdentities;
    return Array.isArray(meta) ? meta.filter((one): one is string => typeof one === 'string') : [];
  }

  /** `replaces` is the certificate that the order renews (RFC 9773 §5). */
  async order(names: readonly string[], replaces: string | undefined, signal: AbortSignal): Promise<CaOrder> {
    const identifiers = names.map((value) => ({ type: 'dns', value }));
    const hasWindows = (await this.#directory(signal)).renewalInfo !== undefined;
    const more = replaces !== undefined && hasWindows ? { replaces: certificateId(replaces) } : {};
    return orderOf(
      await this.#askOrder(signal, (client) => client.createOrder({ identifiers, ...more } as never)),
    );
  }

  /** Returns the challenges of the authorizations that are not valid yet. */
  async challenges(
    url: string,
    type: CaChallenge['type'],
    signal: AbortSignal,
  ): Promise<readonly CaChallenge[]> {
    const order = await this.#askOrder(signal, (client) => client.getOrder({ url } as Order));
    const found: CaChallenge[] = [];
    for (const authorization of await this.#authorizations(order, signal)) {
      if (authorization.status === 'valid') continue;
      const challenge = authorization.challenges.find((one) => one.type === type);
      if (challenge === undefined)
        throw new CaFault(
          'refused',
          `the authority offers no ${type} challenge for ${authorization.identifier.value}`,
        );
      const value = await this.#ask(signal, (client) => client.getChallengeKeyAuthorization(challenge));
      const host = authorization.identifier.value.toLowerCase();
      found.push({ url: challenge.url, type, host, token: challenge.token, value });
    }
    return found;
  }

  /** Tells the authority that the challenge responses are in place (RFC 8555 §7.5.1). */
  async answer(challenges: readonly CaChallenge[], signal: AbortSignal): Promise<void> {
    for (const { url } of challenges) {
      try {
        await this.#ask(signal, (client) => client.completeChallenge({ url } as never));
      } catch (error) {
        // a worker that was killed may have done this before; the order shows the result
        const isSaid = error instanceof CaFault && error.kind === 'refused' && error.type === 'malformed';
        if (!isSaid) throw error;
      }
    }
  }

  async look(url: string, signal: AbortSignal): Promise<CaOrder> {
    const order = await this.#askOrder(signal, (client) => client.getOrder({ url } as Order));
    if (order.status !== 'invalid') return orderOf(order);
    const problems = (await this.#authorizations(order, signal)).flatMap(({ identifier, challenges }) =>
      challenges.flatMap(({ error }) => {
        const words = wordsOf((error as { detail?: unknown } | undefined)?.detail);
        return words === undefined ? [] : [`${identifier.value}: ${words}`];
      }),
    );
    const { error } = orderOf(order);
    return { ...orderOf(order), error: problems[0] ?? error ?? 'the order became invalid' };
  }

  async finalize(
    url: string,
    { names, privateKey }: { readonly names: readonly string[]; readonly privateKey: string },
    signal: AbortSignal,
  ): Promise<CaOrder> {
    const order = await this.#askOrder(signal, (client) => client.getOrder({ url } as Order));
    if (order.status !== 'ready') return orderOf(order);
    const [, csr] = await acme.crypto.createCsr({ altNames: [...names] }, privateKey);
    return orderOf(await this.#askOrder(signal, (client) => client.finalizeOrder(order, csr)));
  }

  /** Returns PEM, the leaf first. */
  async certificate(url: string, signal: AbortSignal): Promise<string> {
    const order = await this.#askOrder(signal, (client) => client.getOrder({ url } as Order));
    if (order.status !== 'valid') throw new CaFault('busy', 'the certificate is not available yet');
    const chain: unknown = await this.#ask(signal, (client) => client.getCertificate(order));
    if (typeof chain !== 'string') throw new CaFault('busy', 'the authority did not return a certificate');
    return chain;
  }

  /** Returns when the authority suggests renewal, or undefined if it makes no suggestions (RFC 9773). */
  async renewal(chain: string, signal: AbortSignal): Promise<Renewal | undefined> {
    const { renewalInfo } = await this.#directory(signal);
    if (typeof renewalInfo !== 'string') return undefined;
    const { data, headers } = await this.#within(signal, () =>
      acme.axios.get(`${renewalInfo.replace(/\/$/, '')}/${certificateId(chain)}`, {
        validateStatus: () => true, // the interceptor throws CaFault for errors
      }),
    );
    const start = new Date(data?.suggestedWindow?.start);
    const end = new Date(data?.suggestedWindow?.end);
    const isWindow = !Number.isNaN(start.getTime()) && end > start;
    return {
      window: isWindow ? { start, end } : undefined,
      retryAfterMs: readRetryAfter(headers['retry-after'], new Date()),
    };
  }

  /** Forgets the account, so that it is created again. */
  forget(): void {
    this.#client = undefined;
    this.#account = undefined;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #directory(
    signal: AbortSignal,
  ): Promise<Record<string, unknown> & { meta?: Record<string, unknown> }> {
    return await this.#ask(signal, (client) => (client as unknown as Inside).http.getDirectory() as never);
  }

  async #authorizations(order: Order, signal: AbortSignal): Promise<Authorization[]> {
    const found: Authorization[] = [];
    const urls = judgeAuthorizations(order);
    for (let at = 0; at < urls.length; at += AT_ONCE) {
      const some = { ...order, authorizations: urls.slice(at, at + AT_ONCE) };
      const answers = await this.#ask(signal, (client) => client.getAuthorizations(some));
      found.push(...answers.map(judgeAuthorization));
    }
    return found;
  }

  async #ask<T>(signal: AbortSignal, ask: (client: acme.Client) => Promise<T>): Promise<T> {
    const client = this.#client;
    if (client === undefined) throw new Error('no account is used yet');
    return await this.#within(signal, async () => {
      await readDirectory(client);
      return await ask(client);
    });
  }

  async #askOrder(signal: AbortSignal, ask: (client: acme.Client) => Promise<Order>): Promise<Order> {
    return judgeOrder(await this.#ask(signal, ask));
  }

  async #within<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { requestMs = REQUEST_MS, directory } = this.#options;
    const here = { agent: this.#agent, signal, requestMs, isHere: isHere(directory) };
    for (let tries = 1; ; tries++) {
      try {
        return await askWithin(here, work);
      } catch (error) {
        signal.throwIfAborted();
        const fault = error instanceof CaFault ? error : unreachable(error);
        const isPassing = fault.kind === 'busy' && fault.status !== 429 && fault.retryAfterMs === undefined;
        if (!isPassing || tries === TRIES) throw fault;
        await pause(tries * RETRY_MS, undefined, { signal });
      }
    }
  }
}

/** Members of the package that it does not declare. */
interface Inside {
  readonly http: {
    maxBadNonceRetries: number;
    directoryCache: unknown;
    getDirectory(): Promise<unknown>;
  };
  readonly api: {
    createAccount(data: object): Promise<{ readonly headers: Readonly<Record<string, unknown>> }>;
  };
}

/** The package caches a directory for a day, even if it is invalid. */
async function readDirectory(client: acme.Client): Promise<void> {
  const { http } = client as unknown as Inside;
  if (isDirectory(await http.getDirectory())) return;
  http.directoryCache = null;
  throw new CaFault('busy', 'the authority did not return a directory');
}

function unreachable(error: unknown): CaFault {
  // the package throws a TypeError if there is no response
  const { code, message } = error as { code?: string; message: string };
  const words = error instanceof TypeError ? 'the authority cannot be reached' : (code ?? message);
  return new CaFault('busy', wordsOf(words) ?? 'the authority cannot be reached', { cause: error });
}

function orderOf(order: Order & { readonly url?: string; readonly error?: unknown }): CaOrder {
  return {
    url: order.url as string,
    status: order.status,
    names: order.identifiers.map(({ value }) => value),
    error: wordsOf((order.error as { detail?: unknown } | undefined)?.detail),
  };
}

/** Joins the key identifier of the issuer and the serial number, in base64url (RFC 9773 §4.1). */
function certificateId(chain: string): string {
  const leaf = new X509Certificate(chain);
  const identifier = authorityKeyIdentifier(leaf.raw) ?? createHash('sha1').update(leaf.issuer).digest();
  const hex = leaf.serialNumber.length % 2 === 0 ? leaf.serialNumber : `0${leaf.serialNumber}`;
  const serial = Buffer.from(/^[89a-f]/i.test(hex) ? `00${hex}` : hex, 'hex');
  return `${identifier.toString('base64url')}.${serial.toString('base64url')}`;
}

/** Returns the key identifier of the extension 2.5.29.35: the first member of its sequence, tagged 0. */
function authorityKeyIdentifier(der: Buffer): Buffer | undefined {
  const at = der.indexOf(Buffer.from('0603551d23', 'hex'));
  const inner = at < 0 ? -1 : der.indexOf(0x80, at + 5 + 4);
  const length = inner < 0 ? 0 : (der[inner + 1] ?? 0);
  return inner < 0 || inner - at > 13 ? undefined : der.subarray(inner + 2, inner + 2 + length);
}
